package answerpage

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// clock returns a time as the pages show it.
func clock(t a2a.Time) string { return t.Time().UTC().Format("2006-01-02 15:04 MST") }

// steps describe a step for the reader of a page.
var steps = map[opt.StepKind]string{
	opt.Remind: "reminders are sent", opt.Escalate: "others may answer, too", opt.Reassign: "others answer, and you may not any more",
}

// unanswered returns what happens to g without an answer: at its next step, and when it
// expires.
func unanswered(g *opt.Gate) (list []string) {
	next, ok := g.NextStep()
	if !ok {
		return []string{"the task waits, without a deadline"}
	}
	if what, known := steps[next.Kind]; known {
		list = append(list, clock(next.At)+": "+what)
	}
	if g.ExpiresAt.IsZero() {
		return list
	}
	last, what := g.Ladder[len(g.Ladder)-1], "it is rejected"
	switch {
	case g.Kind != opt.Approval:
		what = "the task fails"
	case last.Action == opt.Accept:
		what = "it is accepted"
	}
	return append(list, clock(g.ExpiresAt)+": "+what)
}

// outcomes say how a gate was decided.
var outcomes = map[opt.Action]string{
	opt.Accept: "Accepted", opt.Reject: "Rejected", opt.Refine: "Sent back to be made better", opt.EditAccept: "Accepted with changes", "": "Answered",
}

// outcome returns how and when a gate was closed: not by whom and with which words, since
// the bearer of a link may not be one who may read the task.
func outcome(d opt.Decided) string {
	text := outcomes[d.Action]
	if d.DecidedBy == opt.ByTimer {
		if text = "Closed"; d.Action != "" {
			text = outcomes[d.Action]
		}
		text += ", since nobody answered in time"
	}
	return text + ": " + clock(d.At) + "."
}
