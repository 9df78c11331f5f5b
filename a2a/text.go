package a2a

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestText is the largest number of characters of a content in a text for people.
const longestText = 200

// String returns t on one line, for people: its id, state and status message.
func (t Task) String() string { return "task " + t.ID + ": " + t.Status.String() }

// String returns s on one line, for people.
func (s TaskStatus) String() string {
	if s.Message == nil {
		return string(s.State)
	}
	return string(s.State) + ", " + contents(s.Message.Parts)
}

// String returns m on one line, for people: its role and its parts.
func (m Message) String() string { return string(m.Role) + ": " + contents(m.Parts) }

// String returns a on one line, for people: its name, or its id, and its parts.
func (a Artifact) String() string {
	name := a.Name
	if name == "" {
		name = a.ArtifactID
	}
	return name + ": " + contents(a.Parts)
}

// String returns e on one line, for people.
func (e Event) String() string {
	switch {
	case e.Task != nil:
		return e.Task.String()
	case e.Message != nil:
		return e.Message.String()
	case e.Status != nil:
		return Task{ID: e.Status.TaskID, Status: e.Status.Status}.String()
	case e.Artifact != nil:
		return "task " + e.Artifact.TaskID + ": artifact " + e.Artifact.Artifact.String()
	}
	return "no event"
}

func contents(parts []Part) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.String()
	}
	return strings.Join(texts, " | ")
}

// cut returns text on one line with at most longestText characters.
func cut(text string) string {
	text = VisibleLine(text)
	if utf8.RuneCountInString(text) <= longestText {
		return text
	}
	return string([]rune(text)[:longestText]) + "…"
}

// Visible returns a text of others as people may see it: characters that control a terminal,
// change the direction of text or cannot be seen are written out, such as ‹U+202E›. Tabs and line
// breaks stay. Every output for people uses it, so that no text can look like something else.
func Visible(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	if !strings.ContainsFunc(text, isHidden) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isHidden(r) {
			fmt.Fprintf(&b, "‹U+%04X›", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// VisibleLine is [Visible] on one line.
func VisibleLine(text string) string { return strings.Join(strings.Fields(Visible(text)), " ") }

// isHidden reports whether r is written out. Some characters of scripts, signs and hyphenation
// are not.
func isHidden(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && r != '\u200c' && r != '\u200d' && r != '\u00ad')
}
