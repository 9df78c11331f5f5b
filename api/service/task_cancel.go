package service

import (
	"context"
	"errors"
	"fmt"

	"longhaul/opt"
)

// CancelTask asks an objective, or one task of a plan, to stop, and waits a
// little for that to happen. The request is durable: what has not stopped by then
// stops later, and the task says so.
func (s *changes) CancelTask(ctx context.Context, c *Call, p TaskParams) (Task, error) {
	v, err := s.read.task(ctx, c, p.ID, opt.TaskWant{})
	switch {
	case err != nil:
		return Task{}, err
	case v.State == opt.TaskCanceled && c.Rules.SecondCancelFails:
		return Task{}, errNotCanceled
	case !v.State.Ended():
		if err := s.cancel(ctx, c, v); err != nil {
			return Task{}, err
		}
	}
	v, err = s.read.task(ctx, c, p.ID, opt.TaskWant{History: p.History, Scope: p.Scope, Artifacts: true})
	switch {
	case err != nil:
		return Task{}, err
	case v.State.Ended() && v.State != opt.TaskCanceled:
		return Task{}, errNotCanceled // it was over before, or before we came
	case !v.State.Ended():
		v.Stopping = string(opt.TaskCanceled)
	}
	return s.read.show(ctx, c, v)
}

// cancel asks for the end of a task and waits for it a while. A plan task whose
// workflow has not begun is asked for again.
func (s *changes) cancel(ctx context.Context, c *Call, v opt.TaskView) error {
	w := s.cfg.Watch(v.ObjectiveID)
	defer w.Close()
	over := func() (bool, error) {
		state, _, err := s.cfg.Journal.Peek(ctx, c.Tenant, v.Task.ID)
		return state.Ended(), err
	}
	err := s.changing(ctx, func(ctx context.Context, _ int) error {
		if ended, err := over(); ended || err != nil {
			return err
		}
		err := s.cfg.Engine.Cancel(ctx, v.Task.ID, c.Principal)
		var move *opt.MoveError
		if errors.As(err, &move) {
			return nil // it has ended, which is about to show
		}
		return early(err)
	})
	if err != nil {
		return fmt.Errorf("cancel %s: %w", v.Task.ID, err)
	}
	return s.wait.await(ctx, w, s.cfg.CancelWait, over)
}
