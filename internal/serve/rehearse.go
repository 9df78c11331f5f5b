package serve

import (
	"context"
	"slices"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/refuse"
	"longhaul/opt"
	"longhaul/opt/rehearse"
)

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
