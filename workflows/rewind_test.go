package workflows_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/workflows"
)

// knows has the journal know more events of a source than the run of the test: those above a
// number contradict them, until the run begins the epoch after one.
func (r *recording) knows(source string, n int64, epoch int) (refused *int) {
	refused = new(int)
	r.fail = func(b opt.Batch) error {
		if name, e := opt.SplitEpoch(b.Source); name == source && e <= epoch && b.Last() > n {
			*refused++
			return &opt.RewoundError{Source: b.Source, Epoch: epoch, Event: b.Last()}
		}
		return nil
	}
	return refused
}

// begun returns the event with which a source has begun an epoch.
func (r *recording) begun(t *testing.T, source string) opt.Event {
	t.Helper()
	i := slices.IndexFunc(r.events, func(e opt.Event) bool {
		return e.Kind == opt.SourceRewound && (e.PlanID == source || e.PlanID == "" && e.Objective.ID == source)
	})
	if i < 0 {
		t.Fatalf("%s has begun no epoch", source)
	}
	return r.events[i]
}

// An objective whose journal knows more of it than its run, since an operator has reset it,
// begins another epoch with its state, and its work and commands continue.
func TestObjective_rewound(t *testing.T) {
	env, journal := newEnv(t)
	refused := journal.knows(objectiveID, 4, 3)
	env.RegisterDelayedCallback(func() {
		env.SignalWorkflow(workflows.CommandSignal, opt.Command{ID: "c-1", Kind: opt.UpdateObjective, ObjectiveID: objectiveID, Change: &opt.Change{Name: new("Another")}})
	}, time.Millisecond)
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: new(opening("work 200ms | say done"))})
	test.OK(t, env.GetWorkflowError())
	e := journal.begun(t, objectiveID)
	if e.Epoch != 4 || e.N != 4 && e.N != 0 || e.Objective.ID != objectiveID || e.Head == nil {
		t.Errorf("epoch %d begins with number %d and %v", e.Epoch, e.N, e.Objective)
	}
	own := journal.sources[objectiveID+"@4"]
	if !slices.Contains(own, "objective completed") || !slices.ContainsFunc(own, func(l string) bool { return strings.Contains(l, "c-1") }) {
		t.Errorf("the epoch has %q, want the answer and the end", own)
	}
	if *refused > 2 {
		t.Errorf("%d batches were refused", *refused)
	}
	if plan := journal.sources[planID+"@2"]; len(plan) == 0 && len(journal.sources[planID+"@4"]) == 0 {
		t.Errorf("the plan has begun no epoch: %v", journal.sources)
	}
}

// A plan does the same, also when the refused events rode with a task: the task runs once.
func TestPlan_rewound(t *testing.T) {
	env, journal := newEnv(t)
	refused := journal.knows(planID, 0, 1)
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: new(opening("say zero | say one | say two"))})
	test.OK(t, env.GetWorkflowError())
	e := journal.begun(t, planID)
	if e.Epoch != 2 || e.PlanHead == nil || len(e.Plan.Tasks) != 3 || e.Plan.Tasks[0].State != opt.TaskPending {
		t.Errorf("epoch %d begins with %v and tasks %v, want the state before its events", e.Epoch, e.Plan, e.Plan.Tasks)
	}
	own := journal.sources[planID+"@2"]
	for _, want := range []string{"task-a-1-0 completed", "task-a-1-2 completed", "plan-a-1 completed"} {
		n := 0
		for _, l := range own {
			if l == want {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%q is there %d times in %q", want, n, own)
		}
	}
	if *refused > 2 {
		t.Errorf("%d batches were refused", *refused)
	}
}

// An operator may have a workflow set the journal to what it knows.
func TestObjective_rewindSignal(t *testing.T) {
	env, journal := newEnv(t)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.RewindSignal, nil) }, time.Millisecond)
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: new(opening("work 200ms | say done"))})
	test.OK(t, env.GetWorkflowError())
	if e := journal.begun(t, objectiveID); e.Epoch != 2 || !slices.Contains(journal.sources[objectiveID+"@2"], "objective completed") {
		t.Errorf("epoch %d has %q, want the end", e.Epoch, journal.sources[objectiveID+"@2"])
	}
}
