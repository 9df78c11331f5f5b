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
		m := machine.NewContext("t", "c")
		m.Handle(now, machine.Enter{ObjectiveID: other, Attempt: 1, At: a2a.AtMillis(900), Starting: []string{objectiveID}})
		m.Handle(now, machine.Delivered{To: objectiveID, N: m.State.Turns, Gone: true})
		m.Handle(now, machine.Enter{ObjectiveID: objectiveID, Attempt: attempt, At: a2a.AtMillis(950)})
		if got := m.State.Holder; got.ID != holder || got.Turn.Attempt != 1 || !got.RetryAt.IsZero() {
			t.Errorf("attempt %d: %+v has the turn", attempt, got)
		}
	}
}
