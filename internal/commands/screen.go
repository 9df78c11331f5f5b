package commands

import (
	"io"
	"strconv"
	"strings"
)

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
