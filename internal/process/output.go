package process

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"longhaul/a2a"
)

// TerminalOf returns w as a terminal, and what measures it; ok is false if it is no
// terminal.
func TerminalOf(w io.Writer) (f *os.File, size func() (columns, rows int), ok bool) {
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

// ReadKeys has a terminal pass on each key at once, and show none, until restore is called.
func ReadKeys(in *os.File) (restore func(), err error) {
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	return func() { _ = term.Restore(int(in.Fd()), before) }, nil
}

// Colored reports whether w is a terminal that wants colours.
func Colored(w io.Writer) bool {
	_, _, ok := TerminalOf(w)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// OneLine returns text as one line of at most width columns.
func OneLine(text string, width int) string {
	return runewidth.Truncate(a2a.VisibleLine(text), width, "…")
}

// PadRight returns text with spaces up to width columns.
func PadRight(text string, width int) string { return runewidth.FillRight(text, width) }

// ColumnsOf returns the width of text on a terminal.
func ColumnsOf(text string) int { return runewidth.StringWidth(a2a.Visible(text)) }

// WriteTable writes rows below a head. On a terminal the last column is cut to the
// width; the others are never cut, since they are copied.
func WriteTable(out io.Writer, head []string, rows [][]string) {
	_, size, terminal := TerminalOf(out)
	widths := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row[:len(row)-1] {
			widths[i] = max(widths[i], ColumnsOf(cell))
		}
	}
	for _, row := range append([][]string{head}, rows...) {
		line, used := "", 0
		for i, cell := range row[:len(row)-1] {
			line += PadRight(a2a.Visible(cell), widths[i]) + "  "
			used += widths[i] + 2
		}
		room := 1 << 20
		if terminal {
			columns, _ := size()
			room = max(10, columns-used-1)
		}
		fmt.Fprintln(out, line+OneLine(row[len(row)-1], room))
	}
}

// RawLine prints JSON as one line.
func RawLine(out io.Writer, raw json.RawMessage) {
	var line bytes.Buffer
	if json.Compact(&line, raw) == nil {
		fmt.Fprintln(out, escaped(line.String()))
	}
}

// PrintJSON prints v as JSON on one line.
func PrintJSON(out io.Writer, v any) error {
	raw, err := json.Marshal(v)
	if err == nil {
		RawLine(out, raw)
	}
	return err
}
