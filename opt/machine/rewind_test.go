package machine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// working returns an objective with one plan, whose workflow has begun, and its events.
func working(t *testing.T) (*machine.Objective, []opt.Event) {
	t.Helper()
	m := machine.NewObjective(opt.Opening{
		Objective: opt.Objective{ID: objectiveID, ContextID: "c", Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted, Attempt: 1},
		Plans:     []opt.PlanSpec{{Name: "p", Tasks: []opt.TaskSpec{{Name: "t"}, {Name: "u"}}}},
	}, 0, machine.Rules)
	events := m.Handle(a2a.AtMillis(1), machine.Opened{})
	return m, events
}

func kinds(events []opt.Event) (out []opt.EventKind) {
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return out
}

// isAlone has the context of an objective not run when that asks it for the turn.
func isAlone(m *machine.Objective, now a2a.Time) {
	m.Handle(now, machine.Delivered{To: machine.ToContext, N: m.State.Turn.N, Gone: true})
}

// The epoch of an objective begins with its state before the events that were not recorded,
// and these follow under their numbers. Directives are numbered above all that an earlier run
// may have sent, and reach the plan again.
func TestObjective_Handle_rewound(t *testing.T) {
	m, events := working(t)
	m.Handle(a2a.AtMillis(2), machine.ChildStarted{PlanID: plan(1), N: 1})
	events = append(events, m.Handle(a2a.AtMillis(2), machine.Reported{PlanID: plan(1), Report: opt.Report{N: 1, Directive: 1, Status: opt.PlanWorking, Started: true}})...)
	pending := events[1:]
	got := m.Handle(a2a.AtMillis(5000), machine.Rewound{Epoch: 3, Done: 1, Pending: pending})
	first := got[0]
	if first.Kind != opt.SourceRewound || first.N != 1 || first.Epoch != 4 || m.State.Source() != objectiveID+"@4" {
		t.Fatalf("the epoch begins with %s, epoch %d, in %s", first, first.Epoch, m.State.Source())
	}
	if o := first.Objective; o.Status != opt.ObjectiveSubmitted || o.Root != opt.TaskSubmitted || len(o.Plans) != 0 {
		t.Errorf("its state is %s, root task %s, %d plans: want that before the pending events", o.Status, o.Root, len(o.Plans))
	}
	if rest := got[1:]; !slices.Equal(kinds(rest), kinds(pending)) || rest[0].N != 2 {
		t.Errorf("it continues with %v, want %v", kinds(rest), kinds(pending))
	}
	d := m.State.Links[0].Directive
	if d.N < 5000 || d.Epoch != 4 || d.Echo < 5000 || !slices.ContainsFunc(m.Wants().Signals, func(s machine.Signal) bool { return s.To == plan(1) && s.N == d.N }) {
		t.Errorf("directive %+v, signals %+v", d, m.Wants().Signals)
	}
}

// A plan that an earlier run has begun and that still runs is taken over: it hears a
// directive, its reports count, and those for the earlier run do not. If it has ended
// meanwhile, it begins again.
func TestObjective_Handle_planFound(t *testing.T) {
	for _, ended := range []bool{false, true} {
		m, _ := working(t)
		now := a2a.AtMillis(5000)
		m.Handle(now, machine.Rewound{})
		isAlone(m, now)
		m.Handle(now, machine.Reported{PlanID: plan(1), Report: opt.Report{N: 9, Status: opt.PlanBlocked, Reason: opt.BlockedByInput, Started: true}})
		if r := m.State.Objective.Plan(plan(1)).Report; r.N != 0 {
			t.Errorf("a report for the earlier run counts: %+v", r)
		}
		if c := m.Wants().Children; len(c) != 1 || m.State.ChildState(plan(1)).Epoch != 2 {
			t.Fatalf("children %+v, want the plan in the epoch of the objective", c)
		}
		m.Handle(now, machine.ChildRefused{PlanID: plan(1)})
		w := m.Wants()
		if len(w.Children) != 0 || len(w.Signals) != 1 || w.Signals[0].N < 5000 || !m.State.Links[0].Directive.ReportEnd {
			t.Fatalf("wants %+v, want a directive for the plan that runs", w)
		}
		m.Handle(now, machine.Delivered{To: plan(1), N: w.Signals[0].N, Gone: ended})
		if ended {
			if c := m.Wants().Children; len(c) != 1 || c[0].Try != 1 {
				t.Errorf("children %+v, want the plan again", c)
			}
			m.Handle(now, machine.ChildRefused{PlanID: plan(1)}) // the run before another reset has begun it
			if w := m.Wants(); len(w.Timers)+len(w.Children) != 0 || len(w.Signals) != 1 {
				t.Errorf("wants %+v, want a directive for the plan that runs now", w)
			}
			continue
		}
		m.Handle(now, machine.Reported{PlanID: plan(1), Report: opt.Report{Epoch: 2, Under: 2, N: 1, Directive: w.Signals[0].N, Status: opt.PlanCompleted, Started: true}})
		test.Is(t, "the objective", opt.ObjectiveCompleted, m.State.Objective.Status)
	}
}

