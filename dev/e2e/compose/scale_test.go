package compose_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/dev/topology"
	"longhaul/internal/test"
)

const (
	slots = 5  // tasks that one worker runs at a time
	jobs  = 40 // tasks
)

// Four workers run four times as many tasks at a time as one.
func TestScale(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	tally, control := filepath.Join(t.TempDir(), "tally"), harness.NewControl(t)
	top := topology.Run(ctx, t, topology.Options{
		Env: map[string][]string{topology.Longhaul: {
			"LONGHAUL_FALLBACK=echo", fmt.Sprint("LONGHAUL_MAX_TASKS=", slots), "CRASHABLE_TALLY=" + tally, control.Env(),
		}},
		Packages: map[string]string{"longhaul": harness.Crashable},
	})
	c := harness.NewClient("http://" + top.Addr("proxy", 7420))
	before := 0
	for _, workers := range []int{1, 4} {
		test.OK(t, top.Scale(ctx, "worker", workers))
		run(ctx, t, c, control, workers)
		lines := harness.Tally(t, tally)
		if busy := harness.MostAtOnce(lines[before:]); busy > workers*slots {
			t.Errorf("%d workers ran %d tasks at a time, want at most %d", workers, busy, workers*slots)
		}
		before = len(lines)
	}
}

// run runs tasks, each in an objective of its own. They wait at a door until more than half of the slots of
// the workers have one: workers also ask for more work with slots.
func run(ctx context.Context, t *testing.T, c *harness.Client, control *harness.Control, workers int) {
	t.Helper()
	door := fmt.Sprint("workers-", workers)
	plan := harness.NewPlan("plan", "await "+door+"; work 300ms; say done")
	var all sync.WaitGroup
	for i := range jobs {
		all.Go(func() {
			task, err := c.SendUntil(ctx, harness.Message{ID: fmt.Sprint(door, "-", i), Text: "x", Plan: plan})
			if err == nil {
				_, err = c.Follow(ctx, task.ID, 0).UntilState(ctx, "COMPLETED")
			}
			if err != nil {
				t.Errorf("%s, task %d: %v", door, i, err)
			}
		})
	}
	harness.Eventually(t, limit/5, "more than half of the slots are in use", func() error {
		if n := len(control.Knocked(door)); n <= workers*slots/2 {
			return fmt.Errorf("%d tasks have begun", n)
		}
		return nil
	})
	control.Open(door, "")
	all.Wait()
}
