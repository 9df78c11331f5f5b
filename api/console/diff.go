package console

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff/lcs"

	"longhaul/a2a"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/wire"
)

// Limits of a comparison.
const (
	mostCompared = 256 << 10 // bytes of a text
	contextLines = 3         // unchanged lines around a change
	mostRows     = 1000      // rows that are shown
	mostWords    = 20000     // words of a change that are compared
)

// A comparison says how a part of an object differs from the one that was sent back, for
// the template "diff".
type comparison struct {
	ID, Name string
	Of       string // place of the task, beside another objective
	Rows     []row
	More     int    // rows that are left out
	Note     string // why there are no rows
}

// A row is a line of a comparison, or a gap.
type row struct {
	Kind   string // "same", "removed", "added" or "gap"
	Word   string // what the sign in front means, for readers who do not see it
	Sign   string
	Pieces []piece
}

// A piece is a part of a line.
type piece struct {
	Text    string
	Changed bool
}

// A sideBySide is the data of the page of two objectives.
type sideBySide struct {
	wire.Comparison
	Diffs []comparison // of the results of tasks for which both have some, if they differ
}

// showComparison shows two objectives side by side.
func showComparison(v *visit) (view, error) {
	found, err := v.cfg.Service.Compared.CompareObjectives(v.r.Context(), v.call, read.CompareParams{ID: v.r.PathValue("id"), With: v.r.URL.Query().Get("with")})
	if err != nil {
		return view{}, err
	}
	out := sideBySide{Comparison: found}
	for i, t := range found.Tasks {
		if t.A != nil && t.B != nil && t.A.Text != "" && t.B.Text != "" && t.A.Text != t.B.Text {
			diff := compareObjects([]a2a.Part{a2a.TextPart(t.A.Text)}, []a2a.Part{a2a.TextPart(t.B.Text)})[0]
			diff.ID, diff.Of = "diff-"+strconv.Itoa(i), t.Place
			out.Diffs = append(out.Diffs, diff)
		}
	}
	return view{Template: "compare", Title: "Side by side", Data: out}, nil
}

// compareObjects returns the differences between two versions of an object, part by part.
func compareObjects(before, after []a2a.Part) (out []comparison) {
	for i := range max(len(before), len(after)) {
		c := comparison{ID: "diff-" + strconv.Itoa(i)}
		switch {
		case i >= len(before):
			c.Note = "This part is new."
		case i >= len(after):
			c.Note = "A part was removed: " + partName(before[i], i) + "."
		case before[i].Digest() == after[i].Digest():
			c.Note = "Nothing has changed."
		default:
			a, isText := before[i].Content()
			b, isTextNow := after[i].Content()
			switch {
			case !isText || !isTextNow:
				c.Note = "The file is another one."
			case max(len(a), len(b)) > mostCompared:
				c.Note = "It has changed, and is too large to be compared here."
			default:
				c.Rows, c.More = rowsOf(a2a.Visible(a), a2a.Visible(b))
			}
		}
		if len(after) > 1 || len(before) > 1 {
			c.Name = partName(slices.Concat(after, before[min(len(after), len(before)):])[i], i)
		}
		out = append(out, c)
	}
	return out
}

// partName returns the name of the n-th part of an object.
func partName(p a2a.Part, n int) string {
	if name := shorten(a2a.Visible(p.Filename), mostLetters); name != "" {
		return name
	}
	return "part " + strconv.Itoa(n+1)
}

// rowsOf compares two texts line by line, and changed lines word by word.
func rowsOf(a, b string) (rows []row, more int) {
	before, after := lines(a), lines(b)
	at := 0
	same := func(until int, first bool, last bool) {
		from, gap := at, until-at
		head, tail := contextLines, contextLines
		if first {
			head = 0
		}
		if last {
			tail = 0
		}
		if gap <= head+tail+1 {
			head, tail = gap, 0
		}
		for _, l := range before[from : from+head] {
			rows = append(rows, row{Kind: "same", Sign: " ", Pieces: []piece{{Text: l}}})
		}
		if n := gap - head - tail; n > 0 {
			rows = append(rows, row{Kind: "gap", Sign: "…", Pieces: []piece{{Text: opt.Count(n, "line") + " without a change"}}})
		}
		for _, l := range before[until-tail : until] {
			rows = append(rows, row{Kind: "same", Sign: " ", Pieces: []piece{{Text: l}}})
		}
	}
	for i, d := range lcs.DiffLines(before, after) {
		same(d.Start, i == 0, false)
		rows = append(rows, changedRows(before[d.Start:d.End], after[d.ReplStart:d.ReplEnd])...)
		at = d.End
	}
	same(len(before), at == 0, true)
	if len(rows) > mostRows {
		return rows[:mostRows], len(rows) - mostRows
	}
	return rows, 0
}

// lines returns the lines of a text.
func lines(s string) []string {
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// changedRows returns the rows of lines that were replaced, with the words that differ.
func changedRows(removed, added []string) (rows []row) {
	before, after := words(removed), words(added)
	oldMarks, newMarks := make([]bool, len(before)), make([]bool, len(after))
	kept := len(before)
	if len(before) > 0 && len(after) > 0 && len(before)+len(after) <= mostWords {
		for _, d := range lcs.DiffLines(before, after) {
			copy(oldMarks[d.Start:], slices.Repeat([]bool{true}, d.End-d.Start))
			copy(newMarks[d.ReplStart:], slices.Repeat([]bool{true}, d.ReplEnd-d.ReplStart))
			kept -= d.End - d.Start
		}
		if 3*kept < len(before) { // so little in common that marks would only distract
			clear(oldMarks)
			clear(newMarks)
		}
	}
	rows = addMarked(rows, row{Kind: "removed", Word: "removed", Sign: "−"}, removed, before, oldMarks)
	return addMarked(rows, row{Kind: "added", Word: "added", Sign: "+"}, added, after, newMarks)
}

// addMarked appends a row of the kind of like for each line, with its marked words.
func addMarked(rows []row, like row, list, words []string, marks []bool) []row {
	if len(list) == 0 {
		return rows
	}
	line := like
	for i, w := range words {
		if w == "\n" {
			rows = append(rows, line)
			line = like
			continue
		}
		if last := len(line.Pieces) - 1; last >= 0 && line.Pieces[last].Changed == marks[i] {
			line.Pieces[last].Text += w
		} else {
			line.Pieces = append(line.Pieces[:len(line.Pieces):len(line.Pieces)], piece{w, marks[i]})
		}
	}
	return append(rows, line)
}

// words returns the words of lines, the text between them, and the ends of lines.
func words(list []string) (out []string) {
	for i, l := range list {
		if i > 0 {
			out = append(out, "\n")
		}
		for l != "" {
			n := wordEnd(l)
			out, l = append(out, l[:n]), l[n:]
		}
	}
	return out
}

// wordEnd returns the end of the first word of a text, or of the space or the mark that it
// begins with.
func wordEnd(s string) int {
	kind := func(r rune) int {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.Is(unicode.Mn, r):
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 3
	}
	first := 0
	for i, r := range s {
		switch {
		case i == 0:
			first = kind(r)
		case first == 3 || kind(r) != first:
			return i
		}
	}
	return len(s)
}
