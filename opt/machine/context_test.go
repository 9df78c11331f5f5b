package machine_test

import (
	"testing"

	"longhaul/a2a"
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
