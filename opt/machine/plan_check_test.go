package machine_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// A checkedPlan is a plan of which one task makes an object, some check it, and an approval is about it.
type checkedPlan struct {
	*machine.Plan
	t      *testing.T
	says   map[string]string // verdicts, by the name of the check
	made   int
	events []opt.Event
}

// newChecked returns a plan with checks by groups, such as "form" and "judge judge judge/2".
func newChecked(t *testing.T, rounds int, groups ...string) *checkedPlan {
	t.Helper()
	checks := &opt.Checks{Rounds: rounds}
	specs, before := []opt.TaskSpec{{Name: "make"}}, []string{"task-0"}
	for _, g := range groups {
		names, need, _ := strings.Cut(g, "/")
		group := opt.CheckGroup{Need: 1}
		if need != "" {
			_, _ = fmt.Sscan(need, &group.Need)
		}
		for i := range strings.Fields(names) {
			place := opt.TaskPlace(len(specs))
			group.Tasks, before = append(group.Tasks, place), append(before, place)
			specs = append(specs, opt.TaskSpec{
				Name: fmt.Sprintf("%s-%d", strings.Fields(names)[i], i), Check: true, Dependencies: []string{"task-0"}, Attempts: 1, Metadata: a2a.Metadata{}.With(opt.KeyOptional, true),
			})
		}
		checks.Groups = append(checks.Groups, group)
	}
	gate := &opt.Gate{
		Kind: opt.Approval, Title: "Good?", Actions: []opt.Action{opt.Accept, opt.Reject, opt.Refine},
		Form: &opt.GateForm{Object: []string{"task-0"}, Checks: checks},
	}
	return beginChecked(t, append(specs, opt.TaskSpec{Name: "approve", Ask: gate, Dependencies: before}, opt.TaskSpec{Name: "after"})...)
}

// beginChecked begins a plan of tasks.
func beginChecked(t *testing.T, specs ...opt.TaskSpec) *checkedPlan {
	t.Helper()
	o := &opt.Objective{ID: objectiveID, Attempt: 1}
	p := test.Value(o.NewPlan(opt.PlanSpec{Name: "p", Tasks: specs}, a2a.AtMillis(1)))(t)
	m := &machine.Plan{State: machine.PlanState{Rules: machine.Rules, Plan: *p, First: &machine.Directed{Directive: machine.Directive{N: 1, Start: true}}}}
	c := &checkedPlan{Plan: m, t: t, says: map[string]string{}}
	c.do(machine.Opened{})
	return c
}

func (c *checkedPlan) do(in machine.Input) {
	c.events = append(c.events, c.Handle(a2a.AtMillis(int64(10+len(c.events))), in)...)
}

// work runs activities until none of those wanted is for a task with another name than stop.
func (c *checkedPlan) work(stop string) {
	for range 100 {
		c.do(machine.Begin{})
		wanted := slices.DeleteFunc(c.Wants().Activities, func(a machine.Activity) bool { return c.State.Plan.Task(a.Of).Name == stop })
		if len(wanted) == 0 {
			return
		}
		c.do(machine.Ended{Key: wanted[0].Key, Outcome: c.outcome(c.State.Plan.Task(wanted[0].Of))})
	}
	c.t.Fatal("the plan does not rest")
}

func (c *checkedPlan) outcome(t *opt.Task) opt.Outcome {
	text, says := t.Name, c.says[t.Name]
	switch {
	case t.Name == "make":
		c.made++
		text = fmt.Sprintf("version %d", c.made)
	case says == "fails":
		return opt.Outcome{State: opt.TaskFailed, Code: "bad", Message: "It is broken."}
	case t.Check:
		text = fmt.Sprintf(`{"verdict": %q, "reason": "since it is so"}`, says)
	}
	return opt.Outcome{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{{ArtifactID: opt.ArtifactID(t.ID, "out"), Parts: []a2a.Part{a2a.TextPart(text)}}}}
}

func (c *checkedPlan) approval() *opt.Task {
	return c.State.Plan.Tasks[slices.IndexFunc(c.State.Plan.Tasks, func(t *opt.Task) bool { return t.Ask != nil })]
}

