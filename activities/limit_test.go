package activities_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"go.temporal.io/sdk/testsuite"

	"longhaul/activities"
)

// A lender counts the slots that are lent.
type lender struct{ lent atomic.Int32 }

func (l *lender) Lend() (retake func()) {
	l.lent.Add(1)
	return func() { l.lent.Add(-1) }
}

// An executor with a limit runs no more tasks at a time. Those that wait lend their
// slots; other executors do not wait.
func TestRun_limit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next, began, slots := make(chan struct{}), make(chan struct{}, 9), &lender{}
		wait := executor(func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
			began <- struct{}{}
			<-next
			return activities.Completed(), nil
		})
		acts := activities.New(activities.Config{
			Recorder: &recorder{}, Default: "few", Executors: map[string]activities.Executor{"few": wait, "many": wait},
			Limits: map[string]int{"few": 2}, Slots: slots,
		})
		ended := make(chan error, 9)
		run := func(ctx context.Context, kind string) {
			w := work
			w.Executor = kind
			_, err := acts.Run(ctx, activities.RunInput{Work: w})
			ended <- err
		}
		check := func(when string, running int, lent int32) {
			t.Helper()
			synctest.Wait()
			if got := len(began); got != running || slots.lent.Load() != lent {
				t.Errorf("%s: %d tasks have begun and %d slots are lent, want %d and %d", when, got, slots.lent.Load(), running, lent)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		for range 3 {
			go run(t.Context(), "few")
		}
		check("three of few", 2, 1)
		go run(ctx, "few")
		check("four of few", 2, 2)
		go run(t.Context(), "many")
		check("one of many", 3, 2)
		cancel()
		check("one of few is canceled", 3, 1)
		if err := <-ended; err == nil {
			t.Error("a canceled task that waited has no error")
		}
		close(next)
		check("the first have ended", 4, 0)
		for range 4 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

// When the worker stops, a task that waits because of a limit is handed back at once.
func TestRun_limitWorkerStops(t *testing.T) {
	stop, began := make(chan struct{}), make(chan struct{})
	acts := activities.New(activities.Config{
		Recorder: &recorder{}, Default: "test", Limits: map[string]int{"test": 1},
		Executors: map[string]activities.Executor{"test": executor(func(ctx context.Context, _ activities.Work, _ activities.Stream) (activities.Outcome, error) {
			close(began)
			<-ctx.Done()
			return activities.Completed(), nil
		})},
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = acts.Run(ctx, activities.RunInput{Work: work}) // it only uses the limit up
	}()
	<-began
	close(stop)
	env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
	env.SetWorkerStopChannel(stop)
	env.RegisterActivity(acts)
	_, err := env.ExecuteActivity(acts.Run, activities.RunInput{Work: work})
	if app := application(t, err); app.Type() != activities.WorkerStoppedError || app.NonRetryable() {
		t.Errorf("got type %q, non-retryable %t", app.Type(), app.NonRetryable())
	}
	cancel()
	<-ended
}
