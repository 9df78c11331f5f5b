package compose_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/dev/topology"
	"longhaul/internal/test"
)

const (
	slots = 5    // tasks that one worker runs at a time
	jobs  = 40   // tasks
	job   = 2000 // milliseconds that a task waits
)

// Four workers run four times as many tasks at a time as one.
func TestScale(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	tally := filepath.Join(t.TempDir(), "tally")
	top := topology.Run(ctx, t, topology.Options{
		Env: map[string][]string{topology.Longhaul: {
			"LONGHAUL_FALLBACK=echo", fmt.Sprint("LONGHAUL_MAX_TASKS=", slots), "CRASHABLE_TALLY=" + tally,
		}},
		Packages: map[string]string{"longhaul": harness.Crashable},
	})
	url := "http://" + top.Addr("proxy", 7420)
	c := harness.NewClient(url)

	one := run(ctx, t, c, "one", jobs)
	if busy := harness.MostAtOnce(harness.Tally(t, tally)); busy > slots {
		t.Errorf("one worker ran %d tasks at a time, want at most %d", busy, slots)
	}
	test.OK(t, top.Scale(ctx, "worker", 4))
	before := len(harness.Tally(t, tally))
	four := run(ctx, t, c, "four", jobs)
	if busy := harness.MostAtOnce(harness.Tally(t, tally)[before:]); busy <= 2*slots || busy > 4*slots {
		t.Errorf("four workers ran %d tasks at a time, want more than %d and at most %d", busy, 2*slots, 4*slots)
	}
	t.Logf("%d tasks of %d ms: one worker %v, four workers %v: %.1f times as fast", jobs, job, one, four, one.Seconds()/four.Seconds())
}

// run runs tasks that wait, each in an objective of its own, and returns how long that
// took.
func run(ctx context.Context, t *testing.T, c *harness.Client, name string, n int) time.Duration {
	began := time.Now()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			task, err := c.SendUntil(ctx, harness.Message{ID: fmt.Sprint(name, i), Text: fmt.Sprintf("work %dms; say done", job)})
			if err == nil {
				_, err = c.Follow(ctx, task.ID, 0).UntilState(ctx, "COMPLETED")
			}
			if err != nil {
				t.Errorf("%s %d: %v", name, i, err)
			}
		})
	}
	all.Wait()
	return time.Since(began)
}
