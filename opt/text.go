package opt

import "longhaul/a2a"

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
