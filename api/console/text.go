package console

import (
	"fmt"
	"strings"
	"unicode"

	"longhaul/a2a"
	"longhaul/opt"
)

// shorten returns the beginning of a text in one line, as wide as a number of Latin
// letters, with an ellipsis if more follows.
func shorten(s string, width int) string {
	s = strings.Join(strings.Fields(s), " ")
	taken, cut := 0, 0
	for i, r := range s {
		taken += widthOf(r)
		if taken <= width-1 {
			cut = i + len(string(r))
		}
		if taken > width {
			return strings.TrimSpace(s[:cut]) + "…"
		}
	}
	return s
}

// beginningText returns the beginning of a text with its line breaks, at most a number of
// bytes, with an ellipsis if more follows.
func beginningText(s string, most int) string {
	s = strings.TrimSpace(s)
	text, cut := cutText(s, most)
	if cut {
		return strings.TrimSpace(text) + "…"
	}
	return s
}

// widthOf returns how many Latin letters are as wide as r, about.
func widthOf(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0
	case r >= 0x1100 || unicode.IsUpper(r) && (r == 'M' || r == 'W'):
		return 2
	}
	return 1
}

// cutText returns at most a number of bytes of a text, in whole characters; cut says
// that more follows.
func cutText(s string, most int) (text string, cut bool) {
	if len(s) <= most {
		return s, false
	}
	return strings.ToValidUTF8(s[:most], ""), true
}

// sizeText returns a number of bytes for people.
func sizeText(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// taskNote returns why a task is in its state, or what it does; "" for nothing.
func taskNote(t *opt.Task) string {
	if t.Failure != "" {
		return shorten(a2a.Visible(t.Failure), 300)
	}
	if t.State == opt.TaskWorking && t.Said != "" {
		return shorten(a2a.Visible(t.Said), 200)
	}
	if t.Reason == "" || t.Gate != nil {
		return ""
	}
	return reasonText(t.Reason)
}

// titleOfGate returns the title of a gate, or what it waits for if it has none.
func titleOfGate(g *opt.Gate) string {
	switch {
	case g.Title != "":
		return g.Title
	case g.Kind == opt.Credential:
		return "an authorization"
	case g.Kind == opt.Clarification:
		return "a question"
	}
	return "a decision"
}

// respondersText returns who may answer, "" for everyone with the scope.
func respondersText(r *opt.Responders) string {
	if r == nil {
		return ""
	}
	var who []string
	who = append(who, r.Principals...)
	for _, g := range r.Groups {
		who = append(who, "the group "+g)
	}
	text := strings.Join(who, ", ")
	if text == "" && (r.NotRequester || r.Several()) {
		text = "everyone"
	}
	if r.NotRequester {
		text += ", but not who asked for the work"
	}
	if r.Several() {
		text += fmt.Sprintf("; %d have to accept", r.Accepts)
		if r.NoVeto {
			text += fmt.Sprintf(", and %d to reject", r.Accepts)
		}
	}
	return a2a.Visible(text)
}

// titleWidth is the width of a title in a list.
const titleWidth = 160

// gateTitle returns the title of a gate, with how many times it was asked.
func gateTitle(g *opt.Gate) string {
	title := g.Title
	if title == "" && len(g.Questions) > 0 {
		title = g.Questions[0].Question
	}
	if title = shorten(a2a.Visible(title), titleWidth); strings.TrimSpace(title) == "" {
		title = "A task waits for an answer"
	}
	return title + g.Again()
}

// nameOfTask returns the name of a plan task, "" if o has none with the id.
func nameOfTask(o *opt.Objective, id string) string {
	ref, _ := opt.ParseID(id)
	if p := o.Plan(ref.PlanID); p != nil {
		if t := p.Task(ref.TaskID); t != nil {
			return t.Name
		}
	}
	return ""
}

// nameOfPlan returns the name of a plan in quotation marks.
func nameOfPlan(o *opt.Objective, id string) string {
	if p := o.Plan(id); p != nil {
		return quoted(p.Name)
	}
	return "a plan"
}

func quoted(name string) string { return "“" + shorten(a2a.Visible(name), titleLetters) + "”" }

// each returns a text for each of a list.
func each[T any](list []T, text func(T) string) (out []string) {
	for _, one := range list {
		out = append(out, text(one))
	}
	return out
}

// listed returns names behind the words before them, "" for none.
func listed(before string, names []string) string {
	if more := len(names) - mostNamed; more > 0 {
		names = append(names[:mostNamed:mostNamed], fmt.Sprintf("%d more", more))
	}
	if len(names) == 0 {
		return ""
	}
	return before + strings.Join(names, ", ")
}

// stageReason returns the reason of a state in plain words, "" if the word for the state says
// it.
func stageReason(word, reason string) string {
	if text := reasonText(reason); text != word {
		return text
	}
	return ""
}

// reasonText returns a reason in plain words.
func reasonText(reason string) string {
	if text, ok := reasons[reason]; ok {
		return text
	}
	return a2a.Visible(reason)
}

// reasons has the reasons of states in plain words.
var reasons = map[string]string{
	opt.BlockedByDependencies: "waits for other plans",
	opt.BlockedByInput:        "for an answer",
	opt.BlockedByAuth:         "for an authorization",
	opt.BlockedByOperator:     "paused",
	opt.BlockedByPlan:         "one of its plans is paused",
	opt.NothingToDo:           "has no open plan, and waits for a new one",
	opt.NothingCompleted:      "only optional plans were left, and they failed",
	opt.Replanned:             "other plans replace it",
	opt.Replanning:            "new plans are made",
	opt.ObjectiveEnded:        "the objective was declared completed",
	opt.Terminated:            "an operator ended its workflow",
	opt.Expired:               "it was not started in time",
	opt.ReasonRejected:        "the agent rejected a task",
	opt.ReasonTimeout:         "no answer came in time",
	opt.ByHand:                "moved by hand",
	opt.ReasonLinked:          "as the task that stands in for it",
	opt.HeldByQuota:           "waits for a quota",
	opt.SentBack:              "sent back, and made again",
	opt.PausedByClient:        "by a client",
	opt.PausedByObjective:     "with its objective",
	string(opt.PlanFailed):    "stopped, since the work has failed",
	string(opt.TaskCanceled):  "stopped by a cancellation",
}
