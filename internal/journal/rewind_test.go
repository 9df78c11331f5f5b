package journal_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A plan that was set back shows what its workflow knows: tasks are where they were, gates
// that are gone are closed, and new ones are open. The events from before stay.
func TestRecord_planRewound(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		s.record(planAdded(s.objective, 0, 3))
		plan := s.as(s.plan(0), s.j)
		gate := &opt.Gate{Kind: opt.Approval, ID: opt.GateID(s.task(0, 0), 1), TaskID: s.task(0, 0), Title: "Ship?"}
		asked, later := s.moved(0, 0, opt.TaskInputRequired), s.moved(0, 1, opt.TaskInputRequired)
		asked.Gate, asked.Status = gate, gate.Message("", "")
		later.Gate = &opt.Gate{Kind: opt.Approval, ID: opt.GateID(s.task(0, 1), 1), TaskID: s.task(0, 1)}
		piece := s.piece(0, 0, "a", "made", false)
		plan.record(opt.Event{Kind: opt.PlanStarted, PlanID: s.plan(0)}, s.moved(0, 0, opt.TaskWorking), asked,
			s.moved(0, 0, opt.TaskWorking), piece, s.moved(0, 0, opt.TaskCompleted), s.moved(0, 1, opt.TaskWorking), later,
			opt.Event{Kind: opt.TasksAdded, PlanID: s.plan(0), Tasks: []*opt.Task{{ID: s.task(0, 3), Index: 3, State: opt.TaskPending}}},
			opt.Event{Kind: opt.TasksOrdered, PlanID: s.plan(0), Order: []opt.TaskOrder{{ID: s.task(0, 2), Dependencies: []string{s.task(0, 0)}}}})

		p := planAdded(s.objective, 0, 3).Plan
		p.Started, p.Status = true, opt.PlanBlocked
		p.Tasks[0].State, p.Tasks[0].Gate = opt.TaskInputRequired, gate
		again := s.as(s.plan(0)+"@2", s.j)
		again.n = 2
		b := again.batch(opt.Event{Kind: opt.SourceRewound, Epoch: 2, PlanID: s.plan(0), Plan: p, PlanHead: p.Head(), At: at(50)}, opt.Event{
			Kind: opt.MessageAdded, PlanID: s.plan(0), TaskID: s.task(0, 0), Message: new(userMessage("m-1", "Go on")), Verdict: opt.Noted, At: at(51),
		})
		for range 2 {
			test.OK(t, s.j.Record(t.Context(), b))
		}
		v := s.view(s.task(0, 0))
		if v.State != opt.TaskInputRequired || len(v.Gates) != 1 || v.Gates[0].ID != gate.ID || len(v.Task.Artifacts) != 0 || v.Task.Status.Message.Text() != gate.Message("", "").Text() {
			t.Errorf("the first task is %s with %d gates and %d artifacts, want the open gate", v.State, len(v.Gates), len(v.Task.Artifacts))
		}
		if v := s.view(s.task(0, 1)); v.State != opt.TaskPending || len(v.Gates) != 0 {
			t.Errorf("the second task is %s with %d gates, want pending", v.State, len(v.Gates))
		}
		fails(t, "the task that was added is there", opt.ErrUnknown)(s.j.Task(t.Context(), tenant, s.task(0, 3), shown.TaskWant{}))
		if v := s.view(s.task(0, 2)); v.Dependencies != nil {
			t.Errorf("the third task waits for %q, want what comes before it in the list", v.Dependencies)
		}
		test.Is(t, "events", 14, len(s.events()))

		stale := plan.batch(s.moved(0, 1, opt.TaskWorking))
		before := dump(t, s.j)
		refused, ok := errors.AsType[*opt.RewoundError](s.j.Record(t.Context(), stale))
		if !ok || refused.Epoch != 2 {
			t.Errorf("an event of the epoch before: %v, want a refusal with epoch 2", refused)
		}
		gap := opt.Batch{ObjectiveID: s.objective.ID, Source: s.plan(0) + "@3", Events: stale.Events}
		fails(t, "an epoch without its beginning", journal.ErrGap)(s.j.Record(t.Context(), gap))
		test.Equal(t, "something changed", before, dump(t, s.j))
		again.record(s.moved(0, 0, opt.TaskWorking))
		kept, err := s.j.Kept(t.Context(), tenant, s.objective.ID)
		if err != nil || kept.Epochs[s.plan(0)] != 2 || kept.Recorded[s.plan(0)+"@2"] != 5 {
			t.Errorf("kept epochs %v and numbers %v, error %v", kept.Epochs, kept.Recorded, err)
		}
	})
}

