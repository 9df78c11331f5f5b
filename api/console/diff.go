package console

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

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

// A comparison says how a part of an object differs from the one that was sent back, for the template "diff".
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
	Pieces []piece
}

// Sign returns what stands in front of r.
func (r row) Sign() string {
	return map[string]string{"same": " ", "removed": "−", "added": "+", "gap": "…"}[r.Kind]
}

type piece struct {
	Text    string
	Changed bool
}

type sideBySide struct {
	wire.Comparison
	Diffs []comparison // of the results of tasks for which both have some, if they differ
}

func showComparison(v *visit) (view, error) {
	found, err := v.cfg.Service.Compared.CompareObjectives(v.r.Context(), v.call, read.CompareParams{ID: v.r.PathValue("id"), With: v.r.URL.Query().Get("with")})
	if err != nil {
		return view{}, err
	}
	out := sideBySide{Comparison: found}
	for i, t := range found.Tasks {
		if t.A != nil && t.B != nil && t.A.Text != "" && t.B.Text != "" && t.A.Text != t.B.Text {
			diff := compareObjects("diff-"+strconv.Itoa(i)+"-", []a2a.Part{a2a.TextPart(t.A.Text)}, []a2a.Part{a2a.TextPart(t.B.Text)})[0]
			diff.Of = t.Place
			out.Diffs = append(out.Diffs, diff)
		}
	}
	return view{Template: "compare", Title: "Side by side", Data: out}, nil
}

// compareObjects returns the differences between two versions of an object, part by part, in elements whose ids
// begin with one.
func compareObjects(id string, before, after []a2a.Part) (out []comparison) {
	for i := range max(len(before), len(after)) {
		c := comparison{ID: id + strconv.Itoa(i)}
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

func partName(p a2a.Part, n int) string {
	if name := shorten(a2a.Visible(p.Filename), mostLetters); name != "" {
		return name
	}
	return "part " + strconv.Itoa(n+1)
}

// rowsOf compares two texts line by line, and changed lines word by word.
func rowsOf(a, b string) (rows []row, more int) {
	before, after := linesOf(a), linesOf(b)
	changes, at := lcs.DiffLines(before, after), 0
	for i, d := range append(changes, lcs.Diff{Start: len(before), End: len(before)}) {
		lines := before[at:d.Start]
		head, tail := contextLines*min(i, 1), contextLines*min(len(changes)-i, 1)
		if hidden := len(lines) - head - tail; hidden > 0 {
			rows = addRows(rows, "same", lines[:head], nil)
			rows = append(rows, row{Kind: "gap", Pieces: []piece{{Text: opt.Count(hidden, "line") + " without a change"}}})
			lines = lines[head+hidden:]
		}
		rows = addRows(rows, "same", lines, nil)
		rows = addChanged(rows, strings.Join(before[d.Start:d.End], ""), strings.Join(after[d.ReplStart:d.ReplEnd], ""))
		at = d.End
	}
	if len(rows) > mostRows {
		return rows[:mostRows], len(rows) - mostRows
	}
	return rows, 0
}

func linesOf(text string) []string {
	return slices.Collect(strings.Lines(strings.TrimSuffix(text, "\n") + "\n"))
}

// wordForm is a word, the space or a mark between words, or the end of a line.
var wordForm = regexp.MustCompile(`\n|[\pL\pN\p{Mn}]+|[^\S\n]+|.`)

// addChanged appends the rows of lines that were replaced, with the words that differ.
func addChanged(rows []row, removed, added string) []row {
	before, after := wordForm.FindAllString(removed, -1), wordForm.FindAllString(added, -1)
	oldMarks, newMarks := make([]bool, len(before)), make([]bool, len(after))
	kept := len(before)
	if len(before) > 0 && len(after) > 0 && len(before)+len(after) <= mostWords {
		for _, d := range lcs.DiffLines(before, after) {
			copy(oldMarks[d.Start:], slices.Repeat([]bool{true}, d.End-d.Start))
			copy(newMarks[d.ReplStart:], slices.Repeat([]bool{true}, d.ReplEnd-d.ReplStart))
			kept -= d.End - d.Start
		}
		if 3*kept < len(before) { // so little in common that marks would only distract
			oldMarks, newMarks = nil, nil
		}
	}
	return addRows(addRows(rows, "removed", before, oldMarks), "added", after, newMarks)
}

// addRows appends a row of a kind for each line of some words, with those that are marked. The last
// of a line ends with it.
func addRows(rows []row, kind string, words []string, marks []bool) []row {
	line := row{Kind: kind}
	marked := func(i int) bool { return marks != nil && marks[i] }
	for begin := 0; begin < len(words); {
		end := begin + 1
		for end < len(words) && !strings.HasSuffix(words[end-1], "\n") && marked(end) == marked(begin) {
			end++
		}
		text, ends := strings.CutSuffix(strings.Join(words[begin:end], ""), "\n")
		if text != "" {
			line.Pieces = append(line.Pieces, piece{text, marked(begin)})
		}
		if ends {
			rows, line = append(rows, line), row{Kind: kind}
		}
		begin = end
	}
	return rows
}