// Checks decide only together, each group by as many as it needs; all else is for people.
func TestPlan_checks(t *testing.T) {
	for _, tt := range []struct {
		name   string
		groups []string
		says   map[string]string
		asked  bool
	}{
		{"all accept", []string{"form", "judge judge judge/2"}, map[string]string{"form-0": "accept", "judge-0": "accept", "judge-1": "accept", "judge-2": "reject"}, false},
		{"one of the groups rejects", []string{"form", "judge judge judge/2"}, map[string]string{"form-0": "reject", "judge-0": "accept", "judge-1": "accept", "judge-2": "accept"}, true},
		{"the judges disagree", []string{"form", "judge judge judge/2"}, map[string]string{"form-0": "accept", "judge-0": "accept", "judge-1": "ask", "judge-2": "reject"}, true},
		{"a check asks for people", []string{"form"}, map[string]string{"form-0": "ask"}, true},
		{"a check fails", []string{"form"}, map[string]string{"form-0": "fails"}, true},
		{"a check says something else", []string{"form"}, map[string]string{"form-0": "fine"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newChecked(t, 0, tt.groups...)
			c.says = tt.says
			c.work("after")
			a := c.approval()
			if asked := a.Gate != nil; asked != tt.asked || !asked && a.State != opt.TaskCompleted {
				t.Fatalf("the approval is %s, with the gate %v", a.State, a.Gate)
			}
			records := decided(c.events)
			if len(records) != 1 || len(records[0].Checks) != len(tt.says) || records[0].DecidedBy != opt.ByChecks || records[0].Closed == tt.asked || records[0].ObjectDigest == "" {
				t.Errorf("records: %+v", records)
			}
			if tt.asked && len(a.Gate.Checks) != len(tt.says) {
				t.Errorf("the gate shows %v", a.Gate.Checks)
			}
		})
	}
}

// The results of checks are no input of later tasks.
func TestPlan_checks_results(t *testing.T) {
	c := newChecked(t, 0, "form")
	c.says["form-0"] = "accept"
	c.work("after")
	w := c.State.WorkOf(c.Wants().Activities[0])
	if len(w.Results) != 1 || w.Results[0].Name != "make" {
		t.Errorf("the task after the approval gets %+v", w.Results)
	}
}

// A rejection sends the object back with its reasons, as often as the checks may, and then people are
// asked, who decide from then on.
func TestPlan_checks_rounds(t *testing.T) {
	c := newChecked(t, 2, "form")
	c.says["form-0"] = "reject"
	c.work("after")
	a := c.approval()
	if c.made != 3 || a.Gate == nil {
		t.Fatalf("it was made %d times, the approval is %s", c.made, a.State)
	}
	refined := c.State.Plan.Tasks[0].Refined
	if len(refined) != 2 || refined[0].DecidedBy != opt.ByChecks || refined[0].Feedback != "form-0: since it is so" {
		t.Errorf("it was sent back by %+v", refined)
	}
	if records := decided(c.events); len(records) != 3 || records[0].Action != opt.Refine || records[2].Closed {
		t.Errorf("records: %+v", records)
	}
	c.says["form-0"] = "accept"
	c.do(machine.Letter{Letter: opt.Letter{
		TaskID: a.A2AID(), Principal: "bob", Message: a2a.Message{MessageID: "m", Role: a2a.RoleUser}, Reply: &opt.Reply{GateID: a.Gate.ID, Action: opt.Refine, Feedback: "Shorter."},
	}})
	c.work("after")
	if c.made != 4 || a.Gate == nil || a.Gate.Checks[0].Verdict != opt.Accept {
		t.Errorf("after a person has sent it back, it was made %d times, and the gate is %+v", c.made, a.Gate)
	}
}

