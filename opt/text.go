package opt

import (
	"fmt"
	"strings"

	"longhaul/a2a"
)

// Limits on the text of names and descriptions.
const (
	MaxName        = 256
	MaxDescription = 16 << 10
	MaxReason      = 1 << 10 // of a cancellation
)

// A SpecError names the member of a request that is invalid, and the problem.
type SpecError struct{ Field, Problem string }

func (e *SpecError) Error() string { return e.Field + ": " + e.Problem }

// oneLine returns words about a thing in the form "kind id name: state (reason)". The id,
// the name, the state and the reason may be empty.
func oneLine(kind, id, name, state, reason string) string {
	text := kind
	for _, word := range []string{id, name} {
		if word != "" {
			text += " " + word
		}
	}
	if state != "" {
		text += ": " + state
	}
	if reason != "" {
		text += " (" + reason + ")"
	}
	return a2a.VisibleLine(text)
}

// checkText returns a [SpecError] if a name or a description is invalid. field precedes the
// names of these members in it.
func checkText(field, name, description string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return &SpecError{field + "name", "must not be empty or blank"}
	case strings.ContainsRune(name, 0):
		return &SpecError{field + "name", "must not contain NUL characters"}
	case strings.ContainsRune(description, 0):
		return &SpecError{field + "description", "must not contain NUL characters"}
	case len([]rune(name)) > MaxName:
		return &SpecError{field + "name", fmt.Sprintf("has more than %d characters", MaxName)}
	case len(description) > MaxDescription:
		return &SpecError{field + "description", fmt.Sprintf("has more than %d bytes", MaxDescription)}
	}
	return nil
}
