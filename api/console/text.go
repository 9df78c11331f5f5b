package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/mattn/go-runewidth"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/shown"
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
	text, cut := cutText(strings.TrimSpace(s), most)
	return strings.TrimSpace(text) + when(cut, "…")
}

// cutText returns at most a number of bytes of a text, in whole characters; cut says that more follows.
func cutText(s string, most int) (text string, cut bool) {
	if len(s) <= most {
		return s, false
	}
	return strings.ToValidUTF8(s[:most], ""), true
}

func sizeText(n int) string { return humanize.IBytes(uint64(n)) }

// titleOfGate returns the title of a gate, or what it waits for if it has none.
func titleOfGate(g *opt.Gate) string {
	first := ""
	if len(g.Questions) > 0 {
		first = g.Questions[0].Question
	}
	return cmp.Or(strings.TrimSpace(a2a.Visible(g.Title)), strings.TrimSpace(first), untitled[g.Kind], "a decision")
}

// untitled say what a gate without a title and a question waits for.
var untitled = map[opt.GateKind]string{opt.Credential: "an authorization", opt.Clarification: "a question"}

const titleWidth = 160

func gateTitle(g *opt.Gate) string {
	return shorten(a2a.Visible(titleOfGate(g)), titleWidth) + g.Again()
}

func nameOfPlan(o *opt.Objective, id string) string {
	if p := o.Plan(id); p != nil {
		return quoted(p.Name)
	}
	return "a plan"
}

func nameText(name string) string { return shorten(a2a.Visible(name), titleLetters) }

// quoted returns a name in quotation marks, "" for none.
func quoted(name string) string {
	return when(name != "", "“"+nameText(name)+"”")
}

func each[T, S any](list []T, of func(T) S) (out []S) {
	for _, one := range list {
		out = append(out, of(one))
	}
	return out
}

func filter[T any](list []T, keep func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), func(one T) bool { return !keep(one) })
}

// listed returns names behind the words before them, "" for none.
func listed(before string, names []string) string {
	return behind(before, strings.Join(few(names), ", "))
}

// few returns the first names, and how many more there are.
func few(names []string) []string {
	if more := len(names) - mostNamed; more > 0 {
		return append(names[:mostNamed:mostNamed], fmt.Sprintf("%d more", more))
	}
	return names
}

// when returns a text if something is so, else "".
func when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// behind returns a text behind the words before it, "" for none.
func behind(before, text string) string { return when(text != "", before+text) }

// shownText returns a text of others, cut if it is long.
func shownText(s string) string { return a2a.Visible(beginningText(s, usualMeasure.one)) }

func questionOf(g *opt.Gate, id string) string {
	i := slices.IndexFunc(g.Questions, func(q opt.Question) bool { return q.ID == id })
	if i < 0 {
		return a2a.Visible(id)
	}
	return a2a.Visible(cmp.Or(g.Questions[i].Question, id))
}

// countsText says whether a reply that did not close its gate counts.
func countsText(d opt.Decision) string {
	return cmp.Or(when(d.Verdict != opt.Accepted, "refused: "+verdictText(d.Verdict)), "counts")
}

// stepsTaken say what a step of a ladder has done.
var stepsTaken = map[opt.StepKind]string{opt.Remind: "reminders were sent", opt.Escalate: "others were asked, too", opt.Reassign: "others were asked instead"}

// verdictText returns why a message was refused, for people.
func verdictText(v opt.Verdict) string { return cmp.Or(refusals[v], string(v)) }

// refusals say why messages were refused.
var refusals = map[opt.Verdict]string{
	opt.NotWaiting: "the task did not wait for it",
	opt.NotOffered: "the question does not offer this action",
	opt.NotAllowed: "others decide there",
	opt.HasVoted:   "the same person has decided there before",
	opt.OtherThing: "it was about another object than the one shown",
	opt.NotIdle:    "the objective had begun already",
	opt.TooLate:    "the task had ended",
}

// lookOfStatus returns how pages show a status without its reason.
func lookOfStatus(s opt.ObjectiveStatus) shown.Look {
	look := shown.LookOfTask(s)
	if s == opt.ObjectiveBlocked {
		look.Word = "waiting or paused"
	}
	return look
}

// silentAt names those who are asked by name at a gate and have not voted.
func silentAt(g *opt.Gate) []string {
	return filter(shown.Named(g.Responders), func(name string) bool { return !g.Voted(name) })
}

// peopleText says who can answer a gate.
func peopleText(g *opt.Gate) string {
	switch names := silentAt(g); {
	case len(names) > 0:
		return shown.Joined(g.Responders, few(each(names, nameText)))
	case g.Responders != nil && g.Responders.NotRequester:
		return "anyone but those who shaped the work"
	}
	return "anyone who may answer"
}

// durationText returns a time in milliseconds for people: in two units, if the first of them says little.
func durationText(ms int64) string { return opt.InUnits(ms, 10) }
