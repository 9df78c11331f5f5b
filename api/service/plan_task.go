package service

import (
	"context"
	"errors"

	"longhaul/opt"
)

// A ShownTask is a plan task and, for a method that moves it, its plan and
// objective.
type ShownTask struct {
	Task      *opt.Task
	Plan      *opt.Plan
	Objective *opt.Objective
}

// planTask reads a plan task that the caller names, within its plan and
// objective.
func (r reader) planTask(ctx context.Context, c *Call, id string) (ShownTask, error) {
	missing := planTaskUnknown(id)
	ref, ok := opt.ParseID(id)
	if !ok || ref.TaskID == "" {
		return ShownTask{}, missing
	}
	o, err := r.journal.Objective(ctx, c.Tenant, ref.ObjectiveID)
	if errors.Is(err, opt.ErrUnknown) {
		return ShownTask{}, missing
	}
	if err != nil {
		return ShownTask{}, err
	}
	t, ok := taskIn(o, ref.PlanID, id)
	if !ok {
		return ShownTask{}, missing
	}
	c.about(o.ID, t.Task.A2AID())
	return t, nil
}

func taskIn(o *opt.Objective, planID, id string) (ShownTask, bool) {
	p := o.Plan(planID)
	if p == nil {
		return ShownTask{}, false
	}
	t := p.Task(id)
	return ShownTask{Task: t, Plan: p, Objective: o}, t != nil
}
