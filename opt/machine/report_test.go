package machine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// Reports are signals. The report with the largest number counts, not the last to
// arrive.
func TestObjective_Handle_reports(t *testing.T) {
	opening := opt.Opening{
		Objective: opt.Objective{ID: objectiveID, ContextID: "c", Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted, Attempt: 1},
		Plans:     []opt.PlanSpec{{Name: "p", Tasks: []opt.TaskSpec{{Name: "t"}}}},
	}
	m := machine.NewObjective(opening, 0)
	now := a2a.AtMillis(1)
	m.Handle(now, machine.Opened{})
	p := m.State.Objective.Plan(plan(1))
	if p == nil {
		t.Fatal("the given plan was not added")
	}
	m.Handle(now, machine.ChildStarted{PlanID: p.ID, N: 1})
	gate := &opt.Gate{ID: "g", Kind: opt.Approval}
	for _, s := range []struct {
		name   string
		report opt.Report
		late   bool
		want   opt.PlanStatus
	}{
		{"the first", opt.Report{N: 2, Directive: 1, Status: opt.PlanBlocked, Reason: opt.BlockedByInput, Started: true, Open: []*opt.Gate{gate}}, false, opt.PlanBlocked},
		{"an earlier one", opt.Report{N: 1, Directive: 1, Status: opt.PlanWorking, Started: true}, true, opt.PlanBlocked},
		{"the same", opt.Report{N: 2, Directive: 1, Status: opt.PlanWorking, Started: true}, true, opt.PlanBlocked},
		{"a later one", opt.Report{N: 4, Directive: 1, Status: opt.PlanWorking, Started: true}, false, opt.PlanWorking},
		{"an end that was overtaken", opt.Report{N: 3, Directive: 1, Status: opt.PlanFailed, Started: true}, true, opt.PlanWorking},
		{"the end", opt.Report{N: 7, Directive: 1, Status: opt.PlanCompleted, Started: true}, false, opt.PlanCompleted},
		{"after the end", opt.Report{N: 8, Directive: 1, Status: opt.PlanWorking, Started: true}, true, opt.PlanCompleted},
	} {
		before := snapshot(t, m.State)
		events := m.Handle(now, machine.Reported{PlanID: p.ID, Report: s.report})
		if s.late {
			if diff := cmp.Diff(before, snapshot(t, m.State)); len(events) > 0 || diff != "" {
				t.Errorf("%s: events %+v, state (-before +after):\n%s", s.name, events, diff)
			}
		}
		if p.Status != s.want {
			t.Errorf("%s: the plan is %s, want %s", s.name, p.Status, s.want)
		}
	}
	if got := m.State.Objective.Status; got != opt.ObjectiveCompleted {
		t.Errorf("the objective is %s", got)
	}
}

// retried returns an objective in its second attempt, and its plan, which failed in
// the first.
func retried() (*machine.Objective, *opt.Plan) {
	kept := machine.Kept{Objective: *objective("failed")}
	kept.Objective.Status, kept.Objective.Root = opt.ObjectiveFailed, opt.TaskFailed
	m := machine.RestoreObjective(kept, 0)
	m.Handle(a2a.AtMillis(1), machine.Command{Command: opt.Command{ID: "c", Kind: opt.UpdateObjective, Status: "submitted"}})
	return m, m.State.Objective.Plan(plan(1))
}

// A report of an earlier attempt at a plan comes too late.
func TestObjective_Handle_reportOfEarlierAttempt(t *testing.T) {
	m, p := retried()
	now := a2a.AtMillis(2)
	if p.Run != 2 || p.Status != opt.PlanPending {
		t.Fatalf("the plan is %s in attempt %d, want pending in the second", p.Status, p.Run)
	}
	m.Handle(now, machine.ChildStarted{PlanID: p.ID, Attempt: 2, N: 1})
	m.Handle(now, machine.Reported{PlanID: p.ID, Report: opt.Report{N: 99, Attempt: 1, Status: opt.PlanCompleted}})
	if p.Status != opt.PlanPending {
		t.Errorf("the plan is %s after a report of the first attempt", p.Status)
	}
	m.Handle(now, machine.Reported{PlanID: p.ID, Report: opt.Report{N: 1, Attempt: 2, Status: opt.PlanSkipped, ByHand: true}})
	if p.Status != opt.PlanSkipped {
		t.Errorf("the plan is %s after a report of the second attempt", p.Status)
	}
}