// A plan whose beginning an objective was about to try again is taken over at once: the run before the
// reset has begun it meanwhile, or it is still of the attempt before and reports that.
func TestObjective_Handle_planFoundBeforeItsTime(t *testing.T) {
	m, _ := working(t)
	m.Handle(a2a.AtMillis(2), machine.ChildRefused{PlanID: plan(1)})
	m.Handle(a2a.AtMillis(2), machine.Reported{PlanID: plan(1), Report: opt.Report{N: 9, Attempt: -1, Status: opt.PlanWorking}})
	if w := m.Wants(); len(w.Timers) != 1 || len(w.Children) != 0 {
		t.Fatalf("wants %+v, want a timer until the former run of the plan has ended", w)
	}
	m.Handle(a2a.AtMillis(500), machine.Rewound{})
	isAlone(m, a2a.AtMillis(500))
	if w := m.Wants(); len(w.Timers)+len(w.Children) != 0 || len(w.Signals) != 1 || w.Signals[0].To != plan(1) {
		t.Errorf("wants %+v, want a directive for the plan alone", w)
	}
}

// The epoch of a plan begins in the same way. Its decisions that were not recorded are the
// first of a chain of their own, and gates that open later have other ids than those before. These open when the
// objective has the epoch.
func TestPlan_Handle_rewound(t *testing.T) {
	p := opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Status: opt.PlanPending, Tasks: []*opt.Task{
		{ID: task(1, 0), State: opt.TaskPending, Ask: &opt.Gate{Kind: opt.Approval, Title: "Ship?", Actions: []opt.Action{opt.Accept}}},
		{ID: task(1, 1), Index: 1, State: opt.TaskPending, Ask: &opt.Gate{Kind: opt.Approval, Title: "Sure?", Actions: []opt.Action{opt.Accept}}},
	}}
	m := &machine.Plan{State: machine.PlanState{Rules: machine.Rules, Plan: p, ContextID: "c", RootID: objectiveID, First: &machine.Directed{Directive: machine.Directive{N: 1, Start: true}}}}
	now := a2a.AtMillis(10)
	m.Handle(now, machine.Opened{})
	m.Handle(now, machine.Begin{})
	done := m.State.N
	gate := m.State.Plan.Tasks[0].Gate
	if gate == nil || gate.ID != opt.GateID(task(1, 0), 1) {
		t.Fatalf("the first gate is %+v", gate)
	}
	pending := m.Handle(now, machine.Letter{Letter: opt.Letter{
		TaskID: task(1, 0), Message: a2a.Message{MessageID: "m"}, Principal: "ann", Reply: &opt.Reply{GateID: gate.ID, Action: opt.Accept},
	}})
	got := m.Handle(a2a.AtMillis(5000), machine.Rewound{Epoch: 1, Done: done, Pending: pending})
	first := got[0]
	if first.Kind != opt.SourceRewound || first.N != done || first.Epoch != 2 || m.State.Source() != plan(1)+"@2" {
		t.Fatalf("the epoch begins with %s, epoch %d", first, first.Epoch)
	}
	test.Is(t, "the task", opt.TaskInputRequired, first.Plan.Tasks[0].State)
	d := got[1].Decision
	if d == nil || d.N != 1 || d.Epoch != 2 || d.Previous != "" || m.State.Chain.Hash != d.Hash {
		t.Errorf("decision %+v, chain %+v", d, m.State.Chain)
	}
	if s := m.Wants().Signals; len(s) != 1 || s[0].N < 5000 {
		t.Errorf("signals %+v, want a report", s)
	}
	m.Handle(a2a.AtMillis(5001), machine.Begin{})
	test.Is(t, "the next task", opt.TaskPending, m.State.Plan.Tasks[1].State)
	if !m.State.Report.Asks {
		t.Errorf("the report is %+v: it does not ask", m.State.Report)
	}
	m.Handle(a2a.AtMillis(5002), machine.Directed{Directive: machine.Directive{N: 2, Start: true, PlanEpoch: 2}})
	m.Handle(a2a.AtMillis(5003), machine.Begin{})
	if g := m.State.Plan.Tasks[1].Gate; g == nil || g.ID != opt.GateID(task(1, 1), 1001) {
		t.Errorf("the next gate is %+v", g)
	}
}

// A plan that was reset after its objective had ended stops.
func TestPlan_Handle_resetAlone(t *testing.T) {
	p := opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Status: opt.PlanPending, Tasks: []*opt.Task{{ID: task(1, 0), State: opt.TaskPending, Ask: &opt.Gate{Kind: opt.Approval}}}}
	m := &machine.Plan{State: machine.PlanState{Rules: machine.Rules, Plan: p, First: &machine.Directed{Directive: machine.Directive{N: 1, Start: true}}}}
	now := a2a.AtMillis(10)
	m.Handle(now, machine.Opened{})
	m.Handle(now, machine.Begin{})
	m.Handle(now, machine.Rewound{Done: m.State.N})
	m.Handle(now, machine.Delivered{To: objectiveID, N: m.State.Report.N, Gone: true})
	if m.Wants().Done == nil || !m.State.Plan.Settled() {
		t.Errorf("the plan is %s and wants %+v", m.State.Plan.Status, m.Wants())
	}
}

