package planner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
)

// A Fallback handles requests that match no playbook. Requests that it takes go to its
// planner, or to the default executor of the workers if it has no planner. Others are
// rejected, with the list of skills.
type Fallback struct {
	Takes   func(request string) bool
	Skills  []Skill            // of the planner or the default executor
	Planner activities.Planner // nil: the plan is one task for the default executor
	Name    string             // of Planner
}

// Everything is [Fallback].Takes of a fallback that takes every request.
func Everything(string) bool { return true }

// Nothing is [Fallback].Takes of a fallback that rejects every request.
func Nothing(string) bool { return false }

// hasPlanner reports whether requests go to a planner.
func (f *Fallback) hasPlanner() bool { return f != nil && f.Planner != nil }

// plan asks the planner.
func (f *Fallback) plan(ctx context.Context, r activities.Request) (activities.Planned, error) {
	made, err := f.Planner.Plan(ctx, r)
	if err != nil {
		return made, fmt.Errorf("planner %s: %w", f.Name, err)
	}
	made.Planner = cmp.Or(made.Planner, "planner "+f.Name)
	return made, nil
}

// refusal returns why a request is rejected that no playbook takes, "" if it is
// not. skills are all that there are. A nil f rejects nothing.
func (f *Fallback) refusal(m *a2a.Message, request string, skills []Skill) string {
	if f == nil {
		return ""
	}
	why := "No skill takes this message."
	switch skill, asked := skillOf(m); {
	case asked && slices.ContainsFunc(f.Skills, func(s Skill) bool { return s.ID == skill }):
		return ""
	case asked:
		why = fmt.Sprintf("There is no skill %q.", skill)
	case f.Takes(request):
		return ""
	}
	if len(skills) == 0 {
		return clipText(why + " This agent has no skills.")
	}
	var list []string
	for _, s := range skills {
		line := "- " + s.ID + ": " + s.Description
		if len(s.Examples) > 0 {
			line += fmt.Sprintf(", for example %q", s.Examples[0])
		}
		list = append(list, line)
	}
	return clipText(why + " The skills are:\n" + strings.Join(list, "\n"))
}

// skillOf returns the skill or the playbook that m asks for; ok is false if it asks
// for none.
func skillOf(m *a2a.Message) (skill string, ok bool) {
	if m == nil {
		return "", false
	}
	skill, _ = m.Metadata.String(opt.KeySkill)
	return skill, skill != ""
}
