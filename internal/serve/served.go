package serve

import (
	"cmp"

	"longhaul/activities/served"
	"longhaul/api/card"
)

// serves reports whether the program runs an agent, which takes all messages that no playbook takes.
func (b Build) serves() bool { return b.Executors[served.Kind] != nil }

// servedSkills returns the skills of the agent in the program for the card.
func (b Build) servedSkills() []card.Skill {
	if !b.serves() || len(b.Skills) > 0 {
		return b.Skills
	}
	return []card.Skill{{
		ID: "agent", Name: cmp.Or(b.Name, "Agent"), Description: cmp.Or(b.Description, "Takes every message."), Tags: []string{"agent"},
	}}
}
