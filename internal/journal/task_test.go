package journal_test

import (
	"errors"
	"fmt"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/outbox"
	"longhaul/opt/shown"
)

// gate returns the n-th gate of a task, open since at(n).
func gate(taskID string, kind opt.GateKind, n int) *opt.Gate {
	return &opt.Gate{Kind: kind, ID: opt.GateID(taskID, n), TaskID: taskID, Title: "Sure?", Actions: []opt.Action{opt.Accept}, RequestedAt: at(int64(n))}
}

// waits returns the event that lets the m-th task of the n-th plan wait.
func (s *scribe) waits(n, m int, g *opt.Gate) opt.Event {
	e := s.moved(n, m, g.State())
	e.Gate, e.Status = g, g.Message(s.objective.ContextID, e.TaskID)
	return e
}

func TestTask_root(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		id := s.objective.ID
		message := userMessage("m-open", "Ship it, please")
		want := shown.TaskView{
			Task: a2a.Task{
				ID: id, ContextID: s.objective.ContextID,
				Status:  a2a.TaskStatus{State: a2a.Submitted, At: at(0)},
				History: []a2a.Message{message},
			},
			State: opt.TaskSubmitted, Seq: 1, ObjectiveID: id, IsRoot: true,
			Name: "Ship it", Principal: "ann", MessageID: "m-open", Digest: message.Digest(),
		}
		check := func(when string) {
			t.Helper()
			test.Equal(t, when+", root task", want, s.view(id))
		}
		check("opened")

		s.record(planAdded(s.objective, 0, 2), planAdded(s.objective, 1, 1), s.rootMoved(opt.TaskWorking))
		want.Seq, want.State, want.Task.Status = 4, opt.TaskWorking, a2a.TaskStatus{State: a2a.Working, At: at(4)}
		want.Progress = &shown.Progress{}
		check("started")

		s.record(s.moved(1, 0, opt.TaskWorking), s.moved(0, 1, opt.TaskSubmitted))
		want.Seq, want.PlanID, want.Index = 6, s.plan(0), 1
		want.Progress = &shown.Progress{Text: "Plan 0, task 1 of 2", Steps: 2}
		check("two tasks active")

		later, earlier := gate(s.task(0, 1), opt.Approval, 2), gate(s.task(1, 0), opt.Credential, 1)
		s.record(s.waits(0, 1, later), s.waits(1, 0, earlier))
		want.Seq, want.Gates = 8, []*opt.Gate{earlier, later}
		check("two gates open")

		s.record(opt.Event{Kind: opt.ObjectiveStopping, Reason: "canceled"}, s.moved(0, 1, opt.TaskCanceled))
		want.Seq, want.Gates, want.PlanID, want.Index, want.Stopping = 10, []*opt.Gate{earlier}, s.plan(1), 0, "canceled"
		want.Progress = &shown.Progress{Text: "Plan 1, task 1 of 1", Percent: 33, Steps: 2}
		check("stopping")

		s.record(s.moved(1, 0, opt.TaskCanceled), s.rootMoved(opt.TaskCanceled))
		want.Seq, want.Gates, want.PlanID, want.Stopping, want.Progress = 12, nil, "", "", nil
		want.State, want.Task.Status = opt.TaskCanceled, a2a.TaskStatus{State: a2a.Canceled, At: at(12)}
		check("canceled")
	})
}

func TestTask_ofPlan(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		added := planAdded(s.objective, 0, 2)
		id := s.task(0, 1)
		added.Plan.Tasks[1].Dependencies = []string{s.task(0, 0)}
		added.Plan.Tasks[1].Metadata = a2a.Metadata{}.With(opt.KeyOptional, true)
		s.record(added)
		want := shown.TaskView{
			Task: a2a.Task{
				ID: id, ContextID: s.objective.ContextID, Status: a2a.TaskStatus{State: a2a.Submitted, At: at(2)},
				Metadata: added.Plan.Tasks[1].Metadata,
			},
			State: opt.TaskPending, Seq: 2, ObjectiveID: s.objective.ID, PlanID: s.plan(0), Index: 1,
			Name: "Task 1", Principal: "ann", MessageID: "m-open", Digest: s.objective.Digest, Dependencies: []string{s.task(0, 0)},
		}
		check := func(when string) {
			t.Helper()
			test.Equal(t, when+", task", want, s.view(id))
		}
		check("added")

		working := s.moved(0, 1, opt.TaskWorking)
		working.Attempt = 3
		s.record(working)
		want.Seq, want.State, want.Attempt, want.Task.Status = 3, opt.TaskWorking, 3, a2a.TaskStatus{State: a2a.Working, At: at(3)}
		check("working")

		g := gate(id, opt.Approval, 1)
		s.record(s.waits(0, 1, g))
		want.Seq, want.State, want.Gates, want.Attempt = 4, opt.TaskInputRequired, []*opt.Gate{g}, 0
		want.Task.Status = a2a.TaskStatus{State: a2a.InputRequired, At: at(4), Message: g.Message(s.objective.ContextID, id)}
		check("waiting")

		s.record(opt.Event{Kind: opt.PlanStopping, PlanID: s.plan(0), Reason: "failed"})
		want.Seq, want.Stopping = 5, "failed"
		check("stopping")

		failed := s.moved(0, 1, opt.TaskFailed)
		failed.Status = agentMessage("end", "It broke.")
		s.record(failed)
		want.Seq, want.State, want.Gates, want.Stopping = 6, opt.TaskFailed, nil, ""
		want.Task.History = []a2a.Message{*want.Task.Status.Message}
		want.Task.Status = a2a.TaskStatus{State: a2a.Failed, At: at(6), Message: failed.Status}
		check("failed")
	})
}