// A workflow that was reset twice from the same run begins the same epoch twice. The journal refuses the second one with
// the latest epoch, above which the workflow begins another, also if its number does not follow on the first one.
func TestRecord_resetTwice(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		s.record(planAdded(s.objective, 0, 1))
		p := planAdded(s.objective, 0, 1).Plan
		plan := s.as(s.plan(0), s.j)
		plan.record(opt.Event{Kind: opt.PlanStarted, PlanID: s.plan(0)}, s.moved(0, 0, opt.TaskWorking))
		rewound := func(epoch int, n int64) error {
			again := s.as(opt.InEpoch(s.plan(0), epoch), s.j)
			again.n = n - 1
			return s.j.Record(t.Context(), again.batch(opt.Event{Kind: opt.SourceRewound, Epoch: epoch, PlanID: s.plan(0), Plan: p, PlanHead: p.Head(), At: at(50 + n)}))
		}
		test.OK(t, rewound(2, 2))
		for _, n := range []int64{1, 3, 5} {
			refused, ok := errors.AsType[*opt.RewoundError](rewound(2, n))
			if !ok || refused.Epoch != 2 {
				t.Errorf("event %d begins the epoch again: %v, want a refusal with epoch 2", n, refused)
			}
		}
		test.OK(t, rewound(3, 5))
	})
}

// An objective that was set back loses the plans that its workflow does not know; a plan without
// a workflow is as it was added.
func TestRecord_objectiveRewound(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		s.record(planAdded(s.objective, 0, 1), planAdded(s.objective, 1, 1), opt.Event{Kind: opt.ObjectiveMoved, To: "working"}, s.rootMoved(opt.TaskWorking))
		plan := s.as(s.plan(0), s.j)
		plan.record(opt.Event{Kind: opt.PlanStarted, PlanID: s.plan(0)}, s.moved(0, 0, opt.TaskWorking), s.piece(0, 0, "a", "made", false), s.moved(0, 0, opt.TaskCompleted),
			opt.Event{Kind: opt.PlanMoved, PlanID: s.plan(0), To: "completed"})
		s.record(s.rootMoved(opt.TaskFailed), opt.Event{Kind: opt.ObjectiveMoved, To: "failed"},
			opt.Event{Kind: opt.CommandAnswered, Answer: &opt.CommandAnswer{CommandID: "c-1"}})

		o := s.objective
		o.Status, o.Root, o.Started, o.Name = opt.ObjectiveWorking, opt.TaskWorking, true, "As it was"
		o.Plans = []*opt.Plan{planAdded(s.objective, 0, 1).Plan}
		s.setBack(o)

		got := test.Value(s.j.Objective(t.Context(), tenant, o.ID))(t)
		if got.Status != opt.ObjectiveWorking || got.Attempt != 1 || got.Root != opt.TaskWorking || got.Name != o.Name || len(got.Plans) != 1 {
			t.Errorf("objective %q %s at attempt %d, root task %s, %d plans", got.Name, got.Status, got.Attempt, got.Root, len(got.Plans))
		}
		if p := got.Plans[0]; p.Status != opt.PlanPending || p.Started || len(p.Tasks) != 1 || p.Tasks[0].State != opt.TaskPending {
			t.Errorf("plan %s with %v, want pending ones", p.Status, p.Tasks)
		}
		if v := s.view(s.task(0, 0)); len(v.Task.Artifacts) != 0 {
			t.Error("the task still has its artifact")
		}
		fails(t, "the task of the other plan is there", opt.ErrUnknown)(s.j.Task(t.Context(), tenant, s.task(1, 0), shown.TaskWant{}))
		if _, found, err := s.j.Answer(t.Context(), o.ID, "c-1"); !found || err != nil {
			t.Errorf("the answer to a command is gone, error %v", err)
		}
	})
}

