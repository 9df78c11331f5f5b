package machine

import (
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// ToContext is the Signal.To of requests to the context of an objective.
const ToContext = "context"

// TurnState is where an objective stands in the queue of its context. One that
// shares the context with no other is alone, and works when it can.
type TurnState struct {
	Shared bool     `json:"shared,omitempty"` // it works with the turn alone
	Held   bool     `json:"held,omitempty"`   // it has the turn
	Want   TurnWant `json:"want,omitempty"`   // of the latest request
	N      int64    `json:"n,omitempty"`      // of the latest request
	After  int64    `json:"after,omitempty"`  // event that is recorded before it is told
	Told   int64    `json:"told,omitempty"`   // number of the latest request that has arrived
	Grant  int64    `json:"grant,omitempty"`  // of the latest turn that has come
}

// mayWork reports whether the objective may begin anything.
func (m *Objective) mayWork() bool { return !m.State.Turn.Shared || m.State.Turn.Held }

// queue has the objective wait for its turn, since the time of its place.
func (m *Objective) queue(at a2a.Time) {
	m.apply(opt.Event{Kind: opt.ObjectiveQueued, QueuedAt: at})
	m.share()
}

// share has the objective work with the turn alone. Who entered it into its context
// asked for its first turn. One that shares already asks by itself.
func (m *Objective) share() {
	if t := &m.State.Turn; !t.Shared {
		t.Shared, t.Held, t.Want = true, false, WantTurn
	}
}

// onTurn takes in where the context says that the objective stands. The first
// turn of one that was alone says that others have come. Otherwise a turn counts
// only if it answers the latest request.
func (m *Objective) onTurn(in Turn) {
	s := &m.State
	t := &s.Turn
	switch {
	case in.Tenant != s.Objective.Tenant:
		return
	case t.Shared && in.Request == 0 && t.N > 0: // the context has forgotten the objective, and heard of it again
		t.Want, t.Held, t.Grant = "", false, in.N
		return
	case in.N <= t.Grant:
		return
	case !t.Shared:
		t.Shared, t.Held, t.Want, t.Grant = true, in.Held, "", in.N // the context hears whether it works
		if in.Held && t.N == 0 {
			t.Want = WantTurn // which is what the context takes it for
		}
		return
	}
	t.Grant = in.N
	t.Held = in.Held && in.Request == t.N && t.Want == WantTurn
}

// requestTurn tells the context what the objective wants, when that has changed.
// It gives its turn back while it cannot go on, and for good when it has ended.
func (m *Objective) requestTurn() {
	t := &m.State.Turn
	if !t.Shared {
		return
	}
	want := m.turnWanted()
	if want == t.Want {
		return
	}
	t.N++
	t.Want, t.After = want, m.State.N
	if want != WantTurn {
		t.Held = false
	}
}

func (m *Objective) turnWanted() TurnWant {
	s := &m.State
	switch {
	case s.Objective.Settled():
		return WantLeave
	case closed(&s.Objective):
		return s.Turn.Want // what runs stops, with the turn or without
	case m.resting():
		return WantRest
	}
	return WantTurn
}

// resting reports whether nothing can go on: every plan that was started has
// ended, or has given up its permission and asks for none.
func (m *Objective) resting() bool {
	s, o := &m.State, &m.State.Objective
	starting := s.Current != nil && s.Current.PlanID != "" && s.Current.Command.Status == string(opt.PlanWorking)
	if s.Begin || s.Making != nil || starting { // the plan may have begun already
		return false
	}
	active := slices.ContainsFunc(s.Links, func(l *Link) bool {
		p := o.Plan(l.PlanID)
		return !p.Over() && p.Started && (l.Directive.Permission > p.Report.Yielded || p.Report.Asks || l.Directive.Permission == 0)
	})
	return !active && len(o.Startable()) == 0
}

// onTurnTold notes that a request has arrived. If nobody gives turns any more, an
// operator has ended the context: then the objective is alone.
func (m *Objective) onTurnTold(in Told) {
	t := &m.State.Turn
	t.Told = max(t.Told, in.N)
	if in.Gone && t.Want != WantLeave {
		t.Shared, t.Held, t.Grant = false, false, 0 // another context would number its turns anew
	}
}

// Request returns what the signal to the context says.
func (m *Objective) Request() TurnRequest {
	o := &m.State.Objective
	return TurnRequest{ObjectiveID: o.ID, Attempt: o.Attempt, N: m.State.Turn.N, Want: m.State.Turn.Want}
}
