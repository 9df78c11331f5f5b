package machine_test

import (
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// A turn that was given to an earlier attempt lets a later one begin nothing, even
// if it arrives late.
func TestObjective_Handle_turnOfEarlierAttempt(t *testing.T) {
	m := &machine.Objective{State: machine.ObjectiveState{
		Objective: opt.Objective{ID: objectiveID, Tenant: "t", ContextID: "c", Attempt: 2, Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted},
		Begin:     true,
		Turn:      machine.TurnState{Shared: true, Want: machine.WantTurn}, // the API has entered it
	}}
	now := a2a.AtMillis(1000)
	for _, turn := range []machine.Turn{{Attempt: 1, N: 8, Held: true, Tenant: "t"}, {Attempt: 2, N: 7, Held: true, Tenant: "t"}} {
		m.Handle(now, turn)
		if begun := !m.State.Begin; begun != (turn.Attempt == 2) {
			t.Fatalf("with the turn of attempt %d it has begun: %v", turn.Attempt, begun)
		}
	}
}

// An objective that others found about to begin may enter itself. The same attempt
// keeps the turn; a later one waits behind the others.
func TestContext_Handle_enterOfHolder(t *testing.T) {
	other := opt.NewObjectiveID([16]byte{7})
	now := a2a.AtMillis(1000)
	for attempt, holder := range map[int]string{1: objectiveID, 2: other} {
		m := machine.NewContext("t", "c", machine.Rules)
		m.Handle(now, machine.Enter{ObjectiveID: other, Attempt: 1, At: a2a.AtMillis(900), Starting: []string{objectiveID}})
		m.Handle(now, machine.Delivered{To: objectiveID, N: m.State.Turns, Gone: true})
		m.Handle(now, machine.Enter{ObjectiveID: objectiveID, Attempt: attempt, At: a2a.AtMillis(950)})
		if got := m.State.Holder; got.ID != holder || got.Turn.Attempt != 1 || !got.RetryAt.IsZero() {
			t.Errorf("attempt %d: %+v has the turn", attempt, got)
		}
	}
}

// A retry that begins while its former attempt has the turn takes its place: the end of that
// attempt, which comes later, does not give the turn to others.
func TestContext_Handle_retryOfTheHolder(t *testing.T) {
	m := machine.NewContext("t", "c", machine.Rules)
	root := func(n byte, attempt int) string { return opt.RootID(opt.NewObjectiveID([16]byte{n}), attempt) }
	first, second := opt.NewObjectiveID([16]byte{2}), opt.NewObjectiveID([16]byte{3})
	m.Handle(a2a.AtMillis(1), machine.Enter{ObjectiveID: first, Attempt: 1, At: a2a.AtMillis(1), Behind: []string{root(1, 1)}})
	m.Handle(a2a.AtMillis(2), machine.TurnRequest{ObjectiveID: first, Attempt: 1, N: 1, Want: machine.WantLeave})
	m.Handle(a2a.AtMillis(3), machine.Enter{ObjectiveID: second, Attempt: 1, At: a2a.AtMillis(3), Starting: []string{root(1, 2)}})
	m.Handle(a2a.AtMillis(4), machine.TurnRequest{ObjectiveID: opt.NewObjectiveID([16]byte{1}), Attempt: 1, N: 1, Want: machine.WantLeave})
	if h := m.State.Holder; h == nil || h.ID == second {
		t.Errorf("the turn has %+v", h)
	}
}

// A retry that has got a message and then finds no objective in the journal leaves the turn to those
// that wait: the context looks for it again, and gives it up.
func TestContext_Handle_retryOfNothing(t *testing.T) {
	m, gone, now := machine.NewContext("t", "c", machine.Rules), opt.NewObjectiveID([16]byte{1}), int64(1)
	handle := func(in machine.Input) {
		now++
		m.Handle(a2a.AtMillis(now), in)
	}
	holder, third := opt.NewObjectiveID([16]byte{2}), opt.NewObjectiveID([16]byte{3})
	handle(machine.Enter{ObjectiveID: third, Attempt: 1, At: a2a.AtMillis(1), Behind: []string{opt.RootID(holder, 1)}})
	handle(machine.Enter{ObjectiveID: third, Attempt: 1, At: a2a.AtMillis(1), Starting: []string{opt.RootID(gone, 2)}})
	handle(machine.Delivered{To: gone, N: m.Message(gone).N})
	handle(machine.TurnRequest{ObjectiveID: holder, Attempt: 1, N: 1, Want: machine.WantLeave})
	handle(machine.Left(gone))
	for tries := 0; tries < 30 && len(m.Wants().Timers) > 0; tries++ {
		handle(machine.Elapsed{Key: m.Wants().Timers[0].Key})
		handle(machine.Delivered{To: gone, N: m.State.Turns, Gone: true})
	}
	if h := m.State.Holder; h == nil || h.ID != third {
		t.Errorf("the turn has %+v", h)
	}
}

// A context that an operator has ended begins again with the request of an objective. It gives no turn before all that
// are open in the journal have answered, and then to the one that works.
func TestContext_Handle_roll(t *testing.T) {
	m, now := machine.NewContext("t", "c", machine.Rules), a2a.AtMillis(1000)
	works, asks, waits := opt.NewObjectiveID([16]byte{1}), opt.NewObjectiveID([16]byte{2}), opt.NewObjectiveID([16]byte{3})
	m.Handle(now, machine.TurnRequest{ObjectiveID: asks, Attempt: 1, N: 7, Want: machine.WantTurn, Answering: true})
	failed := m.Wants().Activities[0]
	m.Handle(now, machine.Listed{Key: failed.Key, Failed: true})
	again := m.Wants().Activities[0]
	if failed.Kind != machine.CallRoll || failed.Key == again.Key {
		t.Fatalf("after %+v it wants %+v", failed, again)
	}
	m.Handle(now, machine.Listed{Key: again.Key, Begun: []string{opt.RootID(works, 1), opt.RootID(asks, 1)}, Waiting: []string{opt.RootID(waits, 1)}})
	answer := func(id string, n int64, want machine.TurnWant, works bool, at int64) {
		t.Helper()
		if m.State.Holder != nil && !m.State.Holder.Works || !m.Message(id).Roll || m.Message(id).Held {
			t.Fatalf("%+v has the turn, and %s got %+v", m.State.Holder, id, m.Message(id))
		}
		m.Handle(now, machine.TurnRequest{ObjectiveID: id, Attempt: 1, N: n, Want: want, Answering: true}) // it was on its way
		in := machine.TurnRequest{ObjectiveID: id, Attempt: 1, N: n + 1, Want: want, Answering: true, Answers: m.Message(id).N, Works: works}
		if at > 0 {
			in.At = a2a.AtMillis(at)
		}
		m.Handle(now, in)
	}
	answer(waits, 0, machine.WantTurn, false, 500)
	answer(asks, 7, machine.WantTurn, false, 0)
	answer(works, 4, machine.WantTurn, true, 0)
	if got := m.Message(works); !got.Held || got.Request != 5 {
		t.Errorf("the one that works got %+v", got)
	}
	for i, id := range []string{asks, waits} {
		m.Handle(now, machine.TurnRequest{ObjectiveID: m.State.Holder.ID, Attempt: 1, N: 20, Want: machine.WantLeave, Answering: true})
		if h := m.State.Holder; h == nil || h.ID != id {
			t.Errorf("as number %d %+v has the turn, want %s", i+2, h, id)
		}
	}
}

// An objective under earlier rules that has made no request answers no roll: after some it counts as one that works.
func TestContext_Handle_unanswered(t *testing.T) {
	m, now := machine.NewContext("t", "c", machine.Rules), int64(1000)
	id := opt.NewObjectiveID([16]byte{1})
	m.Handle(a2a.AtMillis(now), machine.Enter{ObjectiveID: id, Attempt: 1, At: a2a.AtMillis(now), Waiting: 1})
	m.Handle(a2a.AtMillis(now), machine.Listed{Key: m.Wants().Activities[0].Key})
	for range 3 {
		if m.State.Holder != nil {
			t.Fatal("it has the turn before it could answer")
		}
		m.Handle(a2a.AtMillis(now), machine.Delivered{To: id, N: m.Message(id).N})
		timer := m.Wants().Timers[0]
		now = timer.At.Millis()
		m.Handle(timer.At, machine.Elapsed{Key: timer.Key})
	}
	if got := m.Message(id); !got.Held || got.Roll {
		t.Errorf("it got %+v, want the turn", got)
	}
}

// Of several that answer no roll, one gets the turn: one that has begun, and those that wait as the journal says get theirs
// later. An answer that comes too late displaces none either.
func TestContext_Handle_unansweredBySome(t *testing.T) {
	m, now := machine.NewContext("t", "c", machine.Rules), a2a.AtMillis(1000)
	var ids []string
	for n := range byte(5) {
		ids = append(ids, opt.NewObjectiveID([16]byte{n + 1}))
	}
	m.Handle(now, machine.Enter{ObjectiveID: ids[0], Attempt: 1, At: now, Waiting: 1})
	m.Handle(now, machine.Listed{Key: m.Wants().Activities[0].Key, Begun: ids[1:3], Waiting: []string{ids[0], ids[3]}})
	for range 3 {
		for _, signal := range m.Wants().Signals {
			m.Handle(now, machine.Delivered{To: signal.To, N: signal.N})
		}
		for _, timer := range m.Wants().Timers {
			now = timer.At
			m.Handle(now, machine.Elapsed{Key: timer.Key})
		}
	}
	m.Handle(now, machine.TurnRequest{ObjectiveID: ids[3], Attempt: 1, N: 1, Want: machine.WantTurn, Answering: true, Works: true})
	m.Handle(now, machine.TurnRequest{ObjectiveID: ids[4], Attempt: 1, N: 1, Want: machine.WantTurn, Answering: true, Works: true})
	for i, id := range []string{ids[1], ids[4], ids[3], ids[2], ids[0]} {
		h := m.State.Holder
		if h == nil || h.ID != id || !h.Turn.Held {
			t.Fatalf("as number %d %+v has the turn, want %s", i+1, h, id)
		}
		m.Handle(now, machine.TurnRequest{ObjectiveID: id, Attempt: 1, N: 9, Want: machine.WantLeave, Answering: true})
	}
}

// Rules before rolls ask one again that has the message, as often as it is about to go.
func TestContext_Handle_silentBeforeRolls(t *testing.T) {
	m, now := machine.NewContext("t", "c", 43), a2a.AtMillis(1000)
	holder, silent := opt.NewObjectiveID([16]byte{1}), opt.NewObjectiveID([16]byte{2})
	for attempt, in := range []machine.Enter{{Behind: []string{holder}}, {Starting: []string{opt.RootID(silent, 2)}}} {
		in.ObjectiveID, in.Attempt, in.At = opt.NewObjectiveID([16]byte{3}), attempt, now
		m.Handle(now, in)
	}
	m.Handle(now, machine.Delivered{To: silent, N: m.Message(silent).N})
	for range 3 {
		m.Handle(now, machine.Left(silent)) // [machine.Check] has refused it
		m.Handle(now, machine.TurnRequest{ObjectiveID: silent, Attempt: 1, N: 1, Want: machine.WantLeave})
		now = m.Wants().Timers[0].At
		m.Handle(now, machine.Elapsed{Key: m.Wants().Timers[0].Key})
		m.Handle(now, machine.Delivered{To: silent, N: m.Message(silent).N})
	}
	if h := m.State.Holder; h == nil || h.ID != holder || !m.State.Resting[0].Silent {
		t.Errorf("%+v has the turn, and %+v rests", h, m.State.Resting[0])
	}
}

// A place proves no former context, as in a burst; an objective that is recorded as waiting does.
func TestContext_Handle_burst(t *testing.T) {
	for waiting, lists := range []bool{false, true} {
		m := machine.NewContext("t", "c", machine.Rules)
		m.Handle(a2a.AtMillis(1000), machine.Enter{ObjectiveID: objectiveID, Attempt: 1, At: a2a.AtMillis(900), Starting: []string{opt.NewObjectiveID([16]byte{7})}, Waiting: waiting})
		test.Is(t, "calls the roll", lists, m.State.Lists)
	}
}

// An objective that waits for its first turn leaves it to the reconciler to enter it again; one that had a turn asks again.
func TestObjective_Wants_asksAgain(t *testing.T) {
	for timers, queuedAt := range []a2a.Time{a2a.AtMillis(900), {}} {
		m := &machine.Objective{State: machine.ObjectiveState{
			Rules: machine.Rules, Objective: opt.Objective{ID: objectiveID, Tenant: "t", ContextID: "c", Attempt: 1, Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted, QueuedAt: queuedAt},
			Begin: true, Turn: machine.TurnState{Shared: true, Want: machine.WantTurn, N: 4, Delivered: 4, AskedAt: a2a.AtMillis(1000)},
		}}
		test.Is(t, "timers", timers, len(m.Wants().Timers))
	}
}

// A context has at most 100 messages on their way: Temporal refuses those beyond 2,000.
func TestContext_Wants_limit(t *testing.T) {
	m, now := machine.NewContext("t", "c", machine.Rules), a2a.AtMillis(1000)
	m.Handle(now, machine.TurnRequest{ObjectiveID: objectiveID, Attempt: 1, N: 1, Want: machine.WantRest, Answering: true})
	in := machine.Listed{Key: m.Wants().Activities[0].Key}
	for n := range 150 {
		in.Begun = append(in.Begun, opt.RootID(opt.NewObjectiveID([16]byte{byte(n), 9}), 1))
	}
	m.Handle(now, in)
	test.Is(t, "messages", 100, len(m.Wants().Signals))
	for _, s := range m.Wants().Signals {
		m.Handle(now, machine.Delivered{To: s.To, N: s.N})
	}
	test.Is(t, "messages after those", 50, len(m.Wants().Signals))
	m.Handle(now, machine.Leaving{})
	test.Is(t, "messages of a run that leaves", 0, len(m.Wants().Signals))
}

// A run that continues as new leaves the list of its members to the next.
func TestContext_Wants_leaving(t *testing.T) {
	m, now := machine.NewContext("t", "c", machine.Rules), a2a.AtMillis(1000)
	m.Handle(now, machine.TurnRequest{ObjectiveID: objectiveID, Attempt: 1, N: 1, Want: machine.WantRest, Answering: true})
	key := m.Wants().Activities[0].Key
	m.Handle(now, machine.Leaving{})
	if w := m.Wants(); len(w.Activities) > 0 || w.Done != nil {
		t.Errorf("it wants %+v", w)
	}
	m.Handle(now, machine.Listed{Key: key, Failed: true})
	if next := (&machine.Context{State: m.State}).Wants().Activities; len(next) != 1 || next[0].Key == key {
		t.Errorf("the next run lists by %+v", next)
	}
}

// An objective whose context is not there has an activity ask it, again if that has failed. Turns of before do not count.
func TestObjective_Handle_contextGone(t *testing.T) {
	m := &machine.Objective{State: machine.ObjectiveState{
		Rules: machine.Rules, Objective: opt.Objective{ID: objectiveID, Tenant: "t", ContextID: "c", Attempt: 1, Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted},
		Begin: true, Turn: machine.TurnState{Shared: true, Want: machine.WantTurn, N: 4, Grant: 90},
	}}
	now := a2a.AtMillis(1000)
	m.Handle(now, machine.Delivered{To: machine.ToContext, N: 4, Gone: true})
	first := m.Wants().Activities[0]
	m.Handle(now, machine.Asked{Key: first.Key, Failed: true})
	second := m.Wants().Activities[0]
	if first.Kind != machine.AskContext || first.Key == second.Key || len(m.Wants().Signals) > 0 {
		t.Fatalf("after %+v it wants %+v", first, m.Wants())
	}
	m.Handle(now, machine.Asked{Key: second.Key})
	if w := m.Wants(); len(w.Activities)+len(w.Signals) > 0 || len(w.Timers) != 1 || !m.State.Begin {
		t.Errorf("it wants %+v, and waits: %v", w, m.State.Begin)
	}
	m.Handle(now, machine.Turn{Attempt: 1, N: 80, Request: 5, Held: true, Tenant: "t"})
	m.Handle(now, machine.Turn{Attempt: 1, N: 100, Tenant: "t", Roll: true})
	want := machine.TurnRequest{ObjectiveID: objectiveID, Attempt: 1, N: 6, Want: machine.WantTurn, Answering: true, Answers: 100}
	test.Equal(t, "answer", want, m.State.TurnRequest())
}