// A retry is not taken back: a workflow that was reset to before one, of its objective or of a plan,
// has to end.
func TestRecord_resetToBeforeARetry(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		s.record(planAdded(s.objective, 0, 1), opt.Event{Kind: opt.PlanMoved, PlanID: s.plan(0), To: "failed"})
		planBefore := planAdded(s.objective, 0, 1).Plan
		planBefore.Status = opt.PlanFailed
		before := s.objective
		before.Status, before.Root, before.Plans = opt.ObjectiveFailed, opt.TaskFailed, []*opt.Plan{planBefore}
		refuse := func(what, source string, first opt.Event) {
			t.Helper()
			was := dump(t, s.j)
			of := s.as(source, s.j)
			of.n = 1
			refused, ok := errors.AsType[*opt.RewoundError](s.j.Record(t.Context(), of.batch(first)))
			if !ok || !refused.Unknown {
				t.Errorf("%s: %v, want a refusal for good", what, refused)
			}
			test.Equal(t, what+" has changed something", was, dump(t, s.j))
		}
		ofObjective := opt.Event{Kind: opt.SourceRewound, Epoch: 2, Objective: &before, Head: before.Head(), Text: before.Text(), At: at(50)}
		ofPlan := opt.Event{Kind: opt.SourceRewound, Epoch: 2, PlanID: s.plan(0), Plan: planBefore, PlanHead: planBefore.Head(), At: at(50)}

		reset := s.as(opt.InEpoch(s.plan(1), 2), s.j) // which has begun its epoch before the retry
		s.record(planAdded(s.objective, 1, 1))
		other := planAdded(s.objective, 1, 1).Plan
		reset.record(opt.Event{Kind: opt.SourceRewound, Epoch: 2, PlanID: s.plan(1), Plan: other, PlanHead: other.Head(), At: at(50)})
		otherAgain := *other
		otherAgain.Run = 2
		s.record(opt.Event{Kind: opt.PlanRetried, PlanID: s.plan(1), Attempt: 2, PlanHead: otherAgain.Head()})
		was := dump(t, s.j)
		refused, ok := errors.AsType[*opt.RewoundError](s.j.Record(t.Context(), reset.batch(s.moved(1, 0, opt.TaskWorking))))
		if !ok || !refused.Unknown {
			t.Errorf("what a plan does after its retry: %v, want a refusal for good", refused)
		}
		test.Equal(t, "a plan that was reset has changed its later attempt", was, dump(t, s.j))

		again := *planBefore
		again.Run, again.Status = 2, opt.PlanPending
		s.record(opt.Event{Kind: opt.PlanRetried, PlanID: s.plan(0), Attempt: 2, PlanHead: again.Head()})
		refuse("an objective before the retry of its plan", s.objective.ID+"@2", ofObjective)
		refuse("a plan before its retry", s.plan(0)+"@2", ofPlan)

		retried := before
		retried.Attempt, retried.Plans = 2, []*opt.Plan{&again}
		s.record(opt.Event{Kind: opt.ObjectiveRetried, Attempt: 2, TaskID: opt.RootID(s.objective.ID, 2), Head: retried.Head()})
		before.Plans[0] = &again
		refuse("an objective before its retry", s.objective.ID+"@2", ofObjective)
	})
}

// A plan that does not know the epoch of its objective yet cannot record what the objective was set
// back to before: the plan itself, or a task. One that knows it comes too early.
func TestRecord_goneWithTheObjective(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		s.record(planAdded(s.objective, 0, 1), planAdded(s.objective, 1, 1))
		o := s.objective
		o.Plans = []*opt.Plan{planAdded(s.objective, 0, 1).Plan}
		s.setBack(o)
		for place, e := range []opt.Event{s.moved(0, 7, opt.TaskWorking), s.moved(1, 0, opt.TaskWorking)} {
			b := s.as(s.plan(place), s.j).batch(e)
			refused, ok := errors.AsType[*opt.RewoundError](s.j.Record(t.Context(), b))
			if !ok || refused.Source != b.Source || refused.Unknown != (place == 1) {
				t.Errorf("the event of plan %d is refused with %+v", place, refused)
			}
			b.Under = 2
			if err := s.j.Record(t.Context(), b); !errors.Is(err, journal.ErrEarly) || errors.Is(err, journal.ErrContradiction) {
				t.Errorf("plan %d, which knows the epoch: %v", place, err)
			}
		}
	})
}