// A plan whose objective has begun another epoch begins one, too.
func TestPlan_Handle_objectiveRewound(t *testing.T) {
	m := &machine.Plan{State: machine.PlanState{Rules: machine.Rules, Plan: opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Status: opt.PlanPending}}}
	m.Handle(a2a.AtMillis(1), machine.Opened{})
	m.Handle(a2a.AtMillis(2), machine.Directed{Directive: machine.Directive{N: 2, Epoch: 2}})
	if !m.Wants().Rewind {
		t.Fatal("it wants no epoch")
	}
	m.Handle(a2a.AtMillis(3), machine.Rewound{Done: m.State.N})
	if m.Wants().Rewind || m.State.Epoch != 2 {
		t.Errorf("it still wants one, in epoch %d", m.State.Epoch)
	}
}

// The end of a plan that begins in a later epoch does not go with its result: the journal may
// refuse it, and only the plan can set it back then.
func TestPlanState_Rides(t *testing.T) {
	for epoch, want := range []bool{true, true, false} {
		s := &machine.PlanState{Epoch: epoch}
		test.Is(t, fmt.Sprintf("in epoch %d", epoch), want, s.Rides(0))
	}
}

// So it is with the end of an objective, if it is the first one: after a later attempt, or one that was
// restored, a client could begin another from what the journal still shows.
func TestRides(t *testing.T) {
	for name, tt := range map[string]struct {
		attempt, epoch int
		done           int64
		opened, want   bool
	}{
		"the end":                       {1, 1, 6, true, true},
		"what follows it":               {1, 1, 7, true, false},
		"a retry":                       {2, 1, 6, true, false},
		"a later epoch":                 {1, 2, 6, true, false},
		"restored, or of earlier rules": {1, 1, 6, false, false},
	} {
		s := &machine.ObjectiveState{Epoch: tt.epoch, Opened: tt.opened, End: 7, Objective: opt.Objective{Attempt: tt.attempt}}
		test.Is(t, name, tt.want, machine.Rides(s)(tt.done))
	}
}

// A plan that the journal does not have any more ends at once, unless its objective has just taken
// it over.
func TestPlan_Handle_forgotten(t *testing.T) {
	for _, found := range []bool{false, true} {
		m := &machine.Plan{State: machine.PlanState{Rules: machine.Rules, Plan: opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Status: opt.PlanPending}}}
		now := a2a.AtMillis(1)
		m.Handle(now, machine.Opened{})
		if found {
			m.Handle(now, machine.Directed{Directive: machine.Directive{N: 2, Epoch: 2}})
		}
		m.Handle(now, machine.Forgotten{})
		if w := m.Wants(); w.Forget == found || (w.Done != nil) == found {
			t.Errorf("taken over %v: it wants %+v", found, w)
		}
	}
}

// The end of a plan that began with what its objective knew before it was rewound does not count:
// the plan begins again, and sets the journal to its beginning.
func TestObjective_Handle_planUnheard(t *testing.T) {
	m, _ := working(t)
	now := a2a.AtMillis(5000)
	m.Handle(now, machine.Rewound{})
	m.Handle(now, machine.ChildStarted{PlanID: plan(1), N: 1})
	m.Handle(now, machine.ChildEnded{PlanID: plan(1), Report: &opt.Report{N: 1, Directive: 1, Status: opt.PlanCompleted, Started: true}})
	if c := m.Wants().Children; len(c) != 1 || c[0].Try != 1 || !m.State.ChildState(plan(1)).Rewind {
		t.Fatalf("children %+v, want the plan again", c)
	}
	m.Handle(now, machine.ChildStarted{PlanID: plan(1), N: 1})
	m.Handle(now, machine.ChildEnded{PlanID: plan(1), Report: &opt.Report{Under: 2, N: 1, Directive: 9000, Status: opt.PlanCompleted, Started: true}})
	test.Is(t, "the objective", opt.ObjectiveCompleted, m.State.Objective.Status)
}

// An objective that was alone before a reset takes no turn from before it as its own, and asks for
// the turn with a number above all before. Its planner is asked again in its turn.
func TestObjective_Handle_rewoundTurn(t *testing.T) {
	m := machine.NewObjective(opt.Opening{
		Objective: opt.Objective{ID: objectiveID, ContextID: "c", Tenant: "t", Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted, Attempt: 1},
		Message:   &a2a.Message{MessageID: "m"},
	}, 0, machine.Rules)
	now := a2a.AtMillis(5000)
	m.Handle(now, machine.Opened{})
	key := m.Wants().Activities[0].Key
	m.Handle(now, machine.Rewound{})
	m.Handle(now, machine.Turn{Attempt: 1, N: 1, Held: true, Tenant: "t"})
	w := m.Wants()
	if len(w.Activities) != 0 || len(w.Signals) != 1 || w.Signals[0].N <= 5000 {
		t.Fatalf("it wants %+v, want its turn", w)
	}
	m.Handle(now, machine.Turn{Attempt: 1, N: 2, Request: w.Signals[0].N, Held: true, Tenant: "t"})
	if a := m.Wants().Activities; len(a) != 1 || a[0].Key == key {
		t.Errorf("it wants %+v, want a planner under another key than %s", a, key)
	}
}

