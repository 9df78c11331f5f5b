package crash_test

import (
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// A process kills itself while it makes a fork. The client repeats its call, and gets one fork, which
// does nothing again that it has taken over.
func TestCrash_fork(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"engine-started:3", "accepted:3"} { // two sends come before
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.start(harness.AllInOne, point)
			plan := harness.NewPlan("plan", "work 10ms", "approve Go on?; "+say(0))
			f, err := w.begin(w.ctx(), harness.Message{ID: id(0), Text: "x", Plan: plan}, completes(0))
			if err == nil {
				_, err = f.UntilState(w.ctx(), "INPUT_REQUIRED")
			}
			test.OK(t, err)
			test.Fails(t, "the process has answered", "", test.Err(w.fork(f.TaskID, true)))
			p.AwaitEnd(within)
			if !p.Killed() {
				t.Fatal("the point was not reached")
			}
			p = w.start(harness.AllInOne, "")
			first := w.forkOnce(t, f.TaskID, true)
			w.ack(first, completes(0))
			for _, f := range []*harness.Follower{f, w.follow(first, 0)} {
				test.Error(t, "the call", nil, w.answer(w.ctx(), f, planTask(f.TaskID, 1, 1), 1, decide("accept")))
			}
			all := w.settle()
			p.Stop()
			w.checkStopped(all)
			w.checkTaken(t, planTask(first, 1, 0))
		})
	}
}

// fork makes a fork of the latest event of a task.
func (w *world) fork(taskID string, repeat bool) (id string, err error) {
	var made struct{ Objective struct{ ID string } }
	params := map[string]any{"id": taskID, "repeat": repeat, "metadata": map[string]any{"longhaul/v1/requestId": "fork"}}
	err = w.c.Call(w.ctx(), "objectives/fork", params, &made)
	return made.Objective.ID, err
}

// forkOnce repeats the call of fork twice, which makes one fork.
func (w *world) forkOnce(t *testing.T, taskID string, repeat bool) string {
	t.Helper()
	first, err := w.fork(taskID, repeat)
	again, repeated := w.fork(taskID, repeat)
	if err != nil || repeated != nil || first != again {
		t.Fatalf("the forks are %s and %s: %v, %v", first, again, err, repeated)
	}
	return first
}

// checkTaken checks that a task of a fork, which has taken it over, has not run.
func (w *world) checkTaken(t *testing.T, taskID string) {
	t.Helper()
	for key := range harness.Rounds(harness.Tally(t, w.tally)) {
		if strings.HasPrefix(key, taskID) {
			t.Errorf("%s has run, and was taken over", key)
		}
	}
}
