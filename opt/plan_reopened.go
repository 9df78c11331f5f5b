package opt

import (
	"slices"

	"longhaul/a2a"
)

// Reopened returns the tasks of p that make an object again which t, at a gate,
// sends back: its sources, with the reply and the message as they get them, and the
// tasks between them and t. They are pending, with their own numbers. p is not
// changed.
func Reopened(p *Plan, t *Task, sources []string, reply Reply, message a2a.Message) []*Task {
	run := p.NextRun(0)
	after := map[string]bool{} // ids of the sources and of the tasks after them
	var out []*Task
	for _, b := range inOrder(p) {
		source := slices.Contains(sources, b.ID)
		after[b.ID] = source || slices.ContainsFunc(p.Before(b), func(c *Task) bool { return after[c.ID] })
		if !after[b.ID] || b == t || !leads(p, b, t) {
			continue
		}
		again := *b
		again.reset(run)
		if source {
			again.Refined, again.Notes = append(slices.Clone(b.Refined), reply), append(slices.Clone(b.Notes), message)
		}
		out = append(out, &again)
	}
	slices.SortFunc(out, func(a, b *Task) int { return a.Index - b.Index })
	return out
}

// inOrder lists the tasks of p so that each comes after those before it.
func inOrder(p *Plan) []*Task {
	var out []*Task
	seen := map[*Task]bool{}
	var visit func([]*Task)
	visit = func(tasks []*Task) {
		for _, t := range tasks {
			if !seen[t] {
				seen[t] = true
				visit(p.Before(t))
				out = append(out, t)
			}
		}
	}
	visit(p.Tasks)
	return out
}

// leads reports whether t of p comes after b, directly or not.
func leads(p *Plan, b, t *Task) bool {
	seen := map[*Task]bool{}
	var visit func(*Task) bool
	visit = func(t *Task) bool {
		return slices.ContainsFunc(p.Before(t), func(c *Task) bool {
			if seen[c] {
				return false
			}
			seen[c] = true
			return c == b || visit(c)
		})
	}
	return visit(t)
}
