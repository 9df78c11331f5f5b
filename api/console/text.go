package console

import (
	"cmp"
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
	return strings.TrimSpace(text) + shown.When(cut, "…")
}

// cutText returns at most a number of bytes of a text, in whole characters; cut says that more follows.
func cutText(s string, most int) (text string, cut bool) {
	if len(s) <= most {
		return s, false
	}
	return strings.ToValidUTF8(s[:most], ""), true
}

func sizeText(n int) string { return humanize.IBytes(uint64(n)) }

const titleWidth = 160

func gateTitle(g *opt.Gate) string {
	return shorten(a2a.Visible(shown.Title(g)), titleWidth) + g.Again()
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
	return cmp.Or(shown.When(d.Verdict != opt.Accepted, "refused: "+shown.VerdictText(d.Verdict)), "counts")
}

// stepsTaken say what a step of a ladder has done.
var stepsTaken = map[opt.StepKind]string{opt.Remind: "reminders were sent", opt.Escalate: "others were asked, too", opt.Reassign: "others were asked instead"}

// lookOfStatus returns how pages show a status without its reason.
func lookOfStatus(s opt.ObjectiveStatus) shown.Look {
	look := shown.LookOfTask(s)
	if s == opt.ObjectiveBlocked {
		look.Word = "waiting or paused"
	}
	return look
}

// durationText returns a time in milliseconds for people: in two units, if the first of them says little.
func durationText(ms int64) string { return opt.InUnits(ms, 10) }
