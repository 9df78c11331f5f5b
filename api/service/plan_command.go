package service

import (
	"context"

	"longhaul/opt"
)

// CreatePlanParams are the params of plans/create.
type CreatePlanParams struct {
	ObjectiveID string
	Plan        opt.PlanSpec
	Seen        int64 // the revision that the client saw, 0 for any
}

// UpdatePlanParams are the params of plans/update.
type UpdatePlanParams struct {
	ID     string
	Change opt.Change     // Dependencies are ids as they were sent
	Status opt.PlanStatus // "" to stay
	Seen   int64
}

// AddTasksParams are the params of plans/addTasks.
type AddTasksParams struct {
	ID    string // of the plan
	Tasks []opt.TaskSpec
	Seen  int64
}

// CreatePlan adds a plan to an objective and returns it. The plan runs when the
// objective has been started and it is the plan's turn.
func (s objectiveCommands) CreatePlan(ctx context.Context, c *Call, p CreatePlanParams) (*opt.Plan, error) {
	if err := checkExecutors(s.cfg, "", p.Plan.Tasks); err != nil {
		return nil, err
	}
	answer, err := s.perform(ctx, c, opt.Command{
		Kind: opt.CreatePlan, ObjectiveID: p.ObjectiveID, Seen: p.Seen, Plan: &p.Plan, Start: p.Plan.Metadata.Bool(opt.KeyAutoStart),
	})
	if err != nil {
		return nil, err
	}
	_, plan, err := s.read.plan(ctx, c, answer.PlanID)
	if err != nil {
		return nil, err
	}
	plan.Status, plan.Reason = opt.PlanPending, ""
	return plan, nil
}

// UpdatePlan changes a plan. The only change of a failed plan is a new attempt.
func (s objectiveCommands) UpdatePlan(ctx context.Context, c *Call, p UpdatePlanParams) (ShownPlan, error) {
	if err := c.requireScopes(scopesOfChange(string(p.Status), !p.Change.Empty())...); err != nil {
		return ShownPlan{}, err
	}
	cmd := opt.Command{Kind: opt.UpdatePlan, PlanID: p.ID, Seen: p.Seen, Status: string(p.Status)}
	if !p.Change.Empty() {
		cmd.Change = &p.Change
	}
	return s.changePlan(ctx, c, cmd)
}

// AddTasks adds tasks to a plan.
func (s objectiveCommands) AddTasks(ctx context.Context, c *Call, p AddTasksParams) (ShownPlan, error) {
	if err := checkExecutors(s.cfg, "", p.Tasks); err != nil {
		return ShownPlan{}, err
	}
	return s.changePlan(ctx, c, opt.Command{Kind: opt.AddTasks, PlanID: p.ID, Seen: p.Seen, Tasks: p.Tasks})
}

// changePlan sends a command about a plan, and returns the plan after it.
func (s objectiveCommands) changePlan(ctx context.Context, c *Call, cmd opt.Command) (ShownPlan, error) {
	o, _, err := s.read.plan(ctx, c, cmd.PlanID)
	if err != nil {
		return ShownPlan{}, err
	}
	cmd.ObjectiveID = o.ID
	answer, err := s.perform(ctx, c, cmd)
	if err != nil {
		return ShownPlan{}, err
	}
	_, plan, err := s.read.plan(ctx, c, cmd.PlanID)
	return ShownPlan{Plan: plan, Tasks: true, Unconfirmed: answer.Waiting}, err
}
