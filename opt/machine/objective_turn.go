package machine

import (
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// ToContext is the Signal.To of requests to the context of an objective.
const ToContext = "context"

// TurnState is the state of an objective in the queue of its context. An
// objective that is alone in its context needs no turn.
type TurnState struct {
	Shared    bool     `json:"shared,omitempty"`  // it works only with the turn
	Held      bool     `json:"held,omitempty"`    // it has the turn
	Want      TurnWant `json:"want,omitempty"`    // of the latest request
	N         int64    `json:"n,omitempty"`       // of the latest request
	After     int64    `json:"after,omitempty"`   // event that must be recorded before the request is sent
	Delivered int64    `json:"told,omitempty"`    // number of the latest delivered request
	Grant     int64    `json:"grant,omitempty"`   // of the latest turn that has arrived
	Attempt   int      `json:"attempt,omitempty"` // that its context knows, if it is later than that of the rewound objective
}

// mayWork reports whether the objective may begin anything.
func (m *Objective) mayWork() bool { return !m.State.Turn.Shared || m.State.Turn.Held }

// queue makes the objective wait for its turn, since the time of its place.
func (m *Objective) queue(at a2a.Time) {
	m.apply(opt.Event{Kind: opt.ObjectiveQueued, QueuedAt: at})
	m.share()
}

// share makes the objective work only with the turn. The API has asked for its
// first turn by entering it into the context; an objective that already shares
// asks by itself.
func (m *Objective) share() {
	if t := &m.State.Turn; !t.Shared {
		t.Shared, t.Held, t.Want = true, false, WantTurn
	}
}

// onTurn handles a turn from the context. The first turn of an objective that was
// alone says that others have come, also if it was for an earlier attempt. Otherwise
// a turn counts only if it is for this attempt and answers the latest request.
func (m *Objective) onTurn(in Turn) {
	s := &m.State
	t := &s.Turn
	attempt := m.turnAttempt()
	switch {
	case in.Tenant != s.Objective.Tenant:
		return
	case in.Attempt > attempt && s.Epoch > 1 && !s.Objective.Status.Ended(): // the API has entered a retry of an attempt that was reset
		m.loseTurn()
		t.Shared, t.Want, t.Grant, t.Attempt = true, "", in.N, in.Attempt
		return
	case t.Shared && in.Request == 0 && t.N > 0: // the context has removed the objective and added it again
		t.Want, t.Held, t.Grant = "", false, in.N
		return
	case in.N <= t.Grant, t.Shared && in.Attempt != attempt:
		return
	case !t.Shared:
		t.Shared, t.Held, t.Want, t.Grant = true, in.Held && in.Attempt == attempt, "", in.N // the next request says whether it works
		if s.Epoch > 1 {                                                                     // an earlier run may have given that turn back
			m.loseTurn()
		}
		if t.Held && t.N == 0 {
			t.Want = WantTurn // as the context assumes
		}
		return
	}
	t.Grant = in.N
	t.Held = in.Held && in.Request == t.N && t.Want == WantTurn
}

// requestTurn sends the context the objective's want when that has changed. The
// objective gives its turn back while it cannot continue, and for good when it
// has ended.
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

// loseTurn notes that others may have the turn that a rewound objective had: it asks for it again
// before it works. A planner that works is asked again then.
func (m *Objective) loseTurn() {
	s := &m.State
	s.Turn.Held = false
	if k := s.Making; k != nil && k.Begun {
		s.Makings++
		k.Key, k.Begun = m.plans().makingKey(), false
	}
	for _, l := range s.Links {
		if !l.Begun {
			l.Directive.Permission = 0
		}
	}
}

func (m *Objective) turnWanted() TurnWant {
	s := &m.State
	switch {
	case s.Objective.Settled():
		return WantLeave
	case s.Objective.Closed():
		return s.Turn.Want // tasks stop with or without the turn
	case m.resting():
		return WantRest
	}
	return WantTurn
}

// resting reports whether nothing can continue: every started plan has ended, or
// has yielded its permission and asks for none.
func (m *Objective) resting() bool {
	s, o := &m.State, &m.State.Objective
	starting := s.Current != nil && s.Current.PlanID != "" && s.Current.Command.Status == string(opt.PlanWorking) ||
		slices.ContainsFunc(s.Overdue, func(c Overdue) bool { return c.Command.Status == string(opt.PlanWorking) })
	if s.Begin && !o.Paused || s.Making != nil || starting { // the plan may have begun
		return false
	}
	active := slices.ContainsFunc(s.Links, func(l *Link) bool {
		p := o.Plan(l.PlanID)
		if l.Begun && l.Unheard && !p.Over() { // it may work
			return true
		}
		return !p.Over() && p.Started && (l.Directive.Permission > p.Report.Yielded || p.Report.Asks || l.Directive.Permission == 0)
	})
	return !active && len(o.Startable()) == 0
}

// onRequestDelivered notes that a request was delivered. If the context's workflow does
// not exist, an operator has ended it: then the objective is alone.
func (m *Objective) onRequestDelivered(in Delivered) {
	t := &m.State.Turn
	t.Delivered = max(t.Delivered, in.N)
	if m.State.Lost && in.N == t.N { // it has left, if it was there
		*t, m.State.Lost = TurnState{N: t.N, Delivered: t.N}, false
		return
	}
	if in.Gone && t.Want != WantLeave {
		t.Shared, t.Held, t.Grant = false, false, 0 // a new context numbers its turns from 1
	}
}

// Left returns the request of a run that was begun to retry an objective, and does not find it in the
// journal any more: its context may have given it a turn.
func Left(objectiveID string) TurnRequest {
	return TurnRequest{ObjectiveID: objectiveID, Want: WantLeave}
}

// turnAttempt returns the attempt under which the context knows the objective.
func (m *Objective) turnAttempt() int { return max(m.State.Objective.Attempt, m.State.Turn.Attempt) }

// Request returns the content of the signal to the context.
func (m *Objective) Request() TurnRequest {
	o := &m.State.Objective
	return TurnRequest{ObjectiveID: o.ID, Attempt: m.turnAttempt(), N: m.State.Turn.N, Want: m.State.Turn.Want}
}
