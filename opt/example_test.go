package opt_test

import (
	"fmt"

	"longhaul/a2a"
	"longhaul/opt"
)

// A plan is the sum of the events applied to it. Ready says which tasks may
// start, Next which events follow. The caller runs the tasks.
func ExamplePlan() {
	o := &opt.Objective{ID: opt.NewObjectiveID([16]byte{1})}
	p, err := o.NewPlan(opt.PlanSpec{Name: "Report", Tasks: []opt.TaskSpec{
		{Name: "Research"},
		{Name: "Draw", Dependencies: []string{}}, // else it would follow Research
		{Name: "Write", Dependencies: []string{"task-0", "task-1"}},
	}}, a2a.AtMillis(0))
	if err != nil {
		fmt.Println(err)
		return
	}
	apply := func(e opt.Event) {
		if err := p.Apply(e); err != nil {
			fmt.Println(err)
		}
	}
	apply(opt.Event{Kind: opt.PlanStarted})
	for !p.Settled() {
		for _, t := range p.Ready() {
			fmt.Println("start", t.Name)
			apply(opt.Event{Kind: opt.TaskMoved, TaskID: t.A2AID(), From: string(t.State), To: string(opt.TaskWorking)})
		}
		for _, t := range p.Running() {
			apply(opt.Event{Kind: opt.TaskMoved, TaskID: t.A2AID(), From: string(t.State), To: string(opt.TaskCompleted)})
		}
		for _, e := range p.Next(a2a.AtMillis(1)) {
			apply(e)
			fmt.Println("plan:", e.From, "→", e.To)
		}
	}
	// Output:
	// start Research
	// start Draw
	// plan: pending → working
	// start Write
	// plan: working → completed
}

// An objective follows the reports of its plans, and its root task shows the
// oldest gate that is open in any of them.
func ExampleObjective_Next() {
	o := &opt.Objective{ID: opt.NewObjectiveID([16]byte{1}), Attempt: 1, Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted}
	apply := func(events ...opt.Event) {
		for _, e := range events {
			if err := o.Apply(e); err != nil {
				fmt.Println(err)
			}
		}
	}
	p, err := o.NewPlan(opt.PlanSpec{Name: "Letter"}, a2a.AtMillis(0))
	if err != nil {
		fmt.Println(err)
		return
	}
	apply(
		opt.Event{Kind: opt.PlanAdded, PlanID: p.ID, Plan: p},
		opt.Event{Kind: opt.ObjectiveMoved, From: "submitted", To: "working"},
	)
	for _, report := range []opt.Report{
		{Status: opt.PlanWorking, Started: true},
		{Status: opt.PlanBlocked, Reason: opt.BlockedByInput, Started: true, Open: []*opt.Gate{{ID: "g", Kind: opt.Approval, Title: "Send it?"}}},
		{Status: opt.PlanCompleted, Started: true},
	} {
		header := o.Plan(p.ID)
		header.Report, header.Status, header.Reason, header.Started = &report, report.Status, report.Reason, report.Started
		for events := o.Next(a2a.AtMillis(1)); len(events) > 0; events = o.Next(a2a.AtMillis(1)) {
			apply(events...)
		}
		fmt.Println("plan", report.Status, "objective", o.Status, o.Reason, "root task", o.Root)
	}
	// Output:
	// plan working objective working  root task working
	// plan blocked objective blocked input root task input-required
	// plan completed objective completed  root task completed
}

// An id contains the ids of the things above it, so no table is needed.
func ExampleParseID() {
	objective := opt.DerivedObjectiveID("tenant", "anna", "message-1")
	task := opt.RootID(opt.TaskID(opt.PlanID(objective, 1), 3), 2) // the second attempt at it
	ref, ok := opt.ParseID(task)
	fmt.Println(ok, ref.ObjectiveID == objective, ref.PlanID == opt.PlanID(objective, 1), ref.Attempt)
	_, ok = opt.ParseID("another id")
	fmt.Println(ok)
	// Output:
	// true true true 2
	// false
}

// A refusal is an error with a JSON form: callers branch on it as on the error of
// the model.
func ExampleRefusalOf() {
	p := &opt.Plan{Status: opt.PlanCompleted}
	err := p.Apply(opt.Event{Kind: opt.PlanMoved, From: "completed", To: "working"})
	refusal := opt.RefusalOf(err)
	fmt.Println(refusal.Code, refusal.From, refusal.To)
	fmt.Println(refusal)
	// Output:
	// move completed working
	// Invalid status transition: completed → working
}