// A plan that has recorded the end that its objective knows shows the rest of its own state: the
// objective only knows what it asked for.
func TestRecord_objectiveRewoundAfterAPlan(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		s.record(planAdded(s.objective, 0, 1), opt.Event{Kind: opt.ObjectiveMoved, To: "working"})
		head := opt.PlanHead{Status: opt.PlanSkipped, Reason: opt.Replanned, Stopping: opt.Replanned}
		s.as(s.plan(0), s.j).record(opt.Event{Kind: opt.PlanMoved, PlanID: s.plan(0), To: "skipped", PlanHead: &head})
		o := s.objective
		p := planAdded(s.objective, 0, 1).Plan
		p.Status, p.Reason, p.Started, p.Tasks = head.Status, head.Reason, true, nil
		o.Status, o.Plans = opt.ObjectiveWorking, []*opt.Plan{p}
		s.setBack(o)
		got := test.Value(s.j.Objective(t.Context(), tenant, o.ID))(t)
		test.Equal(t, "head", &head, got.Plans[0].Head())
	})
}

// The decisions of an epoch are a chain of their own, beside those from before.
func TestDecisions_epochs(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		s.record(planAdded(s.objective, 0, 1))
		decide := func(c *opt.Chain, epoch int, id string) opt.Event {
			return opt.Event{
				Kind: opt.MessageAdded, PlanID: s.plan(0), TaskID: s.task(0, 0), Message: new(userMessage(id, "Yes")), Verdict: opt.Accepted,
				Reply: &opt.Reply{}, Decision: c.Add(opt.Decision{ObjectiveID: s.objective.ID, PlanID: s.plan(0), Attempt: 1, Epoch: epoch, TaskID: s.task(0, 0), DecidedAt: a2a.AtMillis(1)}),
			}
		}
		var first, second opt.Chain
		s.as(s.plan(0), s.j).record(decide(&first, 0, "m-1"), decide(&first, 0, "m-2"))
		p := planAdded(s.objective, 0, 1).Plan
		s.as(s.plan(0)+"@2", s.j).record(opt.Event{Kind: opt.SourceRewound, Epoch: 2, PlanID: s.plan(0), Plan: p, PlanHead: p.Head()}, decide(&second, 2, "m-3"))
		page := test.Value(s.j.Decisions(t.Context(), tenant, s.objective.ID, 0, 10))(t)
		var chains opt.Chains
		for _, d := range page.Decisions {
			test.Error(t, "the call", nil, chains.Add(a2a.DataPart(d).Data))
		}
		if err := chains.End(page.Head); err != nil || len(page.Head.Chains) != 2 {
			t.Errorf("%d chains, error %v", len(page.Head.Chains), err)
		}
	})
}

