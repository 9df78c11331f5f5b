package agent

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lengths of texts of an agent that clients see outside of artifacts, in bytes.
const (
	lineMost   = 300
	promptMost = 4 << 10
)

// clean returns a text of an agent as one line of visible characters.
func clean(s string, most int) string {
	return cut(strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))), " "), most)
}

// cleanLines is clean with the line breaks of the text.
func cleanLines(s string, most int) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, l := range lines {
		lines[i] = clean(l, most)
	}
	return cut(strings.TrimSpace(strings.Join(lines, "\n")), most)
}

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	s = s[:most]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "…"
}