// TestTask_statusTime checks that the time of a status changes only with the
// state, and never goes back.
func TestTask_statusTime(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		for i, tt := range []struct {
			to       opt.TaskState
			at, want int64
		}{
			{opt.TaskWorking, 100, 100},
			{opt.TaskInputRequired, 200, 200},
			{opt.TaskInputRequired, 300, 200}, // another gate, the same state
			{opt.TaskWorking, 150, 200},       // a clock that went back
			{opt.TaskCompleted, 400, 400},
		} {
			e := s.rootMoved(tt.to)
			e.At = at(tt.at)
			s.record(e)
			test.Is(t, fmt.Sprintf("step %d: status since", i), at(tt.want), s.view(s.objective.ID).Task.Status.At)
		}
	})
}

// TestTenants checks that the id of another tenant and an unknown id give the
// same answer.
func TestTenants(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		s := begin(t, j, newObjective())
		s.record(planAdded(s.objective, 0, 1))
		ctx := t.Context()
		task := func(tenant, id string) error { _, err := j.Task(ctx, tenant, id, shown.TaskWant{}); return err }
		peek := func(tenant, id string) error { _, _, err := j.Peek(ctx, tenant, id); return err }
		objective := func(tenant, id string) error { _, err := j.Objective(ctx, tenant, id); return err }
		kept := func(tenant, id string) error { _, err := j.Kept(ctx, tenant, id); return err }
		decisions := func(tenant, id string) error { _, err := j.Decisions(ctx, tenant, id, 0, 1); return err }
		pushes := func(tenant, id string) error { _, err := j.Pushes.Pushes(ctx, tenant, id); return err }
		deliveries := func(tenant, id string) error { _, err := j.Pushes.Deliveries(ctx, tenant, id); return err }
		redeliver := func(tenant, id string) error { return j.Pushes.Redeliver(ctx, tenant, id, "a", 2) }
		put(t, j, outbox.PushConfig{Tenant: tenant, TaskID: s.objective.ID, ID: "a", States: outbox.PushAll, URL: "https://example.com/a"})
		tests := []struct {
			name, id string
			read     func(tenant, id string) error
			foreign  error
		}{
			{"task", s.task(0, 0), task, nil},
			{"root task", s.objective.ID, task, nil},
			{"peek", s.objective.ID, peek, nil},
			{"objective", s.objective.ID, objective, nil},
			{"kept", s.objective.ID, kept, nil},
			{"decisions", s.objective.ID, decisions, nil},
			{"pushes", s.objective.ID, pushes, nil},
			{"deliveries", s.objective.ID, deliveries, nil},
			{"redeliver", s.objective.ID, redeliver, nil},
		}
		for i, tt := range tests {
			test.Error(t, tt.name, nil, tt.read(tenant, tt.id))
			tests[i].foreign = tt.read("globex", tt.id)
		}
		test.OK(t, j.Script(ctx, "DELETE FROM objectives; DELETE FROM plans; DELETE FROM tasks"))
		for _, tt := range tests {
			missing := tt.read("globex", tt.id)
			if !errors.Is(missing, opt.ErrUnknown) || !errors.Is(tt.foreign, opt.ErrUnknown) || missing.Error() != tt.foreign.Error() {
				t.Errorf("%s: missing %q, another tenant's %q", tt.name, missing, tt.foreign)
			}
		}
	})
}