// That a signal to an earlier attempt at a plan found no workflow says nothing about the
// present one.
func TestObjective_Handle_signalToEarlierAttempt(t *testing.T) {
	m, p := retried()
	now := a2a.AtMillis(2)
	m.Handle(now, machine.Delivered{To: p.ID, N: 5, Gone: true})
	if p.Status != opt.PlanPending || m.State.Objective.Status != opt.ObjectiveSubmitted {
		t.Errorf("the plan is %s (%s), the objective %s", p.Status, p.Reason, m.State.Objective.Status)
	}
}

// A plan whose former run has not ended yet cannot begin. It is wanted again after
// a while, until it begins or was tried often enough.
func TestObjective_Handle_refusedStart(t *testing.T) {
	m, p := retried()
	now := a2a.AtMillis(2)
	tries := 0
	for !p.Over() {
		w := m.Wants()
		if len(w.Children) != 1 || w.Children[0].Try != tries {
			t.Fatalf("try %d: children %+v", tries, w.Children)
		}
		m.Handle(now, machine.ChildRefused{PlanID: p.ID, Attempt: p.Run})
		tries++
		w = m.Wants()
		if len(w.Children) != 0 {
			t.Fatalf("try %d: begins again at once", tries)
		}
		for _, timer := range w.Timers {
			now = timer.At
			m.Handle(now, machine.Elapsed{Key: timer.Key})
		}
	}
	if tries < 2 || p.Status != opt.PlanFailed || p.Reason != opt.Terminated {
		t.Errorf("after %d tries the plan is %s (%s)", tries, p.Status, p.Reason)
	}
}

// A plan that a client starts gets the results of the plan before it, as one that is
// started in its turn does.
func TestObjective_Message_inputsOfACommand(t *testing.T) {
	result := a2a.Artifact{ArtifactID: "a", Parts: []a2a.Part{a2a.TextPart("x")}}
	kept := machine.Kept{Objective: *objective("completed", "pending")}
	m := machine.RestoreObjective(kept, 0)
	m.State.Objective.Started, m.State.Objective.Paused = true, true // so that the plan does not start in its turn
	m.State.Objective.Plan(plan(1)).Report.Results = []a2a.Artifact{result}
	m.Handle(a2a.AtMillis(1), machine.Command{Command: opt.Command{ID: "c", Kind: opt.UpdatePlan, PlanID: plan(2), Status: "working"}})
	d := m.Message(plan(2))
	if d.Command == nil || d.Directive.Start || !cmp.Equal(d.Inputs, []a2a.Artifact{result}) {
		t.Errorf("the directive is %+v", d)
	}
}

// The root task counts an artifact as shown if the stream showed it there: if the
// plan was the last one when the work began.
func TestPlan_Handle_streamedForTheRoot(t *testing.T) {
	now := a2a.AtMillis(1)
	for _, leaf := range []bool{false, true} {
		m := &machine.Plan{State: machine.PlanState{
			Plan:   opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Name: "p", Status: opt.PlanPending, Tasks: []*opt.Task{{ID: task(1, 0), Name: "t", State: opt.TaskPending}}},
			RootID: objectiveID, First: &machine.Directed{Directive: machine.Directive{N: 1, Start: true, Leaf: leaf}},
		}}
		m.Handle(now, machine.Opened{})
		m.Handle(now, machine.Begin{})
		work := m.Wants().Activities
		if len(work) != 1 || (m.WorkOf(work[0]).RootID != "") != leaf {
			t.Fatalf("leaf %v: the work is %+v", leaf, work)
		}
		m.Handle(now, machine.Directed{Directive: machine.Directive{N: 2, Start: true, Leaf: !leaf}})
		m.Handle(now, machine.Ended{Key: work[0].Key, Outcome: opt.Outcome{
			State: opt.TaskCompleted, Artifacts: []a2a.Artifact{{ArtifactID: "a"}}, Streamed: []string{"a"},
		}})
		if shown := len(m.State.Shown) > 0; shown != leaf {
			t.Errorf("leaf %v: the root task shows %v", leaf, m.State.Shown)
		}
	}
}
