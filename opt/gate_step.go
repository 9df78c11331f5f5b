package opt

import (
	"errors"
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/opt/worktime"
)

// A StepKind says what happens at a gate that has been open for some time.
type StepKind string

// The kinds of step.
const (
	Remind   StepKind = "remind"   // the responders get another notice
	Escalate StepKind = "escalate" // others may answer as well
	Reassign StepKind = "reassign" // others may answer, in place of those before
	Expire   StepKind = "expire"   // the gate is decided without an answer
)

// Valid reports whether k is a kind of step.
func (k StepKind) Valid() bool {
	return k == Remind || k == Escalate || k == Reassign || k == Expire
}

// ReasonTimeout is the reason of a task that failed because its gate expired, and the
// feedback in the reply to an executor whose approval expired. It is decided [ByTimer].
const ReasonTimeout = "timeout"

// Limits of a ladder.
const (
	MaxSteps     = 20
	MaxStepAfter = 366 * 24 * 3600 // seconds
)

// A Step is what happens at a gate after it has been open for some time. Only the
// last step of a gate may be an expiry.
type Step struct {
	Kind   StepKind    `json:"kind"`
	After  int64       `json:"after"`            // seconds since the gate was opened
	Works  bool        `json:"works,omitempty"`  // After counts working time; only before the gate opens, as Calendar
	To     *Responders `json:"to,omitempty"`     // of escalate and reassign: its principals and groups
	Action Action      `json:"action,omitempty"` // of expire, at an approval: accept or reject; "" for reject

	Calendar *worktime.Calendar `json:"calendar,omitempty"` // by which working time counts from the step before on; nil for that until then
}

// A NextStep is the step that a gate takes next if it is still open then.
type NextStep struct {
	Kind   StepKind `json:"kind"`
	At     a2a.Time `json:"at"`
	Action Action   `json:"action,omitempty"` // of expire, at an approval
}

// String returns s as "remind" or "expire (reject)".
func (s NextStep) String() string {
	if s.Action == "" {
		return string(s.Kind)
	}
	return fmt.Sprintf("%s (%s)", s.Kind, s.Action)
}

// NextStep returns the step that g takes next; ok is false if there is none.
func (g *Gate) NextStep() (next NextStep, ok bool) {
	if g.Taken >= len(g.Ladder) {
		return NextStep{}, false
	}
	s := g.Ladder[g.Taken]
	next = NextStep{Kind: s.Kind, At: g.after(s)}
	if s.Kind == Expire && g.Kind == Approval {
		next.Action = s.Action
		if next.Action == "" {
			next.Action = Reject
		}
	}
	return next, true
}

// after returns the time of a step of g that is not taken yet.
func (g *Gate) after(s Step) a2a.Time {
	return a2a.AtMillis(g.RequestedAt.Millis() + s.After*1000 + g.Late)
}

// Opened returns g as it is when it opens at a time: with no step taken, no vote and
// no exchange, and the time at which it expires. A gate without a ladder expires after some seconds if
// timeout is above 0.
func (g *Gate) Opened(at a2a.Time, timeout int) Gate {
	out := *g
	out.RequestedAt, out.Taken, out.Late = at, 0, 0
	out.Votes, out.Exchanges, out.Omitted, out.Next = nil, nil, 0, nil
	if len(out.Ladder) == 0 && timeout > 0 {
		out.Ladder = []Step{{Kind: Expire, After: int64(timeout)}}
	}
	out.ExpiresAt = out.expiry()
	return out
}

// Clock returns by which calendar the time before the i-th step of g counts, from 0 on, as long as g is not
// open; nil for none.
func (g *Gate) Clock(i int) *worktime.Calendar {
	for ; i >= 0; i-- {
		if c := g.Ladder[i].Calendar; c != nil {
			return c
		}
	}
	return g.Calendar
}

// Clocked returns g as it is about to open at a time, with all of its steps in seconds since then. None
// comes before the one above it, or later than steps may. Without byStep, calendars of steps do not count.
func (g *Gate) Clocked(at a2a.Time, byStep bool) Gate {
	out := *g
	out.Ladder, out.Calendar = slices.Clone(g.Ladder), nil
	opened, before, worked := at.Millis()/1000, int64(0), int64(0)
	for i := range out.Ladder {
		s, c := &out.Ladder[i], g.Calendar
		if byStep {
			c = g.Clock(i)
		}
		if left := s.After - worked; s.Works && c != nil {
			s.After = 0
			if left > 0 {
				s.After = c.After(opened+before, left, MaxStepAfter-before) - opened
			}
		}
		s.Works, s.Calendar, s.After = false, nil, max(s.After, before+1)
		if c != nil {
			worked += c.Between(opened+before, opened+s.After)
		}
		before = s.After
	}
	return out
}

// expiry returns the time at which g expires, the zero time if it never does.
func (g *Gate) expiry() a2a.Time {
	if last := len(g.Ladder) - 1; last >= 0 && g.Ladder[last].Kind == Expire {
		return g.after(g.Ladder[last])
	}
	return a2a.Time{}
}

