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

// Unanswered returns what happens to g without an answer, step by step.
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

// Ahead returns what happens to g without an answer, step by step.
func Ahead(g *opt.Gate) (list []Consequence) {
	for rest := *g; rest.Taken < len(rest.Ladder); rest.Taken++ {
		next, _ := rest.NextStep()
		effect, known := stepTexts[next.Kind]
		switch {
		case known:
		case g.Kind != opt.Approval:
			effect = "the task fails"
		case next.Action == opt.Accept:
			effect = "it is accepted"
		default:
			effect = "it is rejected"
		}
		list = append(list, Consequence{next.At, effect})
	}
	if len(list) == 0 || g.ExpiresAt.IsZero() {
		list = append(list, Consequence{What: "the task waits, without a deadline"})
	}
	return list
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
