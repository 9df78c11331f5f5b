package read

import (
	"context"

	"longhaul/api/call"
	"longhaul/opt"
)

// GetPlanParams are the params of plans/get.
type GetPlanParams struct {
	ID    string `param:"id,needed"`
	Tasks bool   `param:"includeTasks,else true"`
}

// ShownPlan is a plan and how much of it to show.
type ShownPlan struct {
	*opt.Plan
	Tasks       bool
	Unconfirmed []string // plans that had not confirmed a change when it was answered
}

// A ShownTask is a plan task and, for a method that moves it, its plan and
// objective.
type ShownTask struct {
	Task      *opt.Task
	Plan      *opt.Plan
	Objective *opt.Objective
}

// GetPlan returns a plan.
func (s *Objectives) GetPlan(ctx context.Context, c *call.Call, p GetPlanParams) (ShownPlan, error) {
	_, plan, err := s.Read.Plan(ctx, c, p.ID)
	return ShownPlan{Plan: plan, Tasks: p.Tasks}, err
}
