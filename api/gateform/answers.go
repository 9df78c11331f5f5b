package gateform

import (
	"maps"
	"slices"

	"longhaul/internal/schema"
	"longhaul/opt"
)

// Answers returns the members of an object as answers to the questions of a gate that they name, as
// a body of AnswerInterrupt has them. A text becomes the value that the schema of its question wants.
func Answers(g *opt.Gate, given map[string]any) []map[string]any {
	list := []map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(given)) { // a repeat is the same message
		value := given[id]
		i := slices.IndexFunc(g.Questions, func(q opt.Question) bool { return q.ID == id })
		if text, ok := value.(string); ok && i >= 0 {
			if read, err := schema.FromText(g.Questions[i].Schema, text); err == nil {
				value = read
			}
		}
		list = append(list, map[string]any{"id": id, "answer": value})
	}
	return list
}
