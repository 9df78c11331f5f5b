package crash_test

import (
	"net/http"
	"slices"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

// keep is a playbook whose decision forks keep.
const keep = `name: keep
default: true
plans:
- name: Keep
  tasks:
  - {name: Draft, executor: echo, description: say The draft}
  - {name: Approve, human: {approve: "Good?", object: '{{results "Draft"}}', keep-decision: true}}
  - {name: Use, executor: echo, description: say done 0}
`

// A process kills itself while it makes a fork that keeps a decision, or while the fork begins. There is one
// fork, which keeps the decision once and asks no one.
func TestCrash_forkKeepsDecision(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"engine-started:1", "accepted:1", "mid-record:1", "mid-record:2"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "--playbooks", test.File(t, "keep.yaml", keep))
			p := w.start(harness.AllInOne, "")
			f, err := w.begin(w.ctx(), harness.Message{ID: id(0), Text: "x"}, completes(0))
			if err == nil {
				err = w.answer(w.ctx(), f, planTask(f.TaskID, 1, 1), 1, decide("accept"))
			}
			if err == nil {
				_, err = f.UntilState(w.ctx(), "COMPLETED")
			}
			test.OK(t, err)
			then := w.decided(f.TaskID)
			p.Stop()
			p = w.start(harness.AllInOne, point)
			_, _ = w.fork(f.TaskID, false) // whose answer may be lost
			p.AwaitEnd(within)
			if !p.Killed() {
				t.Fatal("the point was not reached")
			}
			p = w.start(harness.AllInOne, "")
			first := w.forkOnce(t, f.TaskID, false)
			w.ack(first, completes(0))
			w.follow(first, 0)
			all := w.settle()
			kept := w.decided(first)
			if len(kept) != 1 || !kept[0].IsAs(map[string]opt.Decision{then[0].Hash: then[0]}) || kept[0].DecidedBy != opt.ByOriginal {
				t.Errorf("the fork has the decisions %+v", kept)
			}
			p.Stop()
			w.checkStopped(all)
			w.checkTaken(t, planTask(first, 1, 0))
		})
	}
}

// decided lists the decisions of an objective by which gates were closed.
func (w *world) decided(id string) []opt.Decision {
	w.t.Helper()
	var page struct{ Decisions []opt.Decision }
	test.OK(w.t, w.c.ReadPage(w.ctx(), http.MethodGet, "/v1/objectives/"+objectiveOf(id)+"/decisions", "", &page))
	return slices.DeleteFunc(page.Decisions, func(d opt.Decision) bool { return !d.Closed })
}
