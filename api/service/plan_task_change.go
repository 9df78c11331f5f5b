package service

import (
	"context"
	"errors"

	"longhaul/opt"
)

// LinkTaskParams are the params of tasks/link.
type LinkTaskParams struct {
	ID   string // of the plan task
	Link string // the A2A task that stands in for it
	Seen int64
}

// UpdateTaskStatusParams are the params of tasks/updateStatus.
type UpdateTaskStatusParams struct {
	ID      string // of the plan task
	State   opt.TaskState
	Message string // for people
	Seen    int64
}

// LinkTask has another A2A task stand in for a plan task that was not dispatched.
func (s *changes) LinkTask(ctx context.Context, c *Call, p LinkTaskParams) (ShownTask, error) {
	return s.changeTask(ctx, c, p.ID, p.Seen, true, func(ctx context.Context, t ShownTask, seen int64, n int) error {
		switch {
		case t.Task.State != opt.TaskPending:
			return &opt.MoveError{From: string(t.Task.State), To: "linked"}
		case t.Plan.Status.Ended():
			return errPlanEnded
		case closed(t.Objective):
			return errObjectiveEnded
		}
		follow, err := s.mayStandIn(ctx, c, t, p.Link)
		if err != nil {
			return err
		}
		return repeated(s.cfg.Engine.LinkTask(ctx, t.Task.ID, p.Link, follow, seen), n, seen)
	})
}

// mayStandIn reports whether the task called link is one that the caller knows,
// which can be followed. What would wait for the task that it is to stand in for
// may not: what is part of the same objective, and what goes on in the same
// context, where one works at a time.
func (s *changes) mayStandIn(ctx context.Context, c *Call, t ShownTask, link string) (known bool, err error) {
	ref, ok := opt.ParseID(link)
	switch {
	case !ok:
		return false, nil
	case link == t.Task.ID || link == t.Task.A2AID():
		return false, invalid("a2aTaskId", "is the task itself")
	case ref.ObjectiveID == t.Objective.ID:
		return false, invalid("a2aTaskId", "is part of the same objective")
	}
	v, err := s.cfg.Journal.Task(ctx, c.Tenant, link, opt.TaskWant{})
	switch {
	case errors.Is(err, opt.ErrUnknown):
		return false, nil
	case err != nil:
		return false, err
	case v.Task.ContextID == t.Objective.ContextID && !v.State.Ended():
		return false, invalid("a2aTaskId", "goes on in the same context, where one works at a time")
	}
	return true, nil
}

// UpdateTaskStatus moves a plan task by hand. The plan and the objective follow.
func (s *changes) UpdateTaskStatus(ctx context.Context, c *Call, p UpdateTaskStatusParams) (ShownTask, error) {
	return s.changeTask(ctx, c, p.ID, p.Seen, false, func(ctx context.Context, t ShownTask, seen int64, n int) error {
		switch from := t.Task.State; {
		case from == p.State:
			return errUnchanged
		case !from.May(p.State), t.Plan.Status.Ended(), closed(t.Objective):
			return &opt.MoveError{From: string(from), To: string(p.State)}
		}
		return repeated(s.cfg.Engine.MoveTask(ctx, t.Task.ID, p.State, p.Message, seen), n, seen)
	})
}

// changeTask has a plan task changed and returns it once its plan and objective
// have followed. revises says that they do so by a new revision.
func (s *changes) changeTask(ctx context.Context, c *Call, id string, seen int64, revises bool, change func(_ context.Context, _ ShownTask, seen int64, n int) error) (ShownTask, error) {
	arrived := func(_ *opt.Objective, revised bool) bool { return revised || !revises && seen == 0 }
	o, err := s.changePart(ctx, c, id, seen, arrived, func(ctx context.Context, seen int64, n int) (*opt.Objective, error) {
		t, err := s.read.planTask(ctx, c, id)
		if err == nil {
			err = fresh(t.Objective, seen)
		}
		if err == nil {
			err = change(ctx, t, seen, n)
		}
		return t.Objective, err
	})
	if err != nil {
		return ShownTask{}, err
	}
	ref, _ := opt.ParseID(id)
	t, _ := taskIn(o, ref.PlanID, id)
	return t, nil
}
