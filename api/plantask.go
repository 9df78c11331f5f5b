package api

import (
	"context"
	"errors"

	"longhaul/api/wire"
	"longhaul/opt"
)

// planTask reads a plan task that the caller names, within its plan and
// objective.
func (s *Server) planTask(ctx context.Context, c *call, id string) (wire.ShownTask, error) {
	missing := optNotFound("PLAN_TASK_NOT_FOUND", "Plan task", id)
	ref, ok := opt.ParseID(id)
	if !ok || ref.TaskID == "" {
		return wire.ShownTask{}, missing
	}
	o, err := s.cfg.Journal.Objective(ctx, c.Tenant, ref.ObjectiveID)
	if errors.Is(err, opt.ErrUnknown) {
		return wire.ShownTask{}, missing
	}
	if err != nil {
		return wire.ShownTask{}, err
	}
	t, ok := taskIn(o, ref.PlanID, id)
	if !ok {
		return wire.ShownTask{}, missing
	}
	c.saw(o.ID, t.Task.A2AID())
	return t, nil
}

func taskIn(o *opt.Objective, planID, id string) (wire.ShownTask, bool) {
	p := o.Plan(planID)
	if p == nil {
		return wire.ShownTask{}, false
	}
	t := p.Task(id)
	return wire.ShownTask{Task: t, Plan: p, Objective: o}, t != nil
}

// hinted returns the A2A task that the metadata of a message names. It names a
// plan task, which is another A2A task in each attempt.
func (s *Server) hinted(ctx context.Context, c *call, p wire.SendParams) (string, error) {
	hint := p.Hints.TaskID
	ref, ok := opt.ParseID(hint)
	if !ok || hint != ref.TaskID || hint == p.Message.TaskID {
		return hint, nil
	}
	o, err := s.cfg.Journal.Objective(ctx, c.Tenant, ref.ObjectiveID)
	if errors.Is(err, opt.ErrUnknown) {
		return hint, nil
	}
	if err != nil {
		return "", err
	}
	if t, ok := taskIn(o, ref.PlanID, hint); ok {
		hint = t.Task.A2AID()
	}
	return hint, nil
}

// linkTask has another A2A task stand in for a plan task that was not dispatched.
func (s *Server) linkTask(ctx context.Context, c *call, p wire.LinkTaskParams) (wire.ShownTask, error) {
	return s.changeTask(ctx, c, p.ID, p.Seen, true, func(ctx context.Context, t wire.ShownTask, seen int64, n int) error {
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
func (s *Server) mayStandIn(ctx context.Context, c *call, t wire.ShownTask, link string) (known bool, err error) {
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

// updateTaskStatus moves a plan task by hand. The plan and the objective follow.
func (s *Server) updateTaskStatus(ctx context.Context, c *call, p wire.UpdateTaskStatusParams) (wire.ShownTask, error) {
	return s.changeTask(ctx, c, p.ID, p.Seen, false, func(ctx context.Context, t wire.ShownTask, seen int64, n int) error {
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
func (s *Server) changeTask(ctx context.Context, c *call, id string, seen int64, revises bool, change func(_ context.Context, _ wire.ShownTask, seen int64, n int) error) (wire.ShownTask, error) {
	arrived := func(_ *opt.Objective, revised bool) bool { return revised || !revises && seen == 0 }
	o, err := s.changePart(ctx, c, id, seen, arrived, func(ctx context.Context, seen int64, n int) (*opt.Objective, error) {
		t, err := s.planTask(ctx, c, id)
		if err == nil {
			err = fresh(t.Objective, seen)
		}
		if err == nil {
			err = change(ctx, t, seen, n)
		}
		return t.Objective, err
	})
	if err != nil {
		return wire.ShownTask{}, err
	}
	ref, _ := opt.ParseID(id)
	t, _ := taskIn(o, ref.PlanID, id)
	return t, nil
}