// What a client has done with the object, with a check or with the work is for people.
func TestPlan_checks_clients(t *testing.T) {
	for name, change := range map[string]func(c *checkedPlan){
		"a check that a client has completed": func(c *checkedPlan) {
			check := c.State.Plan.Tasks[1]
			check.State, check.ByHand, check.Artifacts = opt.TaskCompleted, true, c.outcome(check).Artifacts
		},
		"a check that stands for another": func(c *checkedPlan) { c.State.Plan.Tasks[1].Link = "elsewhere" },
		"an object made by hand":          func(c *checkedPlan) { c.State.Plan.Tasks[0].ByHand = true },
		"an object that was not made": func(c *checkedPlan) {
			c.State.Plan.Tasks[0].ByHand, c.State.Plan.Tasks[0].Artifacts = true, nil
		},
		"another attempt": func(c *checkedPlan) { c.State.Plan.Run = 2 },
		"an object that is no text, for checks that see texts": func(c *checkedPlan) {
			c.approval().Ask.Form.Checks.Texts = true
			c.State.Plan.Tasks[0].Artifacts[0].Parts = []a2a.Part{a2a.DataPart(1000000)}
		},
		"a check of nothing":                func(c *checkedPlan) { c.State.Plan.Tasks[1].Dependencies = []string{} },
		"a check that does not come before": func(c *checkedPlan) { c.State.Plan.Tasks[2].Dependencies = []string{c.State.Plan.Tasks[0].ID} },
		"a note": func(c *checkedPlan) {
			c.do(machine.Letter{Letter: opt.Letter{TaskID: objectiveID, Principal: "mallory", Message: a2a.Message{MessageID: "n", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("To all.")}}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newChecked(t, 0, "form")
			c.says["form-0"] = "accept"
			c.work("form-0")
			check := c.Wants().Activities
			change(c)
			for _, a := range check {
				c.do(machine.Ended{Key: a.Key, Outcome: c.outcome(c.State.Plan.Task(a.Of))})
			}
			c.do(machine.Begin{})
			if a := c.approval(); a.Gate == nil {
				t.Errorf("the approval is %s, without a person", a.State)
			}
		})
	}
}

// Criteria of a message that send a result back have it accepted again as the playbook says, and are
// recorded as requested.
func TestPlan_checks_requested(t *testing.T) {
	check := func(name string, after ...string) opt.TaskSpec {
		return opt.TaskSpec{Name: name, Check: true, Dependencies: after, Attempts: 1, Metadata: a2a.Metadata{}.With(opt.KeyOptional, true)}
	}
	gate := func(place string, rounds int, requested bool) *opt.Gate {
		checks := &opt.Checks{Groups: []opt.CheckGroup{{Tasks: []string{place}, Need: 1}}, Rounds: rounds, Requested: requested}
		return &opt.Gate{Kind: opt.Approval, Title: "Good?", Actions: []opt.Action{opt.Accept, opt.Reject, opt.Refine}, Form: &opt.GateForm{Object: []string{opt.AllResults}, Checks: checks}}
	}
	c := beginChecked(t, opt.TaskSpec{Name: "make"},
		check("ours", "task-0"), opt.TaskSpec{Name: "accept", Ask: gate("task-1", 0, false), Dependencies: []string{"task-0", "task-1"}},
		check("theirs", "task-2"), opt.TaskSpec{Name: "accept as requested", Ask: gate("task-3", 1, true), Dependencies: []string{"task-2", "task-3"}})
	c.says["ours"], c.says["theirs"] = "accept", "reject"
	c.work("none")
	var got []string
	for _, d := range decided(c.events) {
		got = append(got, fmt.Sprintf("%s %s, requested %t", d.Checks[0].Check, cmp.Or(d.Action, "asks"), d.Checks[0].Requested))
	}
	want := []string{"ours accept, requested false", "theirs refine, requested true", "ours accept, requested false", "theirs asks, requested true"}
	if !slices.Equal(got, want) || c.made != 2 {
		t.Errorf("it was made %d times, and decided by %q, want %q", c.made, got, want)
	}
	last := c.State.Plan.Tasks[4]
	if last.Gate == nil || !strings.Contains(last.Gate.About(), "theirs, as requested: reject") {
		t.Fatalf("the gate is %+v", last.Gate)
	}
	c.do(machine.Letter{Letter: opt.Letter{
		TaskID: last.A2AID(), Principal: "bob", Message: a2a.Message{MessageID: "m", Role: a2a.RoleUser}, Reply: &opt.Reply{GateID: last.Gate.ID, Action: opt.Refine, Feedback: "Shorter."},
	}})
	c.work("none")
	if ours := c.State.Plan.Tasks[2]; c.made != 3 || ours.Gate == nil {
		t.Errorf("after a person has sent it back, it was made %d times, and is %s as the playbook says", c.made, ours.State)
	}
}
