package wire

import (
	"strings"

	"longhaul/opt"
)

// String returns o on one line, for people.
func (o Objective) String() string {
	return opt.Objective{ID: o.ID, Name: o.Name, Status: o.Status}.String() + countText(len(o.Plans), "plan")
}

// String returns p on one line, for people.
func (p Plan) String() string {
	return opt.Plan{ID: p.ID, Name: p.Name, Status: p.Status}.String() + countText(len(p.Tasks), "task")
}

// String returns t on one line, for people.
func (t PlanTask) String() string {
	return opt.Task{ID: t.ID, Name: t.Name, State: t.Status}.String()
}

// String returns i on one line, for people: its id, what it asks, and what may be decided.
func (i Interrupt) String() string {
	text := "gate " + i.ID + ": " + strings.Join(strings.Fields(i.Prompt()), " ")
	if len(i.Actions) == 0 {
		return text
	}
	actions := make([]string, len(i.Actions))
	for n, a := range i.Actions {
		actions[n] = string(a)
	}
	return text + " (" + strings.Join(actions, ", ") + ")"
}

// String returns s on one line, for people.
func (s Schedule) String() string {
	when := s.Cron
	if s.Every != "" {
		when = append(when[:len(when):len(when)], "every "+s.Every)
	}
	text := "schedule " + s.ID + ": " + strings.Join(when, "; ")
	switch {
	case s.Paused:
		return text + ", paused"
	case len(s.Next) > 0:
		return text + ", next at " + s.Next[0].String()
	}
	return text
}

func countText(n int, what string) string {
	if n == 0 {
		return ""
	}
	return ", " + opt.Count(n, what)
}
