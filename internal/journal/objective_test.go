package journal_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/opt"
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
			got, err := s.j.Objective(t.Context(), tenant, o.ID)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s, objective mismatch (-want +got):\n%s", when, diff)
			}
			p, err := s.j.Plan(t.Context(), tenant, first.PlanID)
			if diff := cmp.Diff(want.Plans[1], p, cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("%s, plan mismatch, %v (-want +got):\n%s", when, err, diff)
			}
		}
		check("planned")

		g := gate(s.task(0, 0), opt.Approval, 1)
		shows := s.rootMoved(opt.TaskInputRequired)
		shows.Gate = g
		s.record(
			opt.Event{Kind: opt.ObjectiveMoved, To: "blocked", Reason: "operator"}, // at 4
			opt.Event{Kind: opt.PlanMoved, PlanID: s.plan(0), To: "working"},
			s.waits(0, 0, g), // at 6
			opt.Event{Kind: opt.PlanMoved, PlanID: s.plan(0), To: "blocked", Reason: "input"},
			opt.Event{Kind: opt.PlanStopping, PlanID: s.plan(1), Reason: "failed"},
			shows,
		)
		want.Status, want.Reason, want.Started, want.UpdatedAt = opt.ObjectiveBlocked, "operator", true, at(4)
		want.Root, want.RootGate = opt.TaskInputRequired, g.ID
		first.Plan.Status, first.Plan.Reason, first.Plan.Started, first.Plan.UpdatedAt = opt.PlanBlocked, "input", true, at(7)
		first.Plan.Tasks[0].State, first.Plan.Tasks[0].Gate = opt.TaskInputRequired, g
		second.Plan.Stopping = "failed"
		check("blocked")

		failed := s.moved(0, 0, opt.TaskFailed)
		failed.Reason, failed.Status = "timeout", agentMessage("end", "It took too long.")
		ended := opt.Event{Kind: opt.ObjectiveMoved, To: "failed", Reason: "timeout", Status: agentMessage("end", "It failed.")}
		s.record(failed, opt.Event{Kind: opt.ObjectiveStopping, Reason: "failed"}, ended) // at 10, 11 and 12
		want.Status, want.Reason, want.Failure, want.Stopping, want.UpdatedAt = opt.ObjectiveFailed, "timeout", "It failed.", "failed", at(12)
		task := first.Plan.Tasks[0]
		task.State, task.Gate, task.Reason, task.Failure = opt.TaskFailed, nil, "timeout", "It took too long."
		first.Plan.UpdatedAt = at(10)
		check("failed")
	})
}

// What was completed before a new attempt does not begin it: nothing follows from
// it at once.
func TestObjective_again(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		o := newObjective()
		s := begin(t, open(), o)
		s.record(
			planAdded(o, 0, 1), planAdded(o, 1, 1),
			opt.Event{Kind: opt.ObjectiveMoved, To: "working"},
			opt.Event{Kind: opt.PlanMoved, PlanID: s.plan(0), To: "completed"},
			opt.Event{Kind: opt.PlanMoved, PlanID: s.plan(1), To: "failed"},
			opt.Event{Kind: opt.ObjectiveMoved, To: "failed"},
			opt.Event{Kind: opt.ObjectiveRetried, From: "failed", To: "submitted", Attempt: 2},
			opt.Event{Kind: opt.PlanRetried, PlanID: s.plan(1), Attempt: 2},
		)
		got, err := s.j.Objective(t.Context(), tenant, o.ID)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Plans[0].Kept || got.Plans[1].Kept || got.Plans[0].Status != opt.PlanCompleted {
			t.Errorf("plans are %+v, %+v", got.Plans[0], got.Plans[1])
		}
		if next := got.Next(at(99)); len(next) > 0 {
			t.Errorf("what follows is %+v", next)
		}
	})
}

// Whether an objective was started is the same as in the model.
func TestObjective_started(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		for _, move := range [][2]string{
			{"submitted", ""}, {"working", "by-hand"}, {"blocked", "input"}, {"blocked", "plan-paused"}, {"blocked", "operator"}, {"working", ""}, {"planning", ""},
		} {
			o := newObjective()
			s := begin(t, open(), o)
			e := opt.Event{Kind: opt.ObjectiveMoved, To: move[0], Reason: move[1]}
			s.record(e)
			got, err := s.j.Objective(t.Context(), tenant, o.ID)
			if err != nil {
				t.Fatal(err)
			}
			o.Status = opt.ObjectiveStatus(move[0]) // staying is always allowed
			if err := o.Apply(e); err != nil || o.Started != got.Started {
				t.Errorf("%s: started is %v, in the model %v: %v", move, got.Started, o.Started, err)
			}
		}
	})
}

