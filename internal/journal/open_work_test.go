package journal_test

import (
	"errors"
	"testing"

	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
)

// The end of a plan whose workflow was terminated ends its open tasks and closes their gates,
// each with an event that readers see, and an event that is recorded again adds nothing.
func TestRecord_endsTasksOfTerminatedPlans(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		gate := opt.Gate{ID: opt.GateID(s.task(0, 1), 1), TaskID: s.task(0, 1), Kind: opt.Approval, Title: "Good?", Actions: []opt.Action{opt.Accept}}
		waits := s.moved(0, 1, opt.TaskInputRequired)
		waits.Gate = &gate
		s.record(
			opt.Event{Kind: opt.ObjectiveMoved, From: "submitted", To: "working"},
			planAdded(s.objective, 0, 4), planAdded(s.objective, 1, 1),
			s.moved(0, 0, opt.TaskCompleted), waits, s.moved(0, 2, opt.TaskWorking), s.moved(1, 0, opt.TaskWorking),
		)
		before := len(s.events())
		end := s.batch(opt.Event{Kind: opt.PlanMoved, PlanID: s.plan(0), From: "blocked", To: "failed", Reason: opt.Terminated})
		for range 2 {
			test.OK(t, s.j.Record(t.Context(), end))
		}
		var got []string
		for _, e := range s.events()[before:] {
			got = append(got, string(e.Event.Kind)+" "+e.Event.TaskID+" "+e.Event.To+" "+e.Event.Reason)
		}
		want := []string{
			"plan-moved  failed terminated", "task-moved " + s.task(0, 1) + " failed terminated", "task-moved " + s.task(0, 2) + " failed terminated",
			"task-moved " + s.task(0, 3) + " canceled terminated",
		}
		test.Equal(t, "events", want, got)
		for task, state := range map[string]opt.TaskState{s.task(0, 0): opt.TaskCompleted, s.task(0, 1): opt.TaskFailed, s.task(1, 0): opt.TaskWorking} {
			if v := s.view(task); v.State != state || len(v.Gates) > 0 {
				t.Errorf("%s is %s with gates %v, want %s", task, v.State, v.Gates, state)
			}
		}

		// A worker that was slow comes with an event of the plan from before.
		var refused *opt.RewoundError
		late := opt.Batch{ObjectiveID: s.objective.ID, Source: opt.RootID(s.plan(0), 1), Events: []opt.Event{
			{N: 1, Kind: opt.TaskMoved, At: end.Events[0].At, PlanID: s.plan(0), TaskID: s.task(0, 1), From: "working", To: "input-required", Gate: &gate},
		}}
		if err := s.j.Record(t.Context(), late); !errors.As(err, &refused) || s.view(s.task(0, 1)).State != opt.TaskFailed {
			t.Errorf("a late event of the plan: %v, the task is %s", err, s.view(s.task(0, 1)).State)
		}
		if v := s.view(s.task(0, 1)); v.Rewound {
			t.Error("the objective counts as set back")
		}
	})
}

func TestJournal_OpenWork(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		started := opt.Event{Kind: opt.PlanStarted, PlanID: s.plan(0)}
		s.record(opt.Event{Kind: opt.ObjectiveMoved, From: "submitted", To: "working"}, planAdded(s.objective, 0, 1), planAdded(s.objective, 1, 1), started)
		plans, err := s.j.OpenPlans(t.Context(), "", s.objective.ID)
		if err != nil || len(plans) != 1 || plans[0].ID != s.plan(0) || plans[0].ObjectiveID != s.objective.ID {
			t.Errorf("open plans: %+v, %v", plans, err)
		}
		o, err := s.j.OpenWork(t.Context(), s.objective.ID)
		if err != nil || o == nil || len(o.Plans) != 2 || !o.Plans[0].Started {
			t.Errorf("open work: %+v, %v", o, err)
		}
		test.Error(t, "an unknown objective", opt.ErrUnknown, test.Err(s.j.OpenWork(t.Context(), "obj-unknown")))
		s.record(opt.Event{Kind: opt.ObjectiveMoved, From: "working", To: "completed"})
		if o, err := s.j.OpenWork(t.Context(), s.objective.ID); err != nil || o != nil {
			t.Errorf("of an ended objective: %+v, %v", o, err)
		}
		ended, err := s.j.EndedWork(t.Context())
		if err != nil || len(ended) != 1 || ended[0].ID != s.objective.ID || len(ended[0].Plans) != 1 || ended[0].Plans[0].ID != s.plan(0) {
			t.Errorf("ended work: %+v, %v", ended, err)
		}
		s.record(opt.Event{Kind: opt.PlanMoved, PlanID: s.plan(0), From: "working", To: "failed", Reason: opt.Terminated})
		test.Is(t, "ended work without an open plan", 0, len(test.Value(s.j.EndedWork(t.Context()))(t)))
	})
}
