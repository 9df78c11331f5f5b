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
	return s.changeTask(ctx, c, p.ID, p.Seen, true, func(ctx context.Context, t wire.ShownTask, n int) error {
		switch {
		case t.Task.State != opt.TaskPending:
			return &opt.MoveError{From: string(t.Task.State), To: "linked"}
		case t.Plan.Status.Ended():
			return errPlanEnded
		case closed(t.Objective):
			return errObjectiveEnded
		case p.Link == t.Task.ID || p.Link == t.Task.A2AID():
			return invalid("a2aTaskId", "is the task itself")
		}
		return repeated(s.cfg.Engine.LinkTask(ctx, t.Task.ID, p.Link), n)
	})
}

// updateTaskStatus moves a plan task by hand. The plan and the objective follow.
func (s *Server) updateTaskStatus(ctx context.Context, c *call, p wire.UpdateTaskStatusParams) (wire.ShownTask, error) {
	return s.changeTask(ctx, c, p.ID, p.Seen, false, func(ctx context.Context, t wire.ShownTask, n int) error {
		switch from := t.Task.State; {
		case from == p.State:
			return errUnchanged
		case !from.May(p.State), t.Plan.Status.Ended(), closed(t.Objective):
			return &opt.MoveError{From: string(from), To: string(p.State)}
		}
		return repeated(s.cfg.Engine.MoveTask(ctx, t.Task.ID, p.State, p.Message), n)
	})
}

// changeTask has a plan task changed and returns it once its plan and objective
// have followed. revises says that they do so by a new revision.
func (s *Server) changeTask(ctx context.Context, c *call, id string, seen int64, revises bool, change func(_ context.Context, _ wire.ShownTask, n int) error) (wire.ShownTask, error) {
	ref, _ := opt.ParseID(id)
	w := s.cfg.Watch(ref.ObjectiveID)
	defer w.Close()
	var before int64
	err := s.changing(ctx, func(ctx context.Context, n int) error {
		t, err := s.planTask(ctx, c, id)
		if err == nil {
			err = fresh(t.Objective, seen)
		}
		if err != nil {
			return err
		}
		before = t.Objective.Revision
		return change(ctx, t, n)
	})
	wait := s.cfg.ReplyWait
	switch {
	case errors.Is(err, errUnchanged):
		wait = 0
	case err != nil:
		return wire.ShownTask{}, err
	}
	o, err := s.caughtUp(ctx, c, ref.ObjectiveID, w, wait, func(o *opt.Objective) bool {
		return !revises || o.Revision > before || o.Status.Ended()
	})
	if err != nil {
		return wire.ShownTask{}, err
	}
	t, _ := taskIn(o, ref.PlanID, id)
	return t, nil
}