// An objective that had the turn before a reset has to ask for it again.
func TestObjective_Handle_rewoundHolder(t *testing.T) {
	m := machine.NewObjective(opt.Opening{
		Objective: opt.Objective{ID: objectiveID, ContextID: "c", Tenant: "t", Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted, Attempt: 1, QueuedAt: a2a.AtMillis(1)},
		Message:   &a2a.Message{MessageID: "m"},
	}, 0, machine.Rules)
	now := a2a.AtMillis(5000)
	m.Handle(now, machine.Opened{})
	m.Handle(now, machine.Turn{Attempt: 1, N: 1, Held: true, Tenant: "t"})
	if len(m.Wants().Activities) != 1 {
		t.Fatalf("with the turn it wants %+v", m.Wants())
	}
	m.Handle(now, machine.Rewound{})
	if w := m.Wants(); len(w.Activities) != 0 || len(w.Signals) != 1 || w.Signals[0].To != machine.ToContext {
		t.Errorf("it wants %+v, want its turn", w)
	}
}

// A rewound objective keeps its turn until plans that may work have reported to it.
func TestObjective_Handle_rewoundRest(t *testing.T) {
	m, _ := working(t)
	m.Handle(a2a.AtMillis(2), machine.ChildStarted{PlanID: plan(1), N: 1})
	m.Handle(a2a.AtMillis(2), machine.Turn{Attempt: 1, N: 1, Held: true})
	waits := opt.Report{N: 1, Directive: m.State.Links[0].Directive.N, Status: opt.PlanBlocked, Reason: opt.BlockedByInput, Started: true, Yielded: 1}
	m.Handle(a2a.AtMillis(2), machine.Reported{PlanID: plan(1), Report: waits})
	if m.State.Turn.Want != machine.WantRest {
		t.Fatalf("it wants %s while its plan waits", m.State.Turn.Want)
	}
	m.Handle(a2a.AtMillis(5000), machine.Rewound{})
	test.Is(t, "it wants though its plan may work again", machine.WantTurn, m.State.Turn.Want)
	waits.N, waits.Under, waits.Epoch, waits.Directive = 9000, 2, 2, m.State.Links[0].Directive.N
	m.Handle(a2a.AtMillis(5001), machine.Reported{PlanID: plan(1), Report: waits})
	test.Is(t, "it wants after the report of its plan", machine.WantRest, m.State.Turn.Want)
}

// A plan that was reset after it had reported its end, and was ended by an operator then, gets that end
// again: the journal shows it as open, as it was at the moment of the reset.
func TestObjective_Handle_lostAfterItsEnd(t *testing.T) {
	m, _ := working(t)
	now := a2a.AtMillis(2)
	m.Handle(now, machine.ChildStarted{PlanID: plan(1), N: 1})
	m.Handle(now, machine.Reported{PlanID: plan(1), Report: opt.Report{N: 1, Directive: 1, Status: opt.PlanFailed, Reason: "bad", Started: true}})
	events := m.Handle(now, machine.PlanLost{PlanID: plan(1)})
	if len(events) != 1 || !events[0].EndsTasks() || events[0].PlanHead.Status != opt.PlanFailed || events[0].Check() != nil {
		t.Errorf("events %v, want its end alone", events)
	}
	test.Is(t, "a repeat leads to", 0, len(m.Handle(now, machine.PlanLost{PlanID: plan(1)})))
}

// A plan that a client has ended, and whose workflow is lost while its tasks are being stopped, ends with them.
func TestObjective_Handle_lostWhileItStops(t *testing.T) {
	m, _ := working(t)
	now := a2a.AtMillis(2)
	m.Handle(now, machine.ChildStarted{PlanID: plan(1), N: 1})
	m.Handle(now, machine.Reported{PlanID: plan(1), Report: opt.Report{N: 1, Directive: 1, Status: opt.PlanFailed, Reason: opt.ByHand, Started: true, Closing: true}})
	m.Handle(now, machine.PlanLost{PlanID: plan(1)})
	events := m.Handle(now, machine.Checked{Key: checks(t, m, 1)[0], Gone: true})
	if !slices.ContainsFunc(events, opt.Event.EndsTasks) || m.State.Objective.Status != opt.ObjectiveFailed {
		t.Errorf("events %v, want one that ends its tasks", events)
	}
}

// checks returns the keys of the checks of plans that m wants: n.
func checks(t *testing.T, m *machine.Objective, n int) (keys []string) {
	t.Helper()
	for _, a := range m.Wants().Activities {
		if a.Kind == machine.CheckPlan {
			keys = append(keys, a.Key)
		}
	}
	if len(keys) != n {
		t.Fatalf("%d checks, want %d", len(keys), n)
	}
	return keys
}

// A reconciler may have looked for the workflow of a plan before it has begun: that is checked once it has.
func TestObjective_Handle_seemsLost(t *testing.T) {
	m, _ := working(t)
	now := a2a.AtMillis(2)
	m.Handle(now, machine.PlanLost{PlanID: plan(1)})
	checks(t, m, 0) // it has not begun
	m.Handle(now, machine.ChildStarted{PlanID: plan(1), N: 1})
	checks(t, m, 0)
	m.Handle(now, machine.PlanLost{PlanID: plan(1)})
	m.Handle(now, machine.PlanLost{PlanID: plan(1)})
	first := checks(t, m, 1)[0]
	if events := m.Handle(now, machine.Checked{Key: first}); len(events) != 0 || len(checks(t, m, 0)) != 0 {
		t.Errorf("a plan that runs leads to %v", events)
	}
	m.Handle(now, machine.PlanLost{PlanID: plan(1)})
	second := checks(t, m, 1)[0]
	if events := m.Handle(now, machine.Checked{Key: first, Gone: true}); second == first || len(events) != 0 {
		t.Errorf("a check %s, and the end of %s leads to %v", second, first, events)
	}
	m.Handle(now, machine.Checked{Key: second, Gone: true})
	if p := m.State.Objective.Plan(plan(1)); p.Status != opt.PlanFailed || p.Reason != opt.Terminated {
		t.Errorf("the plan is %s, %s", p.Status, p.Reason)
	}
}

