package fork_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/fork"
)

// decides adds that the gate of a task was closed by a decision about an object.
func (s story) decides(task, by, object string, changes ...func(*opt.Decision)) story {
	ref, _ := opt.ParseID(task)
	d := opt.Decision{
		ObjectiveID: ref.ObjectiveID, PlanID: ref.PlanID, TaskID: task, Kind: opt.Approval, Action: opt.Accept, Verdict: opt.Accepted, Closed: true,
		DecidedBy: by, ObjectDigest: object,
	}
	for _, change := range changes {
		change(&d)
	}
	return append(s, opt.Event{Kind: opt.MessageAdded, PlanID: ref.PlanID, TaskID: task, Verdict: d.Verdict, Message: &a2a.Message{MessageID: "d"}, Decision: &d, Reply: &opt.Reply{Action: d.Action}})
}

// asking is a list whose second task asks.
func asking() opt.PlanSpec {
	p := list("a", "ask", "c")
	p.Tasks[1].Ask = &opt.Gate{Kind: opt.Approval, Title: "Good?"}
	return p
}

// A gate of a fork has the decision of a person in the original, if it is about the same object and the
// task is the same. All others leave no name.
func TestPoint_Fork_original(t *testing.T) {
	begin := func() story { return begun(asking()).does(task(0), "A") }
	bob := begin().decides(task(1), "bob", "sha256:x")
	with := func(change func(*opt.TaskSpec)) fork.Change {
		p := asking()
		change(&p.Tasks[1])
		return fork.Change{Plans: []opt.PlanSpec{p}}
	}
	moved := opt.PlanSpec{Name: "P", Tasks: asking().Tasks[1:]}
	for name, tc := range map[string]struct {
		of     story
		n      int // events; 0 for all
		change fork.Change
		want   string // who has decided
	}{
		"the same object":                {of: bob, want: "bob"},
		"the same plans":                 {of: bob, change: with(func(*opt.TaskSpec) {}), want: "bob"},
		"before it was decided":          {of: bob, n: 4, change: fork.Change{Repeat: true}, want: "bob"},
		"the latest of several":          {of: append(bob, begin().decides(task(1), "carol", "sha256:x")[3:]...), want: "carol"},
		"in a later attempt":             {of: begin().decides(opt.RootID(task(1), 2), "bob", "sha256:x"), want: "bob"},
		"another object":                 {of: begin().decides(task(1), "bob", "sha256:y")},
		"no object":                      {of: begin().decides(task(1), "bob", "")},
		"another task":                   {of: begin().decides(task(2), "bob", "sha256:x")},
		"not decided":                    {of: begin()},
		"a vote that closes nothing":     {of: begin().decides(task(1), "bob", "sha256:x", func(d *opt.Decision) { d.Closed = false })},
		"a reply that was refused":       {of: begin().decides(task(1), "eve", "sha256:x", func(d *opt.Decision) { d.Closed, d.Verdict = false, opt.NotAllowed })},
		"by hand":                        {of: begin().decides(task(1), "bob", "sha256:x", func(d *opt.Decision) { d.ByHand = true })},
		"expired":                        {of: begin().decides(task(1), opt.ByTimer, "sha256:x")},
		"by checks":                      {of: begin().decides(task(1), opt.ByChecks, "sha256:x")},
		"by a standing decision":         {of: begin().decides(task(1), opt.ByStanding, "sha256:x")},
		"a task that asks another thing": {of: bob, change: with(func(s *opt.TaskSpec) { s.Ask = &opt.Gate{Kind: opt.Approval, Title: "Delete all?"} })},
		"a task with another text":       {of: bob, change: with(func(s *opt.TaskSpec) { s.Description = "Delete all" })},
		"a task with another executor":   {of: bob, change: with(func(s *opt.TaskSpec) { s.Executor = "f" })},
		"another place":                  {of: bob, change: fork.Change{Plans: []opt.PlanSpec{moved}}},
	} {
		n := tc.n
		if n == 0 {
			n = len(tc.of)
		}
		o, err := fork.At(tc.of, n).Fork(other, tc.change)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := deciders(o, "sha256:x"); got != tc.want {
			t.Errorf("%s: %q has decided, want %q", name, got, tc.want)
		}
	}
}

// deciders names who has decided about an object in the original of an opening.
func deciders(o opt.Opening, object string) (out string) {
	plans, err := o.Objective.NewPlans(o.Plans, a2a.Time{})
	if err != nil {
		return fmt.Sprint(err)
	}
	for _, p := range plans {
		for _, t := range p.Tasks {
			if by := t.Original(object); by != nil && t.Ask != nil {
				out += by.DecidedBy
			}
		}
	}
	return out
}

// firstPlan returns the first plan of a fork as it is stored.
func firstPlan(t *testing.T, o opt.Opening) *opt.Plan {
	t.Helper()
	plans := test.Value(o.Objective.NewPlans(o.Plans, a2a.Time{}))(t)
	doc := test.Value(json.Marshal(plans[0]))(t)
	stored := &opt.Plan{}
	test.OK(t, json.Unmarshal(doc, stored))
	return stored
}

// A fork of a fork has the decision of the first original, until its own gate was decided about the object.
func TestPoint_Fork_originalOfFork(t *testing.T) {
	s := begun(asking()).does(task(0), "A").decides(task(1), "bob", "sha256:x").decides(task(1), "bob", "sha256:y")
	o := test.Value(fork.At(s, len(s)).Fork(other, fork.Change{}))(t)
	stored := firstPlan(t, o)
	again := story{{Kind: opt.ObjectiveOpened, Objective: &o.Objective, Message: o.Message}, {Kind: opt.PlanAdded, PlanID: stored.ID, Plan: stored}}
	again = again.decides(stored.Tasks[1].ID, "dora", "sha256:y")
	third := other
	third.ID = opt.NewObjectiveID([16]byte{3})
	last, err := fork.At(again, len(again)).Fork(third, fork.Change{})
	if x, y := deciders(last, "sha256:x"), deciders(last, "sha256:y"); err != nil || x != "bob" || y != "dora" {
		t.Errorf("%q and %q have decided: %v", x, y, err)
	}
}
