package gateform

import (
	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/opt"
)

// Clock returns a time as text, in UTC.
func Clock(t a2a.Time) string { return t.Time().UTC().Format("2006-01-02 15:04 MST") }

// stepTexts describe a step for the reader of a page.
var stepTexts = map[opt.StepKind]string{
	opt.Remind: "reminders are sent", opt.Escalate: "others may answer, too", opt.Reassign: "others answer, and you may not any more",
}

// Unanswered returns what happens to g without an answer: at its next step, and when it
// expires.
func Unanswered(g *opt.Gate) (list []string) {
	for _, e := range Ahead(g) {
		if e.At.IsZero() {
			list = append(list, e.What)
			continue
		}
		list = append(list, Clock(e.At)+": "+e.What)
	}
	return list
}

// A Consequence is what happens to a gate at a time without an answer.
type Consequence struct {
	At   a2a.Time // zero: at no time
	What string
}

// Ahead returns what happens to g without an answer: at its next step, and when it
// expires.
func Ahead(g *opt.Gate) (list []Consequence) {
	next, ok := g.NextStep()
	if !ok {
		return []Consequence{{What: "the task waits, without a deadline"}}
	}
	if effect, known := stepTexts[next.Kind]; known {
		list = append(list, Consequence{next.At, effect})
	}
	if g.ExpiresAt.IsZero() {
		return list
	}
	last, effect := g.Ladder[len(g.Ladder)-1], "it is rejected"
	switch {
	case g.Kind != opt.Approval:
		effect = "the task fails"
	case last.Action == opt.Accept:
		effect = "it is accepted"
	}
	return append(list, Consequence{g.ExpiresAt, effect})
}

// Word returns how a decision has closed its gate, in words at the beginning of a sentence.
func Word(d opt.Decision) string {
	if d.ByHand {
		return "Closed by hand"
	}
	return d.Action.Outcome()
}

// Closed says why a gate does not wait for an answer that was refused.
func Closed(f *call.Fault) string {
	switch {
	case f.Decided != nil:
		return f.Decided.Outcome() + "."
	case f == call.ErrHasVoted:
		return "You have decided here already. Others have to decide, too."
	}
	return "It was answered, or is not asked any more."
}
