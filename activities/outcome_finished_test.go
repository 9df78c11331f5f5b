package activities_test

import (
	"context"
	"testing"
	"testing/synctest"

	"go.temporal.io/sdk/testsuite"

	"longhaul/activities"
)

// Temporal has a task run again that still runs here: it has got no heartbeats for a while. The
// earlier run ends before the next one begins.
func TestRun_aloneInItsRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, runs int
		began := make(chan struct{})
		w := newWorker(config(&recorder{}, func(ctx context.Context, _ activities.Work, _ activities.Stream) (activities.Outcome, error) {
			runs++
			if running++; running > 1 {
				t.Errorf("%d runs at the same time", running)
			}
			defer func() { running-- }()
			if runs > 1 {
				return activities.Completed(), nil
			}
			close(began)
			select {
			case <-ctx.Done():
			case <-t.Context().Done():
			}
			return activities.Outcome{}, ctx.Err()
		}))
		ended := make(chan error)
		go func() {
			_, err := w.run(activities.RunInput{Work: work})
			ended <- err
		}()
		<-began
		if out, err := again(w).run(activities.RunInput{Work: work, Tries: 1}); err != nil || runs != 2 {
			t.Errorf("the second run: %+v, %v, after %d runs", out, err, runs)
		}
		if err := <-ended; err == nil {
			t.Error("the first run has an outcome")
		}
	})
}

// again returns a worker for another run of the same activities.
func again(w worker) worker {
	next := worker{(&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment(), w.acts}
	next.RegisterActivity(w.acts)
	return next
}
