package journal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

func TestObjective(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		o := newObjective()
		o.Description, o.Metadata = "by <Friday> & not later", a2a.Metadata{}.With("n", 1)
		s := begin(t, open(), o)
		want := s.objective
		second, first := planAdded(o, 1, 1), planAdded(o, 0, 12)
		first.Plan.Tasks[1].Dependencies = []string{s.task(0, 0)}
		first.Plan.Tasks[1].Input = []byte(`{"a":1.50}`)
		s.record(second, first)
		want.Plans, want.UpdatedAt = []*opt.Plan{second.Plan, first.Plan}, at(3)
		second.Plan.UpdatedAt, first.Plan.UpdatedAt = at(2), at(3)
		check := func(when string) {
			t.Helper()
			got := test.Value(s.j.Objective(t.Context(), tenant, o.ID))(t)
			test.Equal(t, when+", objective", &want, got, cmpopts.EquateEmpty())
		}
		check("planned")

		g := gate(s.task(0, 0), opt.Approval, 1)
		shows := s.rootMoved(opt.TaskInputRequired)
		shows.Gate = g
		s.record(
			opt.Event{Kind: opt.ObjectiveMoved, To: "blocked", Reason: "operator"}, opt.Event{Kind: opt.ObjectivePaused}, // at 4 and 5
			opt.Event{Kind: opt.PlanStarted, PlanID: s.plan(0)},
			opt.Event{Kind: opt.PlanMoved, PlanID: s.plan(0), To: "working"},
			opt.Event{Kind: opt.PlanPaused, PlanID: s.plan(1), Reason: opt.PausedByClient}, // at 8
			s.waits(0, 0, g),
			opt.Event{Kind: opt.PlanMoved, PlanID: s.plan(0), To: "blocked", Reason: "input"},
			opt.Event{Kind: opt.PlanStopping, PlanID: s.plan(1), Reason: "failed"},
			shows,
		)
		want.Status, want.Reason, want.Started, want.Paused, want.UpdatedAt = opt.ObjectiveBlocked, "operator", true, true, at(5)
		want.Root, want.RootGate = opt.TaskInputRequired, g.ID
		first.Plan.Status, first.Plan.Reason, first.Plan.Started, first.Plan.UpdatedAt = opt.PlanBlocked, "input", true, at(10)
		first.Plan.Tasks[0].State, first.Plan.Tasks[0].Gate = opt.TaskInputRequired, g
		second.Plan.Paused, second.Plan.Stopping, second.Plan.UpdatedAt = true, "failed", at(11)
		check("blocked")

		failed := s.moved(0, 0, opt.TaskFailed)
		failed.Reason, failed.Status = "timeout", agentMessage("end", "It took too long.")
		ended := opt.Event{Kind: opt.ObjectiveMoved, To: "failed", Reason: "timeout", Status: agentMessage("end", "It failed.")}
		s.record(failed, opt.Event{Kind: opt.ObjectiveResumed}, opt.Event{Kind: opt.ObjectiveStopping, Reason: "failed"}, ended) // at 13 to 16
		want.Status, want.Reason, want.Failure, want.Stopping, want.UpdatedAt = opt.ObjectiveFailed, "timeout", "It failed.", "failed", at(16)
		want.Paused = false
		task := first.Plan.Tasks[0]
		task.State, task.Gate, task.Reason, task.Failure = opt.TaskFailed, nil, "timeout", "It took too long."
		first.Plan.UpdatedAt = at(13)
		check("failed")
	})
}

