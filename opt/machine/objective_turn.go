package machine

import (
	"fmt"
	"slices"
	"time"

	"longhaul/a2a"
)

// askKey returns the key of the activity that sends the latest request.
func askKey(s *ObjectiveState) string {
	return fmt.Sprintf("%s:ask:%d", s.Objective.RootID(), s.Turn.N)
}

// onAsked notes that an activity has sent a request. One that has failed, as in a reset, is made again.
func onAsked(s *ObjectiveState, in Asked) {
	switch t := &s.Turn; {
	case in.Key != askKey(s) || t.Away == 0:
	case in.Failed:
		t.N++
	default:
		t.Delivered, t.Away = t.N, 0
	}
}

// addTurnWants adds the request that the context does not have, or the wait for the turn.
func addTurnWants(s *ObjectiveState, w *Wants) {
	t := &s.Turn
	if s.Rules >= rulesRoll && awaitsTurn(s) {
		at := a2a.At(t.AskedAt.Time().Add(time.Minute << min(t.Asks, 3)))
		w.Timers = append(w.Timers, Timer{Key: fmt.Sprintf("%s%d", turnTimer, at.Millis()), At: at, Summary: "Wait for the turn, and ask again"})
	}
	switch {
	case t.N <= t.Delivered:
	case t.Away > 0 && t.Want != WantLeave:
		w.Activities = append(w.Activities, Activity{Key: askKey(s), Kind: AskContext, Of: s.Objective.ContextID, After: t.After})
	default:
		w.Signals = append(w.Signals, Signal{To: ToContext, N: t.N, After: t.After})
	}
}

// takeTurn is take under [rulesRoll]: no turn counts that is older than one that has arrived, and a roll is answered by
// any attempt. A context that began again in the same moment may have used a number again: it gets the request again.
func takeTurn(s *ObjectiveState, in Turn, retried bool) {
	t := &s.Turn
	switch {
	case in.Roll && in.N > t.Roll:
		if t.Roll, t.Grant = in.N, max(in.N, t.Grant); !t.Shared {
			t.Held = works(s)
		}
		t.Shared = true
		if retried {
			t.Attempt = in.Attempt
			s.loseTurn()
		}
	case in.N <= t.Grant:
		if in.Request == 0 && t.N > 0 {
			t.Want = ""
		}
	case t.take(in, s.turnAttempt(), s.Epoch > 1, retried):
		s.loseTurn()
	}
}

// ask has the context get what the objective wants of it, if that has changed, or the answer to its roll. That waits
// until it is known what a run from before a reset does.
func ask(s *ObjectiveState, now a2a.Time) {
	t, want := &s.Turn, s.turnWanted()
	if s.Rules < rulesRoll {
		t.ask(want, s.N)
		return
	}
	n, runs := t.N, works(s)
	unsure := func(l *Link) bool { return l.isUnsure(s.Epoch) && !s.Objective.Plan(l.PlanID).Over() }
	if t.Roll > t.Answers && (want == WantLeave || !slices.ContainsFunc(s.Links, unsure)) {
		if s.Objective.Closed() && want != WantLeave {
			want = map[bool]TurnWant{true: WantTurn, false: WantRest}[runs]
		}
		t.Answers, t.Want, t.Held = t.Roll, "", t.Held && runs
	}
	if t.ask(want, s.N); t.N > n {
		t.AskedAt, t.Asks, t.Works = now, 0, runs && want == WantTurn
	}
}

// works reports whether work may be under way: by a planner, or by a plan that may work and has not yielded that.
func works(s *ObjectiveState) bool {
	return s.Making != nil && s.Making.Begun || slices.ContainsFunc(s.Links, func(l *Link) bool {
		p, d := s.Objective.Plan(l.PlanID), l.Directive
		free := !d.Shared && (d.Start || p.Started)
		return !p.Over() && (free || d.Permission > p.Report.Yielded || l.isUnsure(s.Epoch))
	})
}

// awaitsTurn reports whether the objective waits for its turn and has to ask again. Those that wait for their first turn
// are entered again.
func awaitsTurn(s *ObjectiveState) bool {
	t := &s.Turn
	return t.Shared && t.Want == WantTurn && !t.Held && t.N <= t.Delivered && s.Objective.QueuedAt.IsZero() && !s.Objective.Closed()
}

// askAgain repeats the request of an objective that waits, each time after twice as long: an operator may have ended its
// context, and nothing else would say so.
func askAgain(s *ObjectiveState, now a2a.Time) {
	t := &s.Turn
	if awaitsTurn(s) {
		t.N++
	}
	t.AskedAt, t.Asks = now, t.Asks+1
}
