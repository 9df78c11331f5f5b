package opt

import (
	"fmt"
	"strings"
)

// String returns o on one line, for people.
func (o Objective) String() string {
	return oneLine("objective", o.ID, o.Name, string(o.Status), o.Reason)
}

// String returns p on one line, for people.
func (p Plan) String() string { return oneLine("plan", p.ID, p.Name, string(p.Status), p.Reason) }

// String returns t on one line, for people.
func (t Task) String() string { return oneLine("task", t.ID, t.Name, string(t.State), t.Reason) }

// String returns g on one line, for people: its kind, its id and what it asks.
func (g Gate) String() string { return oneLine(string(g.Kind)+" gate", g.ID, "", g.Prompt(), "") }

// String returns e on one line, for people: its number and kind, and what moved where.
func (e Event) String() string {
	about := e.TaskID
	if about == "" {
		about = e.PlanID
	}
	return fmt.Sprint(e.N, " ", oneLine(string(e.Kind), about, "", e.To, e.Reason))
}

// String returns c on one line, for people: its kind and what it changes.
func (c Command) String() string {
	about := c.ObjectiveID
	for _, id := range []string{c.PlanID, c.TaskID} {
		if id != "" {
			about = id
		}
	}
	return oneLine(string(c.Kind), about, "", c.Status, "")
}

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
	return strings.Join(strings.Fields(text), " ")
}