// What a check has found of a run that ended meanwhile is not about the run after it.
func TestObjective_Handle_beginsAgainDuringACheck(t *testing.T) {
	m, _ := working(t)
	now := a2a.AtMillis(2)
	m.Handle(now, machine.ChildStarted{PlanID: plan(1), N: 1})
	m.Handle(now, machine.PlanLost{PlanID: plan(1)})
	key := checks(t, m, 1)[0]
	l := m.State.Links[0]
	l.Begun = false
	m.Handle(now, machine.ChildStarted{PlanID: plan(1), N: 1})
	checks(t, m, 0)
	test.Is(t, "it leads to", 0, len(m.Handle(now, machine.Checked{Key: key, Gone: true})))
}

// A former attempt at a plan that is still there makes room for the one after it.
func TestPlan_Handle_laterAttempt(t *testing.T) {
	m := &machine.Plan{State: machine.PlanState{Rules: machine.Rules, Plan: opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Status: opt.PlanPending}}}
	now := a2a.AtMillis(1)
	m.Handle(now, machine.Opened{})
	m.Handle(now, machine.Directed{Directive: machine.Directive{N: 9, Echo: 9, Start: true, Run: 2, Epoch: 2}})
	if w := m.Wants(); w.Rewind || m.State.Plan.Started || len(w.Signals) != 1 || m.State.Report.Attempt >= 0 {
		t.Errorf("it wants %+v, want a report of no attempt alone", w)
	}
}

// A gate that was open when a plan is set back stays open, also with a vote that was not recorded. One
// that was not recorded opens again, and counts then.
func TestPlan_Handle_rewoundGate(t *testing.T) {
	ask := &opt.Gate{Kind: opt.Approval, Title: "Ship?", Actions: []opt.Action{opt.Accept}, Responders: &opt.Responders{Principals: []string{"ann", "bo"}, Accepts: 2}}
	for _, recorded := range []bool{true, false} {
		p := opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Status: opt.PlanPending, Tasks: []*opt.Task{{ID: task(1, 0), State: opt.TaskPending, Ask: ask}}}
		m := &machine.Plan{State: machine.PlanState{Rules: machine.Rules, Plan: p, ContextID: "c", RootID: objectiveID, First: &machine.Directed{Directive: machine.Directive{N: 1, Start: true}}}}
		now := a2a.AtMillis(10)
		events := m.Handle(now, machine.Opened{})
		opens := slices.IndexFunc(events, func(e opt.Event) bool { return e.Gate != nil })
		done, wantID, wantGates, pending := events[opens].N-1, "", 0, events[opens:]
		gate := m.State.Plan.Tasks[0].Gate
		if recorded {
			done, wantID, wantGates, pending = m.State.N, gate.ID, 1, nil
		}
		pending = append(pending, m.Handle(now, machine.Letter{Letter: opt.Letter{
			TaskID: task(1, 0), Message: a2a.Message{MessageID: "m"}, Principal: "ann", Reply: &opt.Reply{GateID: gate.ID, Action: opt.Accept, DecidedBy: "ann"},
		}})...)
		first := m.Handle(a2a.AtMillis(5000), machine.Rewound{Epoch: 1, Done: done, Pending: pending})[0]
		got, id := first.Plan.Tasks[0], ""
		if got.Gate != nil {
			id = got.Gate.ID
		}
		if id != wantID || got.Gates != wantGates {
			t.Errorf("recorded %v: after %d events its task is set to gate %q of %d, want %q of %d", recorded, len(pending), id, got.Gates, wantID, wantGates)
		}
	}
}

// A plan repeats its answer to a command for an objective that was rewound.
func TestPlan_Handle_answersAgain(t *testing.T) {
	m := &machine.Plan{State: machine.PlanState{Rules: machine.Rules, Plan: opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Status: opt.PlanPending}}}
	now := a2a.AtMillis(1)
	m.Handle(now, machine.Opened{})
	c := &opt.Command{ID: "c", Kind: opt.UpdatePlan, PlanID: plan(1), Status: string(opt.PlanBlocked)}
	m.Handle(now, machine.Directed{Directive: machine.Directive{N: 1, Command: "c"}, Command: c})
	m.Handle(now, machine.Directed{Directive: machine.Directive{N: 2, Echo: 2, Epoch: 2}})
	m.Handle(now, machine.Rewound{Done: m.State.N})
	before := m.State.Report.N
	m.Handle(now, machine.Directed{Directive: machine.Directive{N: 3, Echo: 2, Epoch: 2, Command: "c"}, Command: c})
	if m.State.Report.N == before || m.State.Report.Answer == nil {
		t.Errorf("it does not answer again: %+v", m.State.Report)
	}
}