// Stepped returns g after its next step, which must not be an expiry and is taken at
// a time. If that is late, since no worker ran, the other steps are later:
// people have the time between two steps that the ladder gives them, working time as asked has it, which
// is g before it opened; nil if all is other time. After a
// reassignment the votes of principals who may no longer decide do not count, and
// they may vote again if another of their groups decides now.
func (g *Gate) Stepped(at a2a.Time, asked *Gate) Gate {
	out, s := *g, g.Ladder[g.Taken]
	out.Taken++
	if asked != nil && slices.ContainsFunc(asked.Ladder[min(out.Taken, len(asked.Ladder)):], func(s Step) bool { return s.Works }) {
		out.Ladder = g.postponed(at, asked)
	} else {
		out.Late += max(0, at.Millis()-g.after(s).Millis())
	}
	out.ExpiresAt = out.expiry()
	switch s.Kind {
	case Escalate:
		out.Responders = g.Responders.Joined(s.To)
	case Reassign:
		out.Responders = g.Responders.Replaced(s.To)
		out.Votes = slices.DeleteFunc(slices.Clone(g.Votes), func(v Vote) bool { return !out.Responders.names(v.seat(), v.Groups) })
	}
	return out
}

// postponed returns the ladder of g when its next step is taken at a time.
func (g *Gate) postponed(at a2a.Time, asked *Gate) []Step {
	begin := g.RequestedAt.Millis() + g.Late // steps were late under earlier rules
	out, opened := slices.Clone(g.Ladder), begin/1000
	before := g.Ladder[g.Taken].After
	now := max(before, (at.Millis()-begin)/1000)
	for i := g.Taken + 1; i < len(out); i++ {
		planned := g.Ladder[i].After
		next := now + planned - before
		if c := asked.Clock(i); c != nil && asked.Ladder[i].Works {
			if work := c.Between(opened+before, opened+planned); work > 0 {
				next = max(planned, c.After(opened+now, work, MaxStepAfter)-opened)
			}
		}
		out[i].After = next
		before, now = planned, next
	}
	return out
}

// A StepError says which step of a ladder is wrong.
type StepError struct {
	N       int // 1 for the first
	Problem string
}

func (e *StepError) Error() string { return fmt.Sprintf("step %d: %s", e.N, e.Problem) }

// CheckLadder returns why g cannot have its ladder, a [StepError] if it is because
// of one step; nil if it can.
func (g *Gate) CheckLadder() error {
	if len(g.Ladder) > MaxSteps {
		return fmt.Errorf("a gate has at most %d steps", MaxSteps)
	}
	if err := g.checkCalendars(); err != nil {
		return err
	}
	before := map[bool]int64{} // by [Step.Works]: which of two comes first that count apart is not known yet
	for i, s := range g.Ladder {
		wrong := s.check(g)
		switch {
		case wrong != nil:
		case s.Works && g.Clock(i) == nil:
			wrong = errors.New("working time needs a calendar")
		case s.After <= before[s.Works]:
			wrong = errors.New("must be later than the step before")
		case s.Kind == Expire && i < len(g.Ladder)-1:
			wrong = errors.New("only the last step may be an expiry")
		}
		if wrong != nil {
			return &StepError{i + 1, wrong.Error()}
		}
		before[s.Works] = s.After
	}
	return nil
}

// checkCalendars returns why one of the calendars of g is none.
func (g *Gate) checkCalendars() error {
	for i := -1; i < len(g.Ladder); i++ {
		if c := g.Clock(i); c != nil {
			if err := c.Check(); err != nil {
				return fmt.Errorf("calendar: %w", err)
			}
		}
	}
	return nil
}

// check returns why s cannot be a step of g, wherever it is in the ladder.
func (s Step) check(g *Gate) error {
	others := s.Kind == Escalate || s.Kind == Reassign
	switch {
	case !s.Kind.Valid():
		return fmt.Errorf("there is no step %q: a step is one of %s, %s, %s, %s", s.Kind, Remind, Escalate, Reassign, Expire)
	case s.After < 1 || s.After > MaxStepAfter:
		return errors.New("must be between one second and 366 days after the gate opens")
	case others && s.checkTo(g) != nil:
		return s.checkTo(g)
	case !others && s.To != nil:
		return fmt.Errorf("%s names no responders", s.Kind)
	case s.Action == "":
		return nil
	case s.Kind != Expire || g.Kind != Approval:
		return errors.New("only the expiry of an approval has an action")
	case s.Action != Accept && s.Action != Reject:
		return fmt.Errorf("an approval expires with %s or %s, not %q", Accept, Reject, s.Action)
	case s.Action == Accept && !g.Allows(Accept):
		return errors.New("accept is not offered at this gate")
	}
	return nil
}

// checkTo returns why s, which changes who may answer g, cannot have its responders.
func (s Step) checkTo(g *Gate) error {
	switch {
	case s.To == nil || len(s.To.Principals)+len(s.To.Groups) == 0:
		return fmt.Errorf("%s needs the principals or groups that may answer then", s.Kind)
	case s.To.NotRequester || s.To.Accepts != 0 || s.To.NoVeto:
		return fmt.Errorf("%s changes only who may answer: principals and groups", s.Kind)
	case s.Kind == Reassign:
		return g.Responders.Replaced(s.To).CheckAccepts()
	}
	return nil
}
