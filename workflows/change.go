package workflows

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"longhaul/opt"
)

// The calls in this file change objectives and plans while they are there. Each
// is an update: the workflow that owns the thing refuses what cannot be, and the
// change is in the journal when the call returns. seen is the revision that the
// client knows, 0 for any; opt.ErrStale says that there is a later one.

// ChangeObjective changes an objective, and has it move to a status if that is
// not "".
func (c *Client) ChangeObjective(ctx context.Context, id string, change *opt.Change, status opt.ObjectiveStatus, seen int64) error {
	return c.updateSoon(ctx, id, ChangeObjectiveUpdate, ChangeObjective{Change: change, Status: status, Seen: seen}, nil)
}

// Replan asks the planner for plans in place of those that have not ended.
func (c *Client) Replan(ctx context.Context, id, reason string, seen int64) error {
	return c.updateSoon(ctx, id, ReplanUpdate, Replan{Reason: reason, Seen: seen}, nil)
}

// ChangePlan changes a plan, and has it move to a status if that is not "". met
// says that what it depends on is done.
func (c *Client) ChangePlan(ctx context.Context, id string, change *opt.Change, status opt.PlanStatus, met bool, seen int64) error {
	return c.changePlan(ctx, id, ChangePlanUpdate, ChangePlan{Change: change, Status: status, Met: met}, seen)
}

// AddTasks adds tasks to a plan.
func (c *Client) AddTasks(ctx context.Context, planID string, specs []opt.TaskSpec, seen int64) error {
	return c.changePlan(ctx, planID, AddTasksUpdate, AddTasks{Specs: specs}, seen)
}

// LinkTask has another A2A task stand in for a plan task. If follow is set that is
// a task of ours, and the plan task ends as it does.
func (c *Client) LinkTask(ctx context.Context, taskID, link string, follow bool, seen int64) error {
	ref, _ := opt.ParseID(taskID)
	return c.changePlan(ctx, ref.PlanID, LinkTaskUpdate, LinkTask{TaskID: taskID, Link: link, Follow: follow}, seen)
}

// MoveTask moves a plan task by hand.
func (c *Client) MoveTask(ctx context.Context, taskID string, to opt.TaskState, text string, seen int64) error {
	ref, _ := opt.ParseID(taskID)
	return c.changePlan(ctx, ref.PlanID, MoveTaskUpdate, MoveTask{TaskID: taskID, State: to, Text: text}, seen)
}

// AgainPlan begins a new attempt at a plan that failed, given all that the journal
// has of it with the artifacts of its tasks. Its objective goes on.
func (c *Client) AgainPlan(ctx context.Context, p *opt.Plan, to opt.PlanStatus, seen int64) error {
	return c.updateSoon(ctx, p.ObjectiveID, AgainPlanUpdate, AgainPlan{Plan: *p, Status: to, Seen: seen}, nil)
}

// ReorderPlan has a plan that was not begun depend on what change says, beside
// whatever else that says.
func (c *Client) ReorderPlan(ctx context.Context, planID string, change *opt.Change, seen int64) error {
	ref, _ := opt.ParseID(planID)
	return c.updateSoon(ctx, ref.ObjectiveID, ReorderUpdate, Reorder{PlanID: planID, Change: change, Seen: seen}, nil)
}

// Again begins a new attempt at an objective that has ended, given all that the
// journal has of it with the artifacts of its tasks.
func (c *Client) Again(ctx context.Context, o *opt.Objective, to opt.ObjectiveStatus, behind []string) error {
	if o.Status == to || !o.Status.Ended() || !o.Status.May(to) {
		return &opt.MoveError{From: string(o.Status), To: string(to)}
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	if err := c.enter(ctx, *o, behind); err != nil {
		return err
	}
	state := &ObjectiveState{Objective: *o, Before: o.Plans}
	state.Objective.Plans = nil
	for _, p := range o.Plans {
		header := *p
		header.Tasks = nil
		state.Objective.Plans = append(state.Objective.Plans, &header)
	}
	options := c.options(opt.Opening{Objective: *o, Idle: to == opt.ObjectiveSubmitted})
	options.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
	input := ObjectiveInput{Opening: opt.Opening{Idle: true}, Again: string(to), Polite: true, State: state, MaxEvents: c.cfg.MaxEvents, Plain: c.cfg.Plain, IdleFor: c.idleFor()}
	_, err := c.cfg.Temporal.ExecuteWorkflow(ctx, options, Objective, input)
	var taken *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &taken) { // another client was first
		return &opt.MoveError{From: string(to), To: string(to)}
	}
	return refusal("begin again", err)
}

// changePlan asks a plan for a change, after its objective if the client says
// which revision it has seen.
func (c *Client) changePlan(ctx context.Context, planID, name string, arg any, seen int64) error {
	if seen != 0 {
		ref, _ := opt.ParseID(planID)
		if err := c.updateSoon(ctx, ref.ObjectiveID, ClaimUpdate, Claim{Seen: seen}, nil); err != nil {
			return err
		}
	}
	return c.updateSoon(ctx, planID, name, arg, nil)
}

// updateSoon is update within the time that one call may take. The server takes
// only so many updates of one workflow at a time; the others wait here.
func (c *Client) updateSoon(ctx context.Context, workflowID, name string, arg, result any) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	return c.update(ctx, workflowID, name, arg, result)
}

func (c *Client) update(ctx context.Context, workflowID, name string, arg, result any) error {
	handle, err := c.cfg.Temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflowID, UpdateName: name, Args: []any{arg}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, result)
	}
	return refusal(fmt.Sprintf("%s of %s", name, workflowID), err)
}