// A gate that was set back has lost the exchanges that its plan does not know, and takes others.
func TestRecord_gateRewound(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		s.record(planAdded(s.objective, 0, 1))
		plan, gate := s.as(s.plan(0), s.j), &opt.Gate{Kind: opt.Approval, ID: opt.GateID(s.task(0, 0), 1), TaskID: s.task(0, 0), Title: "Ship?"}
		asked := s.moved(0, 0, opt.TaskInputRequired)
		asked.Gate, asked.Status = gate, gate.Message("", "")
		exchange := func(id string) opt.Event {
			by := gate.WithNote(opt.Exchange{MessageID: id, Question: "About " + id})
			return opt.Event{Kind: opt.ExchangeAdded, PlanID: s.plan(0), TaskID: gate.TaskID, From: asked.To, To: asked.To, Gate: by, At: at(51)}
		}
		plan.record(opt.Event{Kind: opt.PlanStarted, PlanID: s.plan(0)}, s.moved(0, 0, opt.TaskWorking), asked, exchange("m-1"))
		want := gate.Extended(*exchange("m-1").Gate)
		test.Equal(t, "the gate after an exchange", []*opt.Gate{want}, s.view(gate.TaskID).Gates)
		test.Equal(t, "the message after an exchange", opt.GateIn(*want.Message("", "")), opt.GateIn(*s.view(gate.TaskID).Task.Status.Message))
		p := planAdded(s.objective, 0, 1).Plan
		p.Started, p.Status, p.Tasks[0].State, p.Tasks[0].Gate = true, opt.PlanBlocked, opt.TaskInputRequired, gate
		again := s.as(s.plan(0)+"@2", s.j)
		again.n = 2
		again.record(opt.Event{Kind: opt.SourceRewound, Epoch: 2, PlanID: s.plan(0), Plan: p, PlanHead: p.Head(), At: at(50)}, exchange("m-2"))
		test.Equal(t, "the gate that was set back", []*opt.Gate{gate.Extended(*exchange("m-2").Gate)}, s.view(gate.TaskID).Gates)
	})
}

// A worker that was slow does not reopen a plan whose workflow is gone, though the journal has not
// heard of the epoch in which the plan began, or has begun another one. A run that is there again
// begins a later one.
func TestRecord_lateOfAPlanThatIsGone(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		for _, recorded := range []bool{false, true} {
			j := open()
			s := begin(t, j, newObjective())
			o := s.objective
			again := s.as(o.ID+"@2", j)
			again.n = 0
			again.record(opt.Event{Kind: opt.SourceRewound, Epoch: 2, Objective: &o, Head: o.Head(), Text: o.Text(), At: at(90)}, planAdded(o, 0, 1))
			plan, number := s.as(s.plan(0)+"@2", j), 2
			if recorded {
				plan.record(opt.Event{Kind: opt.PlanStarted, PlanID: s.plan(0), PlanHead: &opt.PlanHead{Status: opt.PlanWorking, Started: true, Run: 1}})
				plan, number = s.as(s.plan(0)+"@3", j), 3
				plan.n = 4
			}
			p := planAdded(o, 0, 1).Plan
			rewound := func(epoch int) opt.Event {
				return opt.Event{Kind: opt.SourceRewound, Epoch: epoch, PlanID: p.ID, Plan: p, PlanHead: p.Head(), At: at(95)}
			}
			late := plan.batch(rewound(number), s.moved(0, 0, opt.TaskWorking))
			if !recorded {
				late.Events = late.Events[1:] // the plan began in this epoch
				late.Events[0].N = 1
			}
			end := opt.PlanHead{Status: opt.PlanFailed, Reason: opt.Terminated, Started: true, Run: 1}
			again.record(opt.Event{Kind: opt.PlanMoved, PlanID: s.plan(0), To: "failed", Reason: opt.Terminated, PlanHead: &end})
			before := dump(t, j)
			err := j.Record(t.Context(), late)
			refused, ok := errors.AsType[*opt.RewoundError](err)
			if diff := cmp.Diff(before, dump(t, j)); !ok || diff != "" {
				t.Fatalf("epoch %d: %v; something changed (-before +after):\n%s", number, err, diff)
			}
			later := s.as(opt.InEpoch(s.plan(0), refused.Epoch+1), j)
			later.record(rewound(refused.Epoch+1), s.moved(0, 0, opt.TaskWorking))
			test.Is(t, "with a later epoch the task is", opt.TaskWorking, s.view(s.task(0, 0)).State)
		}
	})
}

// setBack records that the objective was reset, after its second event, to what it was then.
// It returns the source that continues it.
func (s *scribe) setBack(o opt.Objective) *scribe {
	again := s.as(o.ID+"@2", s.j)
	again.n = 2
	again.record(opt.Event{Kind: opt.SourceRewound, Epoch: 2, Objective: &o, Head: o.Head(), Text: o.Text(), At: at(90)})
	return again
}
