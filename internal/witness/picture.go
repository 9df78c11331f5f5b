package witness

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Measures of the SVG.
const (
	nameWide = 170
	stepWide = 46
	rowHigh  = 40
	headHigh = 64
	textWide = 420 // right of the last step, for its label
)

// A row is a call with its place in the picture: columns are the begins and ends of all
// calls in their order, not their times, so that short calls can be seen.
type row struct {
	call     Call
	from, to int
}

// rows places the calls.
func (a Anomaly) rows() (rows []row, columns int) {
	var times []time.Duration
	for _, c := range a.Calls {
		times = append(times, c.Begin, c.End)
	}
	slices.Sort(times)
	times = slices.Compact(times)
	for _, c := range a.Calls {
		from, _ := slices.BinarySearch(times, c.Begin)
		to, _ := slices.BinarySearch(times, c.End)
		rows = append(rows, row{c, from, to})
	}
	return rows, len(times)
}

// Text returns the anomaly for a terminal: a line for each call, on which "=" says when
// it lasted, beside the others.
func (a Anomaly) Text() string {
	rows, columns := a.rows()
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %q is broken: %s\n", a.Subject.Name, a.Subject.Promise, a.Seen)
	wide := 0
	for _, r := range rows {
		wide = max(wide, utf8.RuneCountInString(r.call.Client))
	}
	for _, r := range rows {
		bar := strings.Repeat(" ", r.from) + strings.Repeat("=", max(1, r.to-r.from))
		fmt.Fprintf(&b, "  %-*s |%-*s| %s\n", wide, r.call.Client, columns, bar, shortened(r.call.String()))
	}
	return b.String()
}

// Size returns the width and the height of the picture.
func (a Anomaly) Size() (wide, high int) {
	_, columns := a.rows()
	return nameWide + stepWide*(columns+1) + textWide, headHigh + rowHigh*len(a.Calls) + 16
}

// WritePicture writes the anomaly as an SVG with a bar for each call.
func (a Anomaly) WritePicture(to io.Writer) error {
	var b strings.Builder
	wide, high := a.Size()
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="13">`+"\n", wide, high)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", wide, high)
	label(&b, 16, 26, `font-weight="bold"`, fmt.Sprintf("%s: “%s” is broken", a.Subject.Name, a.Subject.Promise))
	label(&b, 16, 46, `fill="#555555"`, a.Seen)
	rows, _ := a.rows()
	for i, r := range rows {
		x, y := nameWide+stepWide*r.from, headHigh+rowHigh*i
		label(&b, 16, y+20, "", r.call.Client)
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="14" rx="3" fill="#9cc3f5"/>`+"\n", x, y+4, max(8, stepWide*(r.to-r.from)))
		label(&b, x, y+32, `font-size="11"`, shortened(r.call.String()))
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(to, b.String())
	return err
}

func label(b *strings.Builder, x, y int, style, text string) {
	fmt.Fprintf(b, `<text x="%d" y="%d" %s>`, x, y, style)
	_ = xml.EscapeText(b, []byte(text)) // to memory
	b.WriteString("</text>\n")
}
