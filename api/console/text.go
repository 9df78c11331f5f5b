package console

import (
	"fmt"
	"strings"
	"unicode"
)

// shorten returns the beginning of a text in one line, as wide as a number of Latin
// letters, with an ellipsis if more follows.
func shorten(s string, width int) string {
	s = strings.Join(strings.Fields(s), " ")
	taken, cut := 0, 0
	for i, r := range s {
		taken += widthOf(r)
		if taken <= width-1 {
			cut = i + len(string(r))
		}
		if taken > width {
			return strings.TrimSpace(s[:cut]) + "…"
		}
	}
	return s
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

// widthOf returns how many Latin letters are as wide as r, about.
func widthOf(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0
	case r >= 0x1100 || unicode.IsUpper(r) && (r == 'M' || r == 'W'):
		return 2
	}
	return 1
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
func sizeText(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
