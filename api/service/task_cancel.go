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
func (s *commands) CancelTask(ctx context.Context, c *Call, p TaskParams) (Task, error) {
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

// cancel asks for the end of a task and waits for it a while. One that has ended
// meanwhile is no error here.
func (s *commands) cancel(ctx context.Context, c *Call, v opt.TaskView) error {
	w := s.cfg.Watch(v.ObjectiveID)
	defer w.Close()
	ref, _ := opt.ParseID(v.Task.ID)
	var err error
	if ref.TaskID == "" {
		err = s.out.cancel(ctx, ref.ObjectiveID)
	} else {
		_, err = s.do(ctx, c, opt.Command{Kind: opt.CancelTask, ObjectiveID: ref.ObjectiveID, PlanID: ref.PlanID, TaskID: ref.TaskID})
	}
	var move *opt.MoveError
	if err != nil && !errors.As(err, &move) && !errors.Is(err, opt.ErrEnded) && !errors.Is(err, errPlanEnded) && !errors.Is(err, errObjectiveEnded) {
		return fmt.Errorf("cancel %s: %w", v.Task.ID, err)
	}
	return s.wait.await(ctx, w, s.cfg.CancelWait, func() (bool, error) {
		state, _, err := s.cfg.Journal.Peek(ctx, c.Tenant, v.Task.ID)
		return state.Ended(), err
	})
}
