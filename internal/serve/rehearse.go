package serve

import (
	"context"
	"os"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/refuse"
	"longhaul/opt"
	"longhaul/opt/rehearse"
)

// Rehearsing returns the planner of a process with a playbook: a file, a directory, or the name of one
// that the program has, which messages then ask for as their skill. "" is for all of the program.
func (b Build) Rehearsing(playbook string) (plan rehearse.Planner, skill string, err error) {
	settings := workSettings{}
	if _, err := os.Stat(playbook); playbook != "" && (err == nil || strings.ContainsAny(playbook, `/.\`)) {
		settings.Playbooks = []string{playbook}
	} else {
		skill = playbook
	}
	books, err := settings.loadPlaybooks(b, b.Planners)
	if err != nil {
		return nil, "", err
	}
	return func(o opt.Objective, m *a2a.Message) rehearse.Planned { return planned(books, o, m) }, skill, nil
}

// planned has a planner plan. What it refuses has no plan in a rehearsal.
func planned(by activities.Planner, o opt.Objective, m *a2a.Message) rehearse.Planned {
	made, err := by.Plan(context.Background(), activities.Request{ObjectiveID: o.ID, Tenant: o.Tenant, Name: o.Name, Description: o.Description, Message: m})
	if err != nil {
		return rehearse.Planned{Failure: err.Error()}
	}
	for _, p := range made.Plans {
		if i := slices.IndexFunc(p.Tasks, func(t opt.TaskSpec) bool { return t.Executor == refuse.Kind }); i >= 0 {
			return rehearse.Planned{Failure: p.Tasks[i].Description}
		}
	}
	return rehearse.Planned{Plans: made.Plans, Planner: made.Planner, Reason: made.Reason}
}
