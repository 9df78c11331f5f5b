package service

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"longhaul/opt"
)

// CancelTask asks an objective, or one task of a plan, to stop, and waits a short
// time for it. The request is durable: a task that has not stopped by then stops
// later, and its metadata says so. A second cancel changes nothing, and is an error that names
// the state.
func (s taskCommands) CancelTask(ctx context.Context, c *Call, p TaskParams) (Task, error) {
	if err := c.requireScopes(CancelRuns); err != nil {
		return Task{}, err
	}
	c.TakeKey(p.RequestID)
	v, err := s.read.task(ctx, c, p.ID, opt.TaskWant{})
	switch {
	case err != nil:
		return Task{}, err
	case v.State == opt.TaskCanceled:
		return Task{}, notCanceled(v.State)
	case !v.State.Ended():
		if err := s.cancel(ctx, c, v, p.Seen); err != nil {
			return Task{}, err
		}
	}
	v, err = s.read.task(ctx, c, p.ID, opt.TaskWant{History: p.History, Scope: p.Scope, Artifacts: true})
	switch {
	case err != nil:
		return Task{}, err
	case v.State.Ended() && v.State != opt.TaskCanceled:
		return Task{}, notCanceled(v.State) // it had ended before the call took effect
	case !v.State.Ended():
		v.Stopping = string(opt.TaskCanceled)
	}
	return s.read.show(ctx, c, v)
}

// cancel asks for the end of a task and waits for it for a while. It returns no
// error if the task has ended meanwhile. seen is the revision that the client saw, 0 for
// any; it counts for plan tasks.
func (s taskCommands) cancel(ctx context.Context, c *Call, v opt.TaskView, seen int64) error {
	w := s.cfg.Watch(v.ObjectiveID)
	defer w.Close()
	ref, _ := opt.ParseID(v.Task.ID)
	var err error
	if ref.TaskID == "" {
		s.cfg.Log.Info("Objective is canceled", zap.String("objective", ref.ObjectiveID), zap.String("principal", c.Principal))
		err = s.out.cancel(ctx, ref.ObjectiveID, c.Principal)
	} else {
		_, err = s.perform(ctx, c, opt.Command{Kind: opt.CancelTask, ObjectiveID: ref.ObjectiveID, PlanID: ref.PlanID, TaskID: ref.TaskID, Seen: seen})
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