// A plan that an objective takes over hears of its pause at once: an earlier run may have started it.
func TestObjective_Handle_rewoundPause(t *testing.T) {
	m, _ := working(t)
	m.State.Objective.Started = false
	m.Handle(a2a.AtMillis(2), machine.ChildStarted{PlanID: plan(1), N: 1})
	m.State.Objective.Paused, m.State.Objective.Plans[0].Started, m.State.Links[0].Directive.Start = true, false, false
	m.Handle(a2a.AtMillis(5000), machine.Rewound{})
	if d := m.State.Links[0].Directive; !d.Paused {
		t.Errorf("directive %+v, want a pause", d)
	}
}

// An objective that was reset to before a retry leaves its context, which is not there, and ends: the reconciler ends the
// later attempt.
func TestObjective_Handle_forgotten(t *testing.T) {
	m, _ := working(t)
	m.Handle(a2a.AtMillis(5000), machine.Rewound{})
	isAlone(m, a2a.AtMillis(5000))
	m.Handle(a2a.AtMillis(5001), machine.Forgotten{})
	m.Handle(a2a.AtMillis(5001), machine.Delivered{To: machine.ToContext, N: m.State.Turn.N, Gone: true})
	if w := m.Wants(); !w.Forget || w.Done == nil || len(w.Signals)+len(w.Children) != 0 {
		t.Errorf("it wants %+v, want its end alone", w)
	}
}

// Such an objective leaves its context first, which may have given it the turn of the later attempt:
// others wait behind it, and the journal may have the end of that attempt, so that it alone can say so.
func TestObjective_Handle_forgottenWithTheTurn(t *testing.T) {
	m, _ := working(t)
	c := machine.NewContext("", "c", machine.Rules)
	now := a2a.AtMillis(5000)
	m.Handle(now, machine.Rewound{})
	c.Handle(now, machine.Enter{ObjectiveID: "obj-other", Attempt: 1, At: now, Behind: []string{opt.RootID(objectiveID, 2)}})
	m.Handle(now, c.Message(objectiveID))
	c.Handle(now, machine.Delivered{To: objectiveID, N: c.Message(objectiveID).N})
	m.Handle(now, machine.Forgotten{})
	w := m.Wants()
	if w.Done != nil || len(w.Signals) != 1 || w.Signals[0].To != machine.ToContext || m.State.TurnRequest().Want != machine.WantLeave {
		t.Fatalf("it wants %+v, want to leave its context alone", w)
	}
	c.Handle(now, m.State.TurnRequest())
	if h := c.State.Holder; h == nil || h.ID != "obj-other" {
		t.Errorf("the turn is that of %+v", h)
	}
	m.Handle(now, machine.Delivered{To: machine.ToContext, N: w.Signals[0].N})
	if w := m.Wants(); !w.Forget || w.Done == nil || len(w.Signals) != 0 {
		t.Errorf("then it wants %+v, want its end", w)
	}
}

// What an objective reads from the journal for a retry is read again once an epoch has begun: the
// rows were those of a later moment.
func TestObjective_Handle_rewoundWhileItReads(t *testing.T) {
	m, _ := working(t)
	m.State.Loading, m.State.Loads = true, 1
	before := m.Wants().Activities[0]
	first := m.Handle(a2a.AtMillis(5000), machine.Rewound{Done: 7})[0]
	after := m.Wants().Activities[0]
	if after.Key == before.Key || after.After != first.N {
		t.Errorf("it reads %+v and then %+v, want another one after event %d", before, after, first.N)
	}
}

// A plan that still runs for another attempt at its objective makes room for the plan of the same
// id: its objective hears that, and begins the plan when the former run has ended.
func TestPlan_Handle_foreign(t *testing.T) {
	p := &machine.Plan{State: machine.PlanState{
		Rules: machine.Rules, RootID: opt.RootID(objectiveID, 1), NoteState: machine.NoteState{Notes: []a2a.Message{{MessageID: "old"}}},
		Plan: opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Status: opt.PlanWorking, Tasks: []*opt.Task{{ID: task(1, 0), State: opt.TaskPending}}},
	}}
	now := a2a.AtMillis(5000)
	p.Handle(now, machine.Opened{})
	p.Handle(now, machine.Directed{Directive: machine.Directive{N: 9, Echo: 9, Start: true, Epoch: 2, Imprint: "another"}})
	w := p.Wants()
	if len(w.Signals) != 1 || w.Done != nil || len(w.Activities) != 0 || p.Message().Report.Attempt >= 0 {
		t.Fatalf("it wants %+v and says %+v, want a report of no attempt alone", w, p.Message().Report)
	}
	m, _ := working(t)
	m.Handle(now, machine.Rewound{})
	m.Handle(now, machine.ChildRefused{PlanID: plan(1)})
	m.Handle(now, p.Message())
	if w := m.Wants(); len(w.Children) != 0 || len(w.Timers) != 1 {
		t.Errorf("the objective wants %+v, want a pause before it begins the plan", w)
	}
	p.Handle(now, machine.Delivered{To: objectiveID, N: w.Signals[0].N})
	if w := p.Wants(); !w.Forget {
		t.Errorf("then it wants %+v, want its end", w)
	}
}

