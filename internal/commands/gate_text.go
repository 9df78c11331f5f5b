package commands

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/internal/process"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// exchangesText returns the exchanges of g that are after the first n for people, one on a
// line, "" for none. They are not cut: an accept covers them.
func exchangesText(g *opt.Gate, n int) string {
	var b strings.Builder
	for i, e := range g.Exchanges {
		if g.Omitted+i >= n {
			fmt.Fprintf(&b, "%s: %s\n", cmp.Or(e.AskedBy, "anonymous"), a2a.VisibleLine(e.Question))
		}
	}
	return b.String()
}

// formText returns what a question takes, "" for any text.
func formText(q shown.Question) string {
	switch {
	case q.Boolean:
		return "true or false"
	case len(q.Options) > 0:
		return "one of " + a2a.VisibleLine(strings.Join(q.Options, ", "))
	case len(q.Several) > 0:
		return "a list of " + a2a.VisibleLine(strings.Join(choiceTexts(q.Several), ", "))
	}
	return strings.TrimPrefix(q.Hint, "as ")
}

// choiceTexts returns the choices of a list for people.
func choiceTexts(choices []json.RawMessage) (texts []string) {
	for _, c := range choices {
		texts = append(texts, a2a.DataText(c))
	}
	return texts
}

// whoText returns who may answer at g, "" for everyone.
func whoText(g *opt.Gate) string {
	who := shown.Who(g.Responders)
	if who == "" {
		return ""
	}
	return "Who may answer: " + who + "."
}

// votesText returns the votes at g, such as "1 of 2 have accepted: ann", "" for none.
func votesText(g *opt.Gate) string {
	by := map[opt.Action][]string{}
	for _, v := range g.Votes {
		by[v.Action] = append(by[v.Action], cmp.Or(v.For.By(v.DecidedBy), "anonymous"))
	}
	need := 1
	if g.Responders.Several() {
		need = g.Responders.Accepts
	}
	var texts []string
	for _, a := range []opt.Action{opt.Accept, opt.EditAccept, opt.Reject} {
		if names := by[a]; len(names) > 0 {
			texts = append(texts, fmt.Sprintf("%d of %d have %s: %s.", len(names), need, participles[a], strings.Join(names, ", ")))
		}
	}
	return strings.Join(texts, " ")
}

// participles say what an action did to a gate.
var participles = map[opt.Action]string{
	opt.Accept: "accepted", opt.Reject: "rejected", opt.Refine: "sent back", opt.EditAccept: "accepted with changes", "": "answered",
}

// decidedText returns how a gate was closed, such as "accepted by ann". opened is when
// it was opened, the zero value if that is not known.
func decidedText(d *opt.Decided, opened time.Time) string {
	if d.DecidedBy != opt.ByTimer {
		word := cmp.Or(participles[d.Action], string(d.Action))
		if d.ByHand {
			word = "closed by hand"
		}
		text := word + " by " + cmp.Or(d.Standing, d.Who(), "anonymous")
		if said := cmp.Or(d.Feedback, answersText(d.Answers)); said != "" {
			text += ": " + process.OneLine(said, objectWidth)
		}
		return text
	}
	text := "expired"
	if d.Action != "" {
		text = cmp.Or(participles[d.Action], string(d.Action)) + " by timer"
	}
	if opened.IsZero() {
		return text + ": no answer came in time"
	}
	return text + ": no answer came within " + opt.Span(d.At.Time().Sub(opened).Round(time.Second))
}

// answersText returns answers for people: with the ids of the questions if there are several.
func answersText(answers []opt.Answer) string {
	var texts []string
	for _, a := range answers {
		text := a2a.DataText(a.Answer)
		var chosen []json.RawMessage
		if json.Unmarshal(a.Answer, &chosen) == nil && len(chosen) > 0 {
			text = strings.Join(choiceTexts(chosen), " and ")
		}
		if len(answers) > 1 {
			text = a.ID + " = " + text
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// stepText returns the step that g took last, "" for none.
func stepText(g *opt.Gate) string {
	if g.Taken == 0 || g.Taken > len(g.Ladder) {
		return ""
	}
	switch s := g.Ladder[g.Taken-1]; s.Kind {
	case opt.Remind:
		return "A reminder was due: there is no answer yet."
	case opt.Escalate:
		return "There is no answer yet: " + cmp.Or(shown.Who(s.To), "others") + " may answer, too."
	case opt.Reassign:
		return "There is no answer yet: " + cmp.Or(shown.Who(s.To), "others") + " may answer instead."
	}
	return ""
}

// Limits of the object of a gate in a terminal or a pipe.
const (
	objectLines = 40
	objectWidth = 400 // bytes of a line
)

// objectOf returns the parts of the object of g, given the status message of a
// task that waits. If the message is about another gate, it returns the copy in g,
// which a large object does not have.
func objectOf(g *opt.Gate, status *a2a.Message) []a2a.Part {
	const before = 2 // the prompt and the gate, as in [opt.Gate.Message]
	switch {
	case g == nil:
		return nil
	case status != nil && status.MessageID == g.ID && len(status.Parts) > before:
		return status.Parts[before:]
	case g.ArtifactData != nil:
		return []a2a.Part{opt.EditedPart(g.ArtifactData)}
	}
	return nil
}

// objectText returns parts for people: indented, and cut after some lines.
func objectText(parts []a2a.Part) string {
	var lines []string
	for _, p := range parts {
		lines = append(lines, strings.Split(strings.TrimRight(partText(p), "\n"), "\n")...)
	}
	more := len(lines) - objectLines
	if more > 0 {
		lines = lines[:objectLines]
	}
	var b strings.Builder
	for _, line := range lines {
		if len(line) > objectWidth {
			line = strings.ToValidUTF8(line[:objectWidth], "") + "…"
		}
		b.WriteString("  | " + line + "\n")
	}
	if more > 0 {
		fmt.Fprintf(&b, "  … %d more lines\n", more)
	}
	return b.String()
}

// partText returns one part of an object for people.
func partText(p a2a.Part) string {
	switch text, ok := p.Content(); {
	case p.URL != nil:
		return strings.TrimSpace("(file) " + p.Filename + " " + text)
	case ok:
		return text
	}
	return strings.Join(strings.Fields(fmt.Sprintf("(file of %d bytes) %s %s", len(p.Raw), p.Filename, p.MediaType)), " ")
}