// A new attempt has a new root task, and the plans that are retried have new
// tasks. Completed plans do not change.
func TestObjective_retried(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		o := newObjective()
		s := begin(t, open(), o)
		pending := &opt.Task{ID: s.task(1, 0), Name: "Task 0", State: opt.TaskPending, Run: 2, Link: "other", Follow: true}
		s.record(
			planAdded(o, 0, 1), planAdded(o, 1, 1),
			opt.Event{Kind: opt.ObjectiveMoved, To: "working"},
			opt.Event{Kind: opt.PlanMoved, PlanID: s.plan(0), To: "completed"},
			s.moved(1, 0, opt.TaskFailed),
			opt.Event{Kind: opt.PlanStopping, PlanID: s.plan(1), Reason: "failed"},
			opt.Event{Kind: opt.PlanMoved, PlanID: s.plan(1), To: "failed"},
			opt.Event{Kind: opt.ObjectiveStopping, Reason: "failed"},
			opt.Event{Kind: opt.ObjectiveMoved, To: "failed"},
			s.rootMoved(opt.TaskFailed),
		)
		old := s.view(o.ID)
		s.record(
			opt.Event{Kind: opt.ObjectiveRetried, From: "failed", To: "submitted", Attempt: 2},
			opt.Event{Kind: opt.PlanRetried, PlanID: s.plan(1), Attempt: 2, Tasks: []*opt.Task{pending}},
		)
		got := test.Value(s.j.Objective(t.Context(), tenant, o.ID))(t)
		want := s.objective
		want.Attempt, want.UpdatedAt = 2, at(12) // the head of the former attempt is replaced
		completed, again := planAdded(o, 0, 1).Plan, planAdded(o, 1, 0).Plan
		completed.Status, completed.UpdatedAt = opt.PlanCompleted, at(5)
		again.Run, again.UpdatedAt, again.Tasks = 2, at(13), []*opt.Task{pending}
		plans := got.Plans
		got.Plans = nil
		test.Equal(t, "objective", &want, got, cmpopts.EquateEmpty())
		test.Equal(t, "plans", []*opt.Plan{completed, again}, plans, cmpopts.EquateEmpty())
		if v := s.view(pending.A2AID()); v.State != opt.TaskPending || v.Index != 0 || v.PlanID != s.plan(1) {
			t.Errorf("the task of the second attempt is %+v", v)
		}
		old.Seq, old.RetriedBy = old.Seq+2, opt.RootID(o.ID, 2)
		test.Equal(t, "root task of the first attempt", old, s.view(o.ID))
		v := s.view(opt.RootID(o.ID, 2))
		if v.State != opt.TaskSubmitted || !v.IsRoot || v.MessageID != old.MessageID || v.Digest != old.Digest || v.Task.Status.At != at(12) {
			t.Errorf("root task of the second attempt: %+v", v)
		}
	})
}

// TestSnapshot reads tasks while they change. A view must agree with the events
// up to its seq, since a stream continues from there.
func TestSnapshot(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		writer := begin(t, open(), newObjective())
		writer.record(planAdded(writer.objective, 0, 2))
		reader := writer.as("", open())
		done := make(chan bool)
		go func() {
			defer close(done)
			for n := range 150 {
				g := gate(writer.task(0, n%2), opt.Approval, n)
				writer.record(writer.waits(0, n%2, g))
				writer.record(said(writer.objective.ID, g.TaskID, fmt.Sprint("m-", n), opt.Accepted))
				e := writer.piece(0, n%2, fmt.Sprint("a-", n%2), "piece", true)
				e.RootID = writer.objective.ID
				writer.record(e)
				writer.record(writer.moved(0, n%2, opt.TaskWorking))
			}
		}()
		for running := true; running; {
			select {
			case <-done:
				running = false
			default:
			}
			v := reader.view(writer.objective.ID)
			got := fmt.Sprint(pieces(v.Task.Artifacts), " pieces, ", len(v.Task.History), " messages, ", len(v.Gates), " gates")
			if want := told(reader.events(), v.Seq); got != want {
				t.Fatalf("at seq %d: %s, the events have %s", v.Seq, got, want)
			}
		}
	})
}

// pieces counts the pieces of artifacts.
func pieces(artifacts []a2a.Artifact) (n int) {
	for _, a := range artifacts {
		n += strings.Count(a.Text(), "piece")
	}
	return n
}

// told counts the pieces that the root task must show after the event seq.
func told(events []shown.Recorded, seq int64) string {
	pieces, messages, gates := 0, 0, map[string]bool{}
	for _, e := range events {
		if e.Seq > seq {
			break
		}
		switch e.Event.Kind {
		case opt.ObjectiveOpened, opt.MessageAdded:
			messages++
		case opt.ArtifactAdded:
			pieces++
		case opt.TaskMoved:
			delete(gates, e.Event.TaskID)
			if e.Event.Gate != nil {
				gates[e.Event.TaskID] = true
			}
		}
	}
	return fmt.Sprint(pieces, " pieces, ", messages, " messages, ", len(gates), " gates")
}

// Changed dependencies of a plan are read with the plan.
func TestPlan_reordered(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		s.record(planAdded(s.objective, 0, 1), planAdded(s.objective, 1, 1))
		name := "Renamed"
		for _, on := range [][]string{{s.plan(0)}, {}} {
			s.record(opt.Event{Kind: opt.PlanChanged, PlanID: s.plan(1), Change: &opt.Change{Name: &name, Dependencies: on}})
			o := test.Value(s.j.Objective(t.Context(), tenant, s.objective.ID))(t)
			if p := o.Plans[1]; !p.DependsOn(on) || p.Name != name {
				t.Errorf("the plan is %+v, want it to depend on %v", p, on)
			}
		}
	})
}
