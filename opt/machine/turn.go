package machine

import "longhaul/a2a"

// ToContext is the Signal.To of requests to the context of an objective.
const ToContext = "context"

// TurnState is the state of an objective in the queue of its context. One that is alone there needs no turn.
type TurnState struct {
	Shared    bool     `json:"shared,omitempty"`  // it works only with the turn
	Held      bool     `json:"held,omitempty"`    // it has the turn
	Want      TurnWant `json:"want,omitempty"`    // of the latest request
	N         int64    `json:"n,omitempty"`       // of the latest request
	After     int64    `json:"after,omitempty"`   // event that must be recorded before the request is sent
	Delivered int64    `json:"told,omitempty"`    // number of the latest delivered request
	Grant     int64    `json:"grant,omitempty"`   // of the latest turn that has arrived
	Attempt   int      `json:"attempt,omitempty"` // that its context knows, if it is later than that of the rewound objective
	Roll      int64    `json:"roll,omitempty"`    // the latest roll that has arrived
	Answers   int64    `json:"answers,omitempty"` // the latest one that a request answers
	Away      int64    `json:"away,omitempty"`    // the request for which the context was not there, until an activity has sent it
	AskedAt   a2a.Time `json:"askedAt,omitzero"`  // when it has asked for the turn for which it waits
	Asks      int      `json:"asks,omitempty"`    // how often it has repeated that
	Works     bool     `json:"works,omitempty"`   // some work may have been under way when it made the latest request
}

// Left returns the request of a run that was begun to retry an objective, and does not find it in the
// journal any more: its context may have given it a turn.
func Left(objectiveID string) TurnRequest {
	return TurnRequest{ObjectiveID: objectiveID, Want: WantLeave}
}

// mayWork reports whether the objective may begin anything.
func (t *TurnState) mayWork() bool { return !t.Shared || t.Held }

// share makes the objective work only with the turn. The API has asked for its first turn by entering it into the context;
// an objective that already shares asks by itself.
func (t *TurnState) share() {
	if !t.Shared {
		t.Shared, t.Held, t.Want = true, false, WantTurn
	}
}

// take takes in a turn for an attempt at the objective. The first turn of an objective that was alone says that others have
// come, also if it was for an earlier attempt. Otherwise a turn counts only if it is for this attempt and answers the latest
// request. rewound is whether an earlier run may have given turns back, retried whether a later attempt is one that this run
// does not have: the API has entered a retry of an attempt that was reset. take reports whether others may have the turn.
func (t *TurnState) take(in Turn, attempt int, rewound, retried bool) (lost bool) {
	switch {
	case retried:
		t.Shared, t.Want, t.Grant, t.Attempt = true, "", in.N, in.Attempt
		return true
	case t.Shared && in.Request == 0 && t.N > 0: // the context has removed the objective and added it again
		t.Want, t.Held, t.Grant = "", false, in.N
	case in.N <= t.Grant, t.Shared && in.Attempt != attempt:
	case !t.Shared:
		t.Shared, t.Held, t.Want, t.Grant = true, in.Held && in.Attempt == attempt, "", in.N // the next request says whether it works
		if rewound {
			return true
		}
		if t.Held && t.N == 0 {
			t.Want = WantTurn // as the context assumes
		}
	default:
		t.Grant = in.N
		t.Held = in.Held && in.Request == t.N && t.Want == WantTurn
	}
	return false
}

// ask requests what the objective wants, if that has changed. The request is sent when the event
// after is recorded.
func (t *TurnState) ask(want TurnWant, after int64) {
	if !t.Shared || want == t.Want {
		return
	}
	t.N++
	t.Want, t.After = want, after
	if want != WantTurn {
		t.Held = false
	}
}

// delivered notes that a request was delivered. If the context's workflow does not exist, an operator
// has ended it, or the objective was alone before it was reset: an activity sends the request again, and begins the
// context. One that leaves does not need it: those that wait ask by themselves. Under earlier rules it is alone then.
func (t *TurnState) delivered(in Delivered, rules int) {
	switch {
	case in.Gone && t.Want != WantLeave && rules >= rulesRoll:
		t.Away = max(t.Away, t.N)
		return
	case in.Gone && t.Want != WantLeave:
		t.Shared, t.Held, t.Grant = false, false, 0 // a new context numbers its turns from 1
	}
	t.Delivered = max(t.Delivered, in.N)
}
