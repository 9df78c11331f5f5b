package console

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/mattn/go-runewidth"

	"longhaul/a2a"
	"longhaul/opt"
)

// cells counts how wide texts are, the same in all locales.
var cells = runewidth.Condition{StrictEmojiNeutral: true}

// shorten returns the beginning of a text in one line, as wide as a number of Latin
// letters, with an ellipsis if more follows.
func shorten(s string, width int) string {
	return cells.Truncate(strings.Join(strings.Fields(s), " "), width, "…")
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

// cutText returns at most a number of bytes of a text, in whole characters; cut says
// that more follows.
func cutText(s string, most int) (text string, cut bool) {
	if len(s) <= most {
		return s, false
	}
	return strings.ToValidUTF8(s[:most], ""), true
}

// sizeText returns a number of bytes for people.
func sizeText(n int) string { return humanize.IBytes(uint64(n)) }

// titleOfGate returns the title of a gate, or what it waits for if it has none.
func titleOfGate(g *opt.Gate) string {
	switch {
	case strings.TrimSpace(a2a.Visible(g.Title)) != "":
		return g.Title
	case len(g.Questions) > 0 && strings.TrimSpace(g.Questions[0].Question) != "":
		return g.Questions[0].Question
	case g.Kind == opt.Credential:
		return "an authorization"
	case g.Kind == opt.Clarification:
		return "a question"
	}
	return "a decision"
}

// namesIn returns who is named as one who may answer.
func namesIn(r *opt.Responders) []string {
	return slices.Concat(r.Principals, each(r.Groups, func(g string) string { return "the group " + g }))
}

// respondersText returns who may answer, "" for everyone with the scope.
func respondersText(r *opt.Responders) string {
	if r == nil {
		return ""
	}
	text := strings.Join(namesIn(r), ", ")
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
	return shorten(a2a.Visible(titleOfGate(g)), titleWidth) + g.Again()
}

// nameOfTask returns the name of a plan task, "" if o has none with the id.
func nameOfTask(o *opt.Objective, id string) string {
	if _, t := taskAt(o, keyOfTask(id)); t != nil {
		return t.Name
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

// each returns what a function makes of each of a list.
func each[T, S any](list []T, of func(T) S) (out []S) {
	for _, one := range list {
		out = append(out, of(one))
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
	opt.SentBack:              "sent back, and made again",
	opt.PausedByClient:        "by a client",
	opt.PausedByObjective:     "with its objective",
	string(opt.PlanFailed):    "stopped, since the work has failed",
	string(opt.TaskCanceled):  "stopped by a cancellation",
}