// An objective that was reset, and whose context has the attempt of a retry that it refused, asks
// for its turn as that attempt.
func TestObjective_Handle_turnOfARefusedRetry(t *testing.T) {
	m := machine.NewObjective(opt.Opening{
		Objective: opt.Objective{ID: objectiveID, ContextID: "c", Tenant: "t", Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted, Attempt: 1},
		Message:   &a2a.Message{MessageID: "m"},
	}, 0, machine.Rules)
	c := machine.NewContext("t", "c", machine.Rules)
	now := a2a.AtMillis(5000)
	m.Handle(now, machine.Opened{})
	m.Handle(now, machine.Rewound{})
	c.Handle(now, machine.Enter{ObjectiveID: "obj-other", Attempt: 1, At: now, Starting: []string{opt.RootID(objectiveID, 2)}})
	for range 2 { // what the context knows, and the answer to the request that follows
		m.Handle(now, c.Message(objectiveID))
		m.Handle(now, machine.Delivered{To: machine.ToContext, N: m.State.Turn.N})
		c.Handle(now, m.State.TurnRequest())
	}
	if a := m.Wants().Activities; len(a) != 1 {
		t.Errorf("it wants %+v in turn %+v, want its planner", m.Wants(), m.State.Turn)
	}
}

// A plan is known by what it was made of: the same plans of a run after a reset have the imprint of
// those before, also renamed ones, and another plan with the id has another one.
func TestObjective_ChildState_imprint(t *testing.T) {
	m, _ := working(t)
	before := m.State.ChildState(plan(1)).Imprint
	var stored machine.ObjectiveState
	data, err := json.Marshal(m.State)
	if err == nil {
		err = json.Unmarshal(data, &stored)
	}
	test.OK(t, err)
	stored.Links[0].Start.Name = "renamed"
	test.Is(t, "the imprint of the stored plan", before, stored.ChildState(plan(1)).Imprint)
	stored.Links[0].Start.Tasks[0].Description = "another"
	if got := stored.ChildState(plan(1)).Imprint; got == before {
		t.Error("another plan has the same imprint")
	}
	m.Handle(a2a.AtMillis(5000), machine.Rewound{})
	m.Handle(a2a.AtMillis(5000), machine.ChildRefused{PlanID: plan(1)})
	test.Is(t, "it takes over a plan with the imprint", before, m.State.Links[0].Directive.Imprint)
}

// An earlier run of the objective may have had the epoch with which a reset one begins, until the journal
// refuses that. What a plan has reported to it says nothing about the plan that the objective begins.
func TestObjective_Handle_sameEpoch(t *testing.T) {
	m, _ := working(t)
	now := a2a.AtMillis(5000)
	earlier := opt.Report{N: 9, Directive: 4000, Under: 2, Status: opt.PlanFailed, Reason: string(opt.ObjectiveCanceled), Started: true}
	m.Handle(now, machine.Rewound{})
	m.Handle(now, machine.Reported{PlanID: plan(1), Report: earlier})
	if s := m.State.Objective.Status; s.Ended() {
		t.Fatalf("the objective is %s by a report for an earlier run", s)
	}
	m.Handle(now, machine.Command{Command: opt.Command{ID: "c", Kind: opt.CreatePlan, Plan: &opt.PlanSpec{Name: "q", Tasks: []opt.TaskSpec{{Name: "t"}}}}})
	m.Handle(now, machine.Reported{PlanID: plan(2), Report: earlier})
	if p := m.State.Objective.Plan(plan(2)); p == nil || p.Over() {
		t.Fatalf("a plan that the objective has just added is %+v", p)
	}
	m.Handle(now, machine.ChildStarted{PlanID: plan(1), N: m.State.Links[0].Directive.N})
	m.Handle(now, machine.Reported{PlanID: plan(1), Report: opt.Report{N: 1, Directive: m.State.Links[0].Directive.N, Under: 2, Status: opt.PlanCompleted, Started: true}})
	if !m.State.Objective.Plan(plan(1)).Over() {
		t.Error("the report for this run does not count")
	}
}

// The same holds for the plans of a retry.
func TestObjective_Handle_sameEpochOfARetry(t *testing.T) {
	m, p := retriedIn(2)
	m.Handle(a2a.AtMillis(5000), machine.Reported{PlanID: p.ID, Report: opt.Report{N: 9, Attempt: 2, Directive: 40, Under: 2, Status: opt.PlanFailed, Started: true}})
	test.Is(t, "the plan by a report for an earlier run", opt.PlanPending, p.Status)
}

// A plan has each message to the root task once, also if its objective was rewound and has got them in
// another order, or has taken the first one for its request.
func TestPlan_Handle_notesOfARewoundObjective(t *testing.T) {
	m := &machine.Plan{State: machine.PlanState{Rules: machine.Rules, Plan: opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Status: opt.PlanPending}}}
	now := a2a.AtMillis(1)
	note := func(id string) a2a.Message { return a2a.Message{MessageID: id, Role: a2a.RoleUser} }
	m.Handle(now, machine.Opened{})
	m.Handle(now, machine.Directed{Directive: machine.Directive{N: 1, Notes: 2}, Notes: []a2a.Message{note("a"), note("b")}})
	m.Handle(now, machine.Directed{Directive: machine.Directive{N: 1000, Echo: 1000, Epoch: 2}})
	m.Handle(now, machine.Rewound{Done: m.State.N})
	test.Is(t, "it reports notes of this run of the objective", 0, m.State.Report.Notes)
	m.Handle(now, machine.Directed{Directive: machine.Directive{N: 1001, Echo: 1000, Epoch: 2, Notes: 2}, Notes: []a2a.Message{note("b"), note("c")}})
	m.Handle(now, machine.Directed{Directive: machine.Directive{N: 1002, Echo: 1000, Epoch: 2, Notes: 3}, NotesFrom: 2, Notes: []a2a.Message{note("d")}})
	ids := ""
	for _, n := range m.State.Notes {
		ids += n.MessageID
	}
	if ids != "abcd" || m.State.Heard != 3 {
		t.Errorf("it has %s, of which %d came with directives", ids, m.State.Heard)
	}
}

