package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"longhaul/activities"
	"longhaul/activities/planner"
	apiservice "longhaul/api/service"
)

// noPlanner is the value of --planner for playbooks alone.
const noPlanner = "playbooks"

// A skilled planner adds skills to the agent card.
type skilled interface {
	Skills() []apiservice.Skill
}

// fallback is that of playbooks beside the planner that the settings name.
func (s workSettings) fallback(planners map[string]activities.Planner) (planner.Fallback, error) {
	chosen := planners[s.Planner]
	switch {
	case chosen == nil:
		known := append([]string{noPlanner}, slices.Sorted(maps.Keys(planners))...)
		return planner.Fallback{}, fmt.Errorf("--planner %q: this program has %s", s.Planner, strings.Join(known, ", "))
	case s.Fallback == "echo":
		return planner.Fallback{}, errors.New("--planner and --fallback echo are both for messages that no playbook takes: set one of them")
	}
	out := planner.Fallback{Takes: planner.Everything, Planner: chosen, Name: s.Planner}
	if p, ok := chosen.(skilled); ok {
		for _, k := range p.Skills() {
			out.Skills = append(out.Skills, planner.Skill{ID: k.ID, Name: k.Name, Description: k.Description, Tags: k.Tags, Examples: k.Examples})
		}
	}
	return out, nil
}