// TestPlan_sameAsModel lets random things happen to plans. What is read must be
// what the model has come to, since clients and the workflow talk about the
// same plan.
func TestPlan_sameAsModel(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		for seed := range uint64(40) {
			sameAsModel(t, j, seed)
		}
	})
}

func sameAsModel(t *testing.T, j *journal.Journal, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 0))
	s := begin(t, j, newObjective())
	added := planAdded(s.objective, 0, 1+random.IntN(6))
	p := new(opt.Plan)
	*p = *added.Plan
	p.Tasks = nil
	for _, task := range added.Plan.Tasks {
		if random.IntN(4) == 0 {
			task.Metadata = a2a.Metadata{}.With(opt.KeyOptional, true)
		}
		own := *task
		p.Tasks = append(p.Tasks, &own)
	}
	s.record(added)
	now := int64(10)
	happens := func(e opt.Event) {
		now++
		e.At = at(now)
		if err := p.Apply(e); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		s.record(e)
	}
	p.Started = true
	happens(opt.Event{Kind: opt.PlanMoved, PlanID: p.ID, To: "working"})
	for step := 0; step < 200 && !p.Settled(); step++ {
		for _, task := range p.Ready() {
			happens(s.moved(0, task.Index, opt.TaskWorking))
		}
		if task := p.Tasks[random.IntN(len(p.Tasks))]; !task.State.Ended() && task.State != opt.TaskPending {
			to := []opt.TaskState{opt.TaskCompleted, opt.TaskFailed, opt.TaskInputRequired, opt.TaskWorking}[random.IntN(4)]
			e := s.moved(0, task.Index, to)
			switch {
			case !task.State.May(to):
				continue
			case to == opt.TaskInputRequired && task.Gate == nil:
				e = s.waits(0, task.Index, gate(task.ID, opt.Approval, task.Gates+1))
			case to == opt.TaskInputRequired:
				continue
			case to == opt.TaskFailed:
				e.Reason, e.Status = "failed", agentMessage("end", fmt.Sprint("It broke at ", step))
			}
			happens(e)
		}
		for events := p.Next(at(now)); len(events) > 0; events = p.Next(at(now)) {
			for _, e := range events {
				happens(e)
			}
		}
	}
	got, err := j.Plan(t.Context(), tenant, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	onlyWorkflow := cmpopts.IgnoreFields(opt.Task{}, "Gates")
	if diff := cmp.Diff(p, got, onlyWorkflow, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("seed %d: the plan that is read is not the one that was decided (-decided +read):\n%s", seed, diff)
	}
}

// TestSnapshot reads tasks while they change. A view and the events up to its
// seq must tell the same, since a stream goes on from there.
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
				t.Fatalf("at seq %d: %s, the events tell of %s", v.Seq, got, want)
			}
		}
	})
}

// pieces counts what an artifact was put together from.
func pieces(artifacts []a2a.Artifact) (n int) {
	for _, a := range artifacts {
		n += strings.Count(a.Text(), "piece")
	}
	return n
}

// told counts what the root task must show after the event seq.
func told(events []opt.Recorded, seq int64) string {
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

// What a task is linked to is read with it.
func TestPlan_link(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		s.record(planAdded(s.objective, 0, 2))
		for _, follow := range []bool{true, false} {
			s.record(opt.Event{Kind: opt.TaskLinked, PlanID: s.plan(0), TaskID: s.task(0, 1), Link: "other", Follow: follow})
			p, err := s.j.Plan(t.Context(), tenant, s.plan(0))
			if err != nil {
				t.Fatal(err)
			}
			if p.Tasks[0].Link != "" || p.Tasks[1].Link != "other" || p.Tasks[1].Follow != follow {
				t.Errorf("tasks are %+v and %+v", p.Tasks[0], p.Tasks[1])
			}
		}
	})
}

// What a plan depends on is read as its objective has changed it, with the rest.
func TestPlan_reordered(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		s.record(planAdded(s.objective, 0, 1), planAdded(s.objective, 1, 1))
		name := "Renamed"
		for _, on := range [][]string{{s.plan(0)}, {}} {
			s.record(opt.Event{Kind: opt.PlanChanged, PlanID: s.plan(1), Change: &opt.Change{Name: &name, Dependencies: on}})
			o, err := s.j.Objective(t.Context(), tenant, s.objective.ID)
			if err != nil {
				t.Fatal(err)
			}
			if p := o.Plans[1]; !p.DependsOn(on) || p.Name != name {
				t.Errorf("the plan is %+v, want it to depend on %v", p, on)
			}
		}
	})
}
