package serve

import (
	"maps"
	"slices"
	"strings"

	"longhaul/activities"
	"longhaul/activities/llm"
	"longhaul/activities/planner"
	"longhaul/api/card"
	"longhaul/internal/process"
)

// noPlanner is the value of --planner for playbooks alone.
const noPlanner = "playbooks"

// llmPlanner is the value of --planner for the one of --models.
const llmPlanner = "llm"

// A skilled planner adds skills to the agent card.
type skilled interface {
	Skills() []card.Skill
}

// A modelPlanner plans with a model.
type modelPlanner struct{ llm.Planner }

// Skills implements skilled.
func (modelPlanner) Skills() []card.Skill {
	return []card.Skill{{
		ID: llm.Skill, Name: "General", Description: "Plans what a message asks for, and does it with models, tools and people",
		Tags: []string{"general"}, Examples: []string{"Summarize this text and ask me before you publish it"},
	}}
}

// plannerName returns the name of the planner for messages that no playbook takes.
func (s workSettings) plannerName(planners map[string]activities.Planner) string {
	_, model := planners[llmPlanner].(modelPlanner)
	switch {
	case s.Planner != "":
		return s.Planner
	case model:
		return llmPlanner // the file of --models names a planner
	}
	return noPlanner
}

// fallback returns the fallback of the playbooks: the planner that the settings name.
func (s workSettings) fallback(name string, planners map[string]activities.Planner) (planner.Fallback, error) {
	chosen := planners[name]
	switch {
	case chosen == nil:
		known := append([]string{noPlanner}, slices.Sorted(maps.Keys(planners))...)
		return planner.Fallback{}, process.Usagef("--planner %q: this program has %s", name, strings.Join(known, ", "))
	case s.Fallback == echoKind:
		return planner.Fallback{}, process.Usagef("--planner, or a planner in the file of --models, and --fallback echo are both for messages that no playbook takes: set one of them")
	}
	out := planner.Fallback{Takes: planner.Everything, Planner: chosen, Name: name}
	if p, ok := chosen.(skilled); ok {
		for _, k := range p.Skills() {
			out.Skills = append(out.Skills, planner.Skill{ID: k.ID, Name: k.Name, Description: k.Description, Tags: k.Tags, Examples: k.Examples})
		}
	}
	return out, nil
}
