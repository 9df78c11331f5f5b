package work

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// CancelTask asks an objective, or one task of a plan, to stop, and waits a short
// time for it. The request is durable: a task that has not stopped by then stops
// later, and its metadata says so. A second cancel changes nothing, and is an error that names
// the state.
func (s Tasks) CancelTask(ctx context.Context, c *call.Call, p read.TaskParams) (read.Task, error) {
	if err := c.RequireScopes(call.CancelRuns); err != nil {
		return read.Task{}, err
	}
	c.TakeKey(p.RequestID)
	v, err := s.Read.Task(ctx, c, p.ID, shown.TaskWant{})
	switch {
	case err != nil:
		return read.Task{}, err
	case v.State == opt.TaskCanceled:
		return read.Task{}, call.NotCanceled(v.State)
	case !v.State.Ended():
		if !c.Knows(a2a.ExtensionCancel) {
			p.Reason = ""
		}
		if err := s.cancel(ctx, c, v, p); err != nil {
			return read.Task{}, err
		}
	}
	v, err = s.Read.Task(ctx, c, p.ID, shown.TaskWant{History: p.History, Scope: p.Scope, Artifacts: true})
	switch {
	case err != nil:
		return read.Task{}, err
	case v.State.Ended() && v.State != opt.TaskCanceled:
		return read.Task{}, call.NotCanceled(v.State) // it had ended before the call took effect
	case !v.State.Ended():
		v.Stopping = string(opt.TaskCanceled)
	}
	t, err := s.Read.Show(ctx, c, v)
	t.Metadata = t.Metadata.WithIf(c.Knows(a2a.ExtensionCancel), a2a.ExtensionCancel, map[string]bool{"stopped": v.State.Ended()})
	return t, err
}

// cancel asks for the end of a task and waits for it for a while. It returns no
// error if the task has ended meanwhile.
func (s Tasks) cancel(ctx context.Context, c *call.Call, v shown.TaskView, p read.TaskParams) error {
	w := s.Watch(v.ObjectiveID)
	defer w.Close()
	ref, _ := opt.ParseID(v.Task.ID)
	var err error
	if ref.TaskID == "" {
		s.Log.Info("Objective is canceled", zap.String("objective", ref.ObjectiveID), zap.String("principal", c.Principal))
		err = s.Out.Cancel(ctx, ref.ObjectiveID, c.Principal, p.Reason)
	} else {
		_, err = s.perform(ctx, c, opt.Command{Kind: opt.CancelTask, ObjectiveID: ref.ObjectiveID, PlanID: ref.PlanID, TaskID: ref.TaskID, Seen: p.Seen, Text: p.Reason})
	}
	var move *opt.MoveError
	if err != nil && !errors.As(err, &move) && !errors.Is(err, opt.ErrEnded) && !errors.Is(err, call.ErrPlanEnded) && !errors.Is(err, call.ErrObjectiveEnded) {
		return fmt.Errorf("cancel %s: %w", v.Task.ID, err)
	}
	return s.Wait.Await(ctx, w, s.CancelWait, func() (bool, error) {
		state, _, err := s.Journal.Peek(ctx, c.Tenant, v.Task.ID)
		return state.Ended(), err
	})
}
