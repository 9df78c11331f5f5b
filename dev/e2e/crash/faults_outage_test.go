package crash_test

import (
	"fmt"
	"testing"
	"time"

	"longhaul/dev/e2e/faulty"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// outage has writes of Temporal fail for longer than a worker may send no heartbeat, while tasks run,
// until Temporal has one of them run again, in the same worker. None runs twice at a time.
// TestRun_aloneInItsRound of package activities does the same in a moment, without Temporal.
func outage(t *testing.T) {
	const tasks, most = 60, 4
	f := &faulty.Fault{Store: faulty.Execution, Method: "UpdateWorkflowExecution", Kind: faulty.Down, Share: 1}
	w, server := newFaulty(t, f)
	w.site.Env = append(w.site.Env, "LONGHAUL_WORKER_TIMEOUT=10s")
	w.start(harness.API, "")
	w.start(harness.Worker, "")
	for n := range tasks {
		test.OK(t, test.Err(w.begin(w.ctx(), harness.Message{ID: id(n), Text: "work 100s; " + say(n)}, completes(n))))
	}
	begun := func() (n int) {
		for _, line := range harness.Tally(t, w.tally) {
			if line.What == "begin" {
				n++
			}
		}
		return n
	}
	harness.Eventually(t, within, "all tasks run", func() error {
		if n := begun(); n < tasks {
			return fmt.Errorf("%d do", n)
		}
		return nil
	})
	for i := 0; begun() == tasks; i++ {
		if i == most {
			t.Fatalf("after %d outages no task runs again", most)
		}
		f.Turn(true)
		time.Sleep(15 * time.Second)
		f.Turn(false)
		time.Sleep(5 * time.Second) // in which Temporal has tasks run again
	}
	all := w.settle()
	t.Log(w.report(f))
	stopAll(w, server)
	w.checkStopped(all)
}
