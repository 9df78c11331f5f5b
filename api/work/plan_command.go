package work

import (
	"context"

	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/opt"
)

// CreatePlanParams are the params of plans/create.
type CreatePlanParams struct {
	ObjectiveID string       `param:"objectiveId,needed"`
	Seen        int64        `param:",revision"` // the revision that the client saw, 0 for any
	Plan        opt.PlanSpec `param:",plan"`
}

// UpdatePlanParams are the params of plans/update.
type UpdatePlanParams struct {
	ID     string         `param:"id,needed"`
	Change opt.Change     // Dependencies are ids as they were sent
	Status opt.PlanStatus `param:"status"` // "" to stay
	Tasks  []opt.TaskOrder
	Seen   int64 `param:",revision"`
}

// AddTasksParams are the params of plans/addTasks.
type AddTasksParams struct {
	ID    string // of the plan
	Tasks []opt.TaskSpec
	Seen  int64
}

// CreatePlan adds a plan to an objective and returns it. The plan runs when the
// objective has been started and it is the plan's turn.
func (s Objectives) CreatePlan(ctx context.Context, c *call.Call, p CreatePlanParams) (*opt.Plan, error) {
	if err := s.Plans.CheckExecutors("", p.Plan.Tasks); err != nil {
		return nil, err
	}
	answer, err := s.perform(ctx, c, opt.Command{
		Kind: opt.CreatePlan, ObjectiveID: p.ObjectiveID, Seen: p.Seen, Plan: &p.Plan, Start: p.Plan.Metadata.Bool(opt.KeyAutoStart),
	})
	if err != nil {
		return nil, err
	}
	_, plan, err := s.Read.Plan(ctx, c, answer.PlanID)
	if err != nil {
		return nil, err
	}
	plan.Status, plan.Reason = opt.PlanPending, ""
	return plan, nil
}

// UpdatePlan changes a plan, or the order of its tasks. The only change of a failed plan is a new attempt.
func (s Objectives) UpdatePlan(ctx context.Context, c *call.Call, p UpdatePlanParams) (read.ShownPlan, error) {
	if err := c.RequireScopes(call.ScopesOfChange(string(p.Status), !p.Change.Empty())...); err != nil {
		return read.ShownPlan{}, err
	}
	cmd := opt.Command{Kind: opt.UpdatePlan, PlanID: p.ID, Seen: p.Seen, Status: string(p.Status)}
	if !p.Change.Empty() {
		cmd.Change = &p.Change
	}
	if len(p.Tasks) > 0 {
		if cmd.Change != nil || p.Status != "" {
			return read.ShownPlan{}, call.InvalidField("tasks", "cannot be changed together with other members")
		}
		cmd.Kind, cmd.Order = opt.OrderTasks, p.Tasks
	}
	return s.changePlan(ctx, c, cmd)
}

// AddTasks adds tasks to a plan.
func (s Objectives) AddTasks(ctx context.Context, c *call.Call, p AddTasksParams) (read.ShownPlan, error) {
	if err := s.Plans.CheckExecutors("", p.Tasks); err != nil {
		return read.ShownPlan{}, err
	}
	return s.changePlan(ctx, c, opt.Command{Kind: opt.AddTasks, PlanID: p.ID, Seen: p.Seen, Tasks: p.Tasks})
}

// changePlan sends a command about a plan, and returns the plan after it.
func (s Objectives) changePlan(ctx context.Context, c *call.Call, cmd opt.Command) (read.ShownPlan, error) {
	o, p, err := s.Read.Plan(ctx, c, cmd.PlanID)
	if err == nil {
		err = c.RequireScopes(scopesOf(p, cmd)...)
	}
	if err != nil {
		return read.ShownPlan{}, err
	}
	cmd.ObjectiveID = o.ID
	answer, err := s.perform(ctx, c, cmd)
	if err != nil {
		return read.ShownPlan{}, err
	}
	_, plan, err := s.Read.Plan(ctx, c, cmd.PlanID)
	return read.ShownPlan{Plan: plan, Tasks: true, Unconfirmed: answer.Waiting}, err
}
