package opt

import "longhaul/a2a"

// A StepKind says what happens at a gate that has been open for some time.
type StepKind string

// The kinds of step.
const (
	Remind   StepKind = "remind"   // the responders are told again
	Escalate StepKind = "escalate" // others may answer as well
	Reassign StepKind = "reassign" // others may answer, in place of those before
	Expire   StepKind = "expire"   // the gate is decided without an answer
)

// Valid reports whether k is a kind of step.
func (k StepKind) Valid() bool {
	return k == Remind || k == Escalate || k == Reassign || k == Expire
}

// A Step is what happens at a gate after it has been open for some time. Only the
// last step of a gate may be an expiry.
type Step struct {
	Kind   StepKind    `json:"kind"`
	After  int64       `json:"after"`            // seconds since the gate was opened
	To     *Responders `json:"to,omitempty"`     // of escalate and reassign: its principals and groups
	Action Action      `json:"action,omitempty"` // of expire, at an approval: accept or reject; "" for reject
}

// A NextStep is the step that a gate takes next if it is still open then.
type NextStep struct {
	Kind   StepKind `json:"kind"`
	At     a2a.Time `json:"at"`
	Action Action   `json:"action,omitempty"` // of expire, at an approval
}

// NextStep returns the step that g takes next; ok is false if there is none.
func (g *Gate) NextStep() (next NextStep, ok bool) {
	if g.Taken >= len(g.Ladder) {
		return NextStep{}, false
	}
	s := g.Ladder[g.Taken]
	next = NextStep{Kind: s.Kind, At: a2a.AtMillis(g.RequestedAt.Millis() + s.After*1000)}
	if s.Kind == Expire && g.Kind == Approval {
		next.Action = s.Action
		if next.Action == "" {
			next.Action = Reject
		}
	}
	return next, true
}
