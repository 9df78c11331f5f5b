package work

import (
	"context"
	"errors"

	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// LinkTaskParams are the params of tasks/link.
type LinkTaskParams struct {
	ID   string `param:"id,needed"`           // of the plan task
	Link string `param:"a2aTaskId,needed id"` // the A2A task that stands in for it
	Seen int64  `param:",revision"`
}

// UpdateTaskStatusParams are the params of tasks/updateStatus.
type UpdateTaskStatusParams struct {
	ID      string        `param:"id,needed"` // of the plan task
	State   opt.TaskState `param:"status"`
	Message string        `param:"message,text"` // for people
	Seen    int64         `param:",revision"`
}

// Tasks changes plan tasks for clients, and cancels any task.
type Tasks struct{ *Commands }

// LinkTask makes another A2A task stand in for a plan task that was not dispatched.
func (s Tasks) LinkTask(ctx context.Context, c *call.Call, p LinkTaskParams) (read.ShownTask, error) {
	t, err := s.Read.PlanTask(ctx, c, p.ID)
	if err == nil && t.Task.Ask != nil {
		err = c.RequireScopes(call.RespondApprovals) // the other task would take the place of the answer
	}
	if err != nil {
		return read.ShownTask{}, err
	}
	follow, err := s.mayStandIn(ctx, c, t, p.Link)
	if err != nil {
		return read.ShownTask{}, err
	}
	return s.changeTask(ctx, c, t, opt.Command{Kind: opt.LinkTask, Seen: p.Seen, Link: p.Link, Follow: follow})
}

// UpdateTaskStatus moves a plan task by hand. The plan and the objective follow.
func (s Tasks) UpdateTaskStatus(ctx context.Context, c *call.Call, p UpdateTaskStatusParams) (read.ShownTask, error) {
	if err := c.RequireScopes(call.ScopesOfChange(string(p.State), false)...); err != nil {
		return read.ShownTask{}, err
	}
	t, err := s.Read.PlanTask(ctx, c, p.ID)
	if err == nil && closesGate(t.Task, p.State) {
		err = c.RequireScopes(call.RespondApprovals) // the move closes the gate
	}
	if err != nil {
		return read.ShownTask{}, err
	}
	if t.Task.State != p.State && t.Objective.Closed() {
		return read.ShownTask{}, call.InvalidMove(&opt.MoveError{From: string(t.Task.State), To: string(p.State)}, nil)
	}
	return s.changeTask(ctx, c, t, opt.Command{Kind: opt.MoveTask, Seen: p.Seen, Status: string(p.State), Text: p.Message})
}

// changeTask sends a command about a plan task, and returns the task after it.
func (s Tasks) changeTask(ctx context.Context, c *call.Call, t read.ShownTask, cmd opt.Command) (read.ShownTask, error) {
	cmd.ObjectiveID, cmd.PlanID, cmd.TaskID = t.Objective.ID, t.Plan.ID, t.Task.ID
	if _, err := s.perform(ctx, c, cmd); err != nil {
		return read.ShownTask{}, err
	}
	return s.Read.PlanTask(ctx, c, t.Task.ID)
}

// mayStandIn reports whether the task link exists for the caller, so that it can
// be followed. It refuses tasks that would wait for t: tasks of the same
// objective, open tasks in the same context, where one objective works at a time,
// and tasks that follow a task of this objective, directly or not.
func (s Tasks) mayStandIn(ctx context.Context, c *call.Call, t read.ShownTask, link string) (known bool, err error) {
	ref, ok := opt.ParseID(link)
	switch {
	case !ok:
		return false, nil
	case link == t.Task.ID || link == t.Task.A2AID():
		return false, call.InvalidField("a2aTaskId", "is the task itself")
	case ref.ObjectiveID == t.Objective.ID:
		return false, call.InvalidField("a2aTaskId", "is part of the same objective")
	}
	v, err := s.Journal.Task(ctx, c.Tenant, link, shown.TaskWant{})
	switch {
	case errors.Is(err, opt.ErrUnknown):
		return false, nil
	case err != nil:
		return false, err
	case v.Task.ContextID == t.Objective.ContextID && !v.State.Ended():
		return false, call.InvalidField("a2aTaskId", "has not ended and is in the same context, where one objective works at a time")
	}
	cycle, err := s.followsTasksOf(ctx, c, ref.ObjectiveID, t.Objective.ID)
	if err == nil && cycle {
		err = call.InvalidField("a2aTaskId", "follows a task of this objective: the links would form a cycle")
	}
	return err == nil, err
}

// maxLinked bounds the objectives that are visited to find a cycle of links.
const maxLinked = 1000

// followsTasksOf reports whether open tasks of the objective from follow tasks of the objective
// to, directly or not.
func (s Tasks) followsTasksOf(ctx context.Context, c *call.Call, from, to string) (bool, error) {
	open, seen := []string{from}, map[string]bool{from: true}
	for len(open) > 0 && len(seen) <= maxLinked {
		links, err := s.Journal.Links(ctx, c.Tenant, open[0])
		if err != nil {
			return false, err
		}
		open = open[1:]
		for _, link := range links {
			ref, ok := opt.ParseID(link)
			if ok && ref.ObjectiveID == to {
				return true, nil
			}
			if ok && !seen[ref.ObjectiveID] {
				seen[ref.ObjectiveID] = true
				open = append(open, ref.ObjectiveID)
			}
		}
	}
	return false, nil
}
