package agent

import (
	"strings"
	"unicode/utf8"

	"longhaul/a2a"
)

// Lengths of texts of an agent that clients see outside of artifacts, in bytes.
const (
	maxLine   = 300
	maxPrompt = 4 << 10
)

// cleanLine returns a text of an agent as one line of visible characters.
func cleanLine(s string, most int) string {
	return truncate(a2a.VisibleLine(s), most)
}

// cleanLines is cleanLine with the line breaks of the text.
func cleanLines(s string, most int) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, l := range lines {
		lines[i] = cleanLine(l, most)
	}
	return truncate(strings.TrimSpace(strings.Join(lines, "\n")), most)
}

func truncate(s string, most int) string {
	if len(s) <= most {
		return s
	}
	s = s[:most]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "…"
}
