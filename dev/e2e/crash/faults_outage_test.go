package crash_test

import (
	"fmt"
	"testing"
	"time"

	"longhaul/dev/e2e/faulty"
	"longhaul/dev/e2e/harness"
)

// Writes of Temporal fail for longer than a worker may send no heartbeat, while tasks run. Temporal
// has some of them run again, in the same worker, and none runs twice at a time.
func TestFaults_outage(t *testing.T) {
	t.Parallel()
	f := &faulty.Fault{Store: faulty.Execution, Method: "UpdateWorkflowExecution", Kind: faulty.Down, Share: 1}
	w, server := newFaulty(t, f)
	w.site.Env = append(w.site.Env, "LONGHAUL_WORKER_TIMEOUT=4s")
	w.start(harness.API, "")
	w.start(harness.Worker, "")
	const tasks = 8
	for n := range tasks {
		if _, err := w.begin(w.ctx(), harness.Message{ID: id(n), Text: "work 25s; " + say(n)}, completes(n)); err != nil {
			t.Fatal(err)
		}
	}
	begins := func() int { return len(harness.Tally(t, w.tally)) }
	harness.Eventually(t, within, "all tasks run", func() error {
		if n := begins(); n < tasks {
			return fmt.Errorf("%d do", n)
		}
		return nil
	})
	f.Turn(true)
	time.Sleep(10 * time.Second) // longer than a worker may be silent
	f.Turn(false)
	harness.Eventually(t, within, "a task runs again", func() error {
		if begins() == tasks {
			return fmt.Errorf("none does")
		}
		return nil
	})
	all := w.settle()
	t.Log(w.report(f))
	stopAll(w, server)
	w.checkStopped(all)
}
