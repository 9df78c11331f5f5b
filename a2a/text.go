package a2a

import (
	"strings"
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
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= longestText {
		return text
	}
	return string([]rune(text)[:longestText]) + "…"
}
