package cli

import (
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"longhaul/a2a"
)

// terminalOf returns w as a terminal, and what measures it; ok is false if it is no
// terminal.
func terminalOf(w io.Writer) (f *os.File, size func() (columns, rows int), ok bool) {
	f, ok = w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, nil, false
	}
	return f, func() (int, int) {
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err != nil || columns < 1 || rows < 1 {
			return 80, 24
		}
		return columns, rows
	}, true
}

// colored reports whether w is a terminal that wants colours.
func colored(w io.Writer) bool {
	_, _, ok := terminalOf(w)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// oneLine returns text as one line of at most width columns.
func oneLine(text string, width int) string {
	return runewidth.Truncate(a2a.VisibleLine(text), width, "…")
}

// padRight returns text with spaces up to width columns.
func padRight(text string, width int) string { return runewidth.FillRight(text, width) }

// A screen is the lower part of a terminal, which is drawn again and again.
type screen struct {
	out   io.Writer
	drawn int // lines
}

// clear removes the drawn lines.
func (s *screen) clear() {
	if s.drawn > 0 {
		io.WriteString(s.out, "\x1b["+strconv.Itoa(s.drawn)+"A\r\x1b[J")
	}
	s.drawn = 0
}

// draw replaces the drawn lines. No line may be wider than the terminal.
func (s *screen) draw(lines []string) {
	var text strings.Builder
	if s.drawn > 0 {
		text.WriteString("\x1b[" + strconv.Itoa(s.drawn) + "A\r\x1b[J")
	}
	for _, l := range lines {
		text.WriteString(l + "\n")
	}
	io.WriteString(s.out, text.String())
	s.drawn = len(lines)
}

// columnsOf returns the width of text on a terminal.
func columnsOf(text string) int { return runewidth.StringWidth(a2a.Visible(text)) }