// A rewound objective sends all its messages to a plan that counts those of an earlier run.
func TestObjective_Message_rewound(t *testing.T) {
	m, _ := working(t)
	now := a2a.AtMillis(2)
	m.Handle(now, machine.ChildStarted{PlanID: plan(1), N: 1})
	m.Handle(now, machine.Letter{Letter: opt.Letter{TaskID: objectiveID, Message: a2a.Message{MessageID: "a", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("x")}}}})
	m.Handle(now, machine.Rewound{})
	m.Handle(now, machine.Reported{PlanID: plan(1), Report: opt.Report{N: 1, Notes: 1, Directive: 1, Status: opt.PlanWorking, Started: true}})
	if d := m.State.Message(plan(1)); d.NotesFrom != 0 || len(d.Notes) != 1 {
		t.Errorf("the directive brings %d notes from %d", len(d.Notes), d.NotesFrom)
	}
	m.Handle(now, machine.Reported{PlanID: plan(1), Report: opt.Report{N: 2, Notes: 1, Under: 2, Directive: m.State.Links[0].Directive.N, Status: opt.PlanWorking, Started: true}})
	if d := m.State.Message(plan(1)); d.NotesFrom != 1 {
		t.Errorf("when the plan has them, the directive brings %d notes from %d", len(d.Notes), d.NotesFrom)
	}
}

// A plan that was reset after its end hears once in each epoch that this stands. Its objective does not end before that.
func TestObjective_Handle_planBeginsAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		rules int
		then  opt.Report
		hears bool
	}{
		"it waits":            {machine.Rules, opt.Report{Epoch: 2, N: 9, Status: opt.PlanBlocked, Reason: opt.BlockedByOperator, Started: true}, true},
		"it ends":             {machine.Rules, opt.Report{Epoch: 2, N: 9, Status: opt.PlanCompleted, Started: true}, false},
		"an overtaken report": {machine.Rules, opt.Report{N: 1, Status: opt.PlanWorking, Started: true}, false},
		"earlier rules":       {40, opt.Report{Epoch: 2, N: 9, Status: opt.PlanBlocked, Reason: opt.BlockedByOperator, Started: true}, false},
	} {
		m, _ := working(t)
		m.State.Rules = tt.rules
		now := a2a.AtMillis(2)
		m.Handle(now, machine.ChildStarted{PlanID: plan(1), N: m.State.Links[0].Directive.N})
		m.Handle(now, machine.Reported{PlanID: plan(1), Report: opt.Report{N: 2, Status: opt.PlanCompleted, Started: true}})
		for range 2 {
			m.Handle(now, machine.Reported{PlanID: plan(1), Report: tt.then})
			signals := slices.DeleteFunc(m.Wants().Signals, func(s machine.Signal) bool { return s.To != plan(1) })
			if hears := len(signals) == 1 && m.State.Message(plan(1)).Directive.Over; hears != tt.hears {
				t.Errorf("%s: it gets %+v", name, signals)
			}
			if tt.hears {
				test.Is(t, "the objective waits until the plan has heard", true, m.Wants().Done == nil)
				m.Handle(now, machine.Delivered{To: plan(1), N: signals[0].N})
				test.Is(t, "it ends then", true, m.Wants().Done != nil)
				tt.hears = false
			}
		}
	}
}

// A plan whose end before a reset stands is canceled where it would wait for its objective, and only there.
func TestPlan_Handle_endStands(t *testing.T) {
	free := machine.Directive{Start: true}
	for name, tt := range map[string]struct {
		rules int
		first machine.Directive
		ends  bool
	}{
		"works":         {machine.Rules, free, false},
		"paused":        {machine.Rules, machine.Directive{Start: true, Paused: true}, true},
		"not started":   {machine.Rules, machine.Directive{Hold: true}, true},
		"has no turn":   {machine.Rules, machine.Directive{Start: true, Shared: true}, true},
		"earlier rules": {40, machine.Directive{Start: true, Paused: true}, false},
	} {
		tt.first.N = 1
		m := &machine.Plan{State: machine.PlanState{
			Rules: tt.rules, First: &machine.Directed{Directive: tt.first},
			Plan: opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Name: "p", Status: opt.PlanPending, Tasks: []*opt.Task{{ID: task(1, 0), Name: "t", State: opt.TaskPending}}},
		}}
		now := a2a.AtMillis(1)
		m.Handle(now, machine.Opened{})
		m.Handle(now, machine.Begin{})
		tt.first.N, tt.first.Over = 2, true
		m.Handle(now, machine.Directed{Directive: tt.first})
		if got := m.State.Plan.Status; got.Ended() != tt.ends {
			t.Errorf("%s: it is %s", name, got)
		}
		if name == "works" { // it ends when its task does, or waits
			tt.first.N, tt.first.Paused = 3, true
			m.Handle(now, machine.Directed{Directive: tt.first})
			test.Is(t, "what stops it while its task works", "", m.State.Plan.Stopping)
		}
	}
}
