package commands

import (
	"fmt"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

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
	switch {
	case p.Text != nil:
		return *p.Text
	case p.Data != nil:
		return a2a.DataText(p.Data)
	case p.URL != nil:
		return strings.TrimSpace("(file) " + p.Filename + " " + *p.URL)
	}
	return strings.Join(strings.Fields(fmt.Sprintf("(file of %d bytes) %s %s", len(p.Raw), p.Filename, p.MediaType)), " ")
}
