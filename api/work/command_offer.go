package work

import (
	"context"
	"fmt"
	"slices"

	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// Offers reports whether a caller may ask for a change now: the scopes allow it, the
// state of o, as the caller has read it, does too, and it would change something. The
// objective decides again when the change arrives.
func Offers(c *call.Call, o *opt.Objective, cmd opt.Command) bool {
	p := o.Plan(cmd.PlanID)
	if c.RequireScopes(scopesOf(p, cmd)...) != nil || cmd.Kind == opt.MoveTask && o.Closed() {
		return false
	}
	return machineRefusal(o, cmd) == nil && !machine.Unchanged(o, p, cmd)
}

// Perform asks for a change as the operation for its kind does, with the scopes of that, and returns how many plans had
// not confirmed it when it was answered.
func (s *Commands) Perform(ctx context.Context, c *call.Call, cmd opt.Command) (unconfirmed int, err error) {
	var o read.ShownObjective
	var p read.ShownPlan
	var change opt.Change
	if cmd.Change != nil {
		change = *cmd.Change
	}
	if cmd.Kind == opt.CreatePlan || cmd.Kind == opt.AddTasks { // the other methods check their scopes themselves
		err = c.RequireScopes(scopesOf(nil, cmd)...)
	}
	if err != nil {
		return 0, err
	}
	switch of, id := (Objectives{s}), cmd.ObjectiveID; cmd.Kind {
	case opt.UpdateObjective:
		o, err = of.UpdateObjective(ctx, c, UpdateObjectiveParams{ID: id, Change: change, Status: opt.ObjectiveStatus(cmd.Status), Seen: cmd.Seen})
	case opt.Replan:
		o, err = of.Replan(ctx, c, ReplanParams{ID: id, Reason: cmd.Text, Seen: cmd.Seen})
	case opt.CreatePlan:
		_, err = of.CreatePlan(ctx, c, CreatePlanParams{ObjectiveID: id, Plan: *cmd.Plan, Seen: cmd.Seen})
	case opt.UpdatePlan, opt.OrderTasks:
		p, err = of.UpdatePlan(ctx, c, UpdatePlanParams{ID: cmd.PlanID, Change: change, Status: opt.PlanStatus(cmd.Status), Tasks: cmd.Order, Seen: cmd.Seen})
	case opt.AddTasks:
		p, err = of.AddTasks(ctx, c, AddTasksParams{ID: cmd.PlanID, Tasks: cmd.Tasks, Seen: cmd.Seen})
	case opt.MoveTask:
		_, err = Tasks{s}.UpdateTaskStatus(ctx, c, UpdateTaskStatusParams{ID: cmd.TaskID, State: opt.TaskState(cmd.Status), Message: cmd.Text, Seen: cmd.Seen})
	case opt.CancelTask:
		var t read.ShownTask
		if t, err = s.Read.PlanTask(ctx, c, cmd.TaskID); err == nil {
			_, err = Tasks{s}.CancelTask(ctx, c, read.TaskParams{ID: t.Task.A2AID(), Seen: cmd.Seen})
		}
	default:
		err = fmt.Errorf("no operation asks for %s", cmd.Kind)
	}
	return len(o.Unconfirmed) + len(p.Unconfirmed), err
}

// scopesOf returns the scopes that a change needs.
func scopesOf(p *opt.Plan, cmd opt.Command) []call.Scope {
	switch cmd.Kind {
	case opt.UpdateObjective, opt.UpdatePlan:
		return call.ScopesOfChange(cmd.Status, !cmd.Change.Empty())
	case opt.Replan:
		return []call.Scope{call.CreateRuns, call.CancelRuns}
	case opt.CancelTask:
		return []call.Scope{call.CancelRuns}
	case opt.MoveTask:
		scopes := call.ScopesOfChange(cmd.Status, false)
		if p != nil && closesGate(p.Task(cmd.TaskID), opt.TaskState(cmd.Status)) && !slices.Contains(scopes, call.RespondApprovals) {
			scopes = append(scopes, call.RespondApprovals)
		}
		return scopes
	}
	return []call.Scope{call.CreateRuns}
}

// closesGate reports whether a move by hand to a state takes the place of an answer at
// the gate of t.
func closesGate(t *opt.Task, to opt.TaskState) bool {
	return t != nil && t.State.Waiting() && to != opt.TaskCanceled
}
