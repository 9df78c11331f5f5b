package machine_test

import (
	"testing"

	"longhaul/opt"
	"longhaul/opt/machine"
)

// newKeeping returns a plan of a fork whose approval opens, about an object that carol has accepted in the
// original, where people were asked by ask as well. change is made right before it opens.
func newKeeping(t *testing.T, ask func(*opt.Gate), change func(*opt.Task, *machine.PlanState)) *checkedPlan {
	t.Helper()
	play := func(c *checkedPlan, change func()) *checkedPlan {
		c.says["form-0"], c.State.Requester = "ask", "ann"
		c.work("form-0")
		check := c.Wants().Activities[0]
		c.do(machine.Ended{Key: check.Key, Outcome: c.outcome(c.State.Plan.Task(check.Of))})
		change()
		c.work("after")
		return c
	}
	asked := newChecked(t, 0, "form")
	asked.approval().Ask.Keep = true
	ask(asked.approval().Ask)
	gate := play(asked, func() {}).approval().Gate
	c := newChecked(t, 0, "form")
	a := c.approval()
	a.Ask.Keep = true
	ask(a.Ask)
	a.Earlier = []opt.Original{{
		ObjectiveID: "obj-x", ObjectDigest: gate.ObjectDigest, Action: opt.Accept, DecidedBy: "carol", GateID: "x:1", Terms: gate.Terms(),
		By: []opt.Vote{{Action: opt.Accept, DecidedBy: "carol"}}, Head: &opt.ChainHead{PlanID: "plan-x", Attempt: 1, Chain: opt.Chain{N: 1, Hash: "sha256:0"}},
	}}
	return play(c, func() { change(a, &c.State) })
}

func asIs(*opt.Gate) {}

func unchanged(*opt.Task, *machine.PlanState) {}

// A fork keeps the decision with one record, which asks no one.
func TestPlan_keepsDecision(t *testing.T) {
	c := newKeeping(t, asIs, unchanged)
	a, records := c.approval(), decided(c.events)
	if a.State != opt.TaskCompleted || a.Gates != 1 || len(a.Replies) != 1 || a.Replies[0].DecidedBy != opt.ByOriginal || len(records) != 1 {
		t.Fatalf("the approval is %s after %d gates: %+v", a.State, a.Gates, records)
	}
	if d := records[0]; d.DecidedBy != opt.ByOriginal || !d.Closed || d.Kept.DecidedBy != "carol" || d.Kept.Head.Hash != "sha256:0" || d.ObjectDigest != d.Kept.ObjectDigest || d.Who() != "carol in the original" {
		t.Errorf("the record is %+v", records[0])
	}
}

// People decide in all other cases.
func TestPlan_keepsDecision_not(t *testing.T) {
	for name, change := range map[string]func(*opt.Task, *machine.PlanState){
		"earlier rules":    func(_ *opt.Task, s *machine.PlanState) { s.Rules = 24 },
		"a later gate":     func(t *opt.Task, _ *machine.PlanState) { t.Gates = 1 },
		"a retry":          func(_ *opt.Task, s *machine.PlanState) { s.Plan.Run = 2 },
		"a reset":          func(_ *opt.Task, s *machine.PlanState) { s.Epoch, s.Directive.PlanEpoch = 2, 2 },
		"no record":        func(t *opt.Task, _ *machine.PlanState) { t.Earlier[0].Head = nil },
		"another object":   func(t *opt.Task, _ *machine.PlanState) { t.Earlier[0].ObjectDigest = "sha256:1" },
		"another question": func(t *opt.Task, _ *machine.PlanState) { t.Ask.Title += " Really?" },
		"others may decide": func(t *opt.Task, _ *machine.PlanState) {
			t.Ask.Responders = &opt.Responders{Principals: []string{"dora"}}
		},
	} {
		if a := newKeeping(t, asIs, change).approval(); a.Gate == nil {
			t.Errorf("%s: the approval is %s", name, a.State)
		}
	}
	for name, ask := range map[string]func(*opt.Gate){
		"not allowed":         func(g *opt.Gate) { g.Keep = false },
		"a part in the work":  func(g *opt.Gate) { g.Responders = &opt.Responders{NotRequester: true} },
		"several must accept": func(g *opt.Gate) { g.Responders = &opt.Responders{Accepts: 2} },
	} {
		shaped := func(_ *opt.Task, s *machine.PlanState) { s.Shapers = []string{"carol"} }
		if a := newKeeping(t, ask, shaped).approval(); a.Gate == nil {
			t.Errorf("%s: the approval is %s", name, a.State)
		}
	}
	plain := func(g *opt.Gate) { g.Actions = []opt.Action{opt.Accept, opt.Reject} }
	byHand := func(_ *opt.Task, s *machine.PlanState) { s.Plan.Tasks[0].ByHand = true }
	if a := newKeeping(t, plain, byHand).approval(); a.Gate == nil {
		t.Errorf("after a task by hand the approval is %s", a.State)
	}
}
