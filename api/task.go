package api

import (
	"context"
	"errors"
	"fmt"

	"longhaul/a2a"
	"longhaul/api/wire"
	"longhaul/opt"
)

// getTask answers from the journal, so it works while everything else is down.
func (s *Server) getTask(ctx context.Context, c *call, p wire.TaskParams) (a2a.Task, error) {
	v, err := s.task(ctx, c, p.ID, opt.TaskWant{History: p.History, Scope: p.Scope, Artifacts: true})
	if err != nil {
		return a2a.Task{}, err
	}
	return s.show(ctx, c, v)
}

// listTasks returns a page of the caller's tasks, the one that changed last first.
// Its tasks do not carry their objectives, even where the extension is on.
func (s *Server) listTasks(ctx context.Context, c *call, p wire.TaskListParams) (wire.TaskPage, error) {
	f := p.Filter
	page := wire.TaskPage{Size: f.Limit}
	list := pageOf{kind: "tasks", tenant: c.Tenant, filter: []string{f.ContextID, string(f.State), f.Since.String()}}
	var err error
	if f.After, err = s.cursor(ctx, list, p.PageToken); err != nil {
		return page, err
	}
	f.Limit++ // one more tells whether there is a next page
	views, total, err := s.cfg.Journal.Tasks(ctx, c.Tenant, f)
	if err != nil {
		return page, err
	}
	page.Total = total
	if len(views) == f.Limit {
		views = views[:f.Limit-1]
		last := views[len(views)-1].Task
		if page.Next, err = s.token(ctx, list, opt.Cursor{At: last.Status.At, ID: last.ID}); err != nil {
			return page, err
		}
	}
	for _, v := range views {
		t := present(v)
		if !f.Want.Artifacts {
			t.Artifacts = nil
		}
		page.Tasks = append(page.Tasks, t)
	}
	return page, nil
}

// cancelTask asks an objective, or one task of a plan, to stop, and waits a
// little for that to happen. The request is durable: what has not stopped by then
// stops later, and the task says so.
func (s *Server) cancelTask(ctx context.Context, c *call, p wire.TaskParams) (a2a.Task, error) {
	v, err := s.task(ctx, c, p.ID, opt.TaskWant{})
	switch {
	case err != nil:
		return a2a.Task{}, err
	case v.State == opt.TaskCanceled && c.rules.SecondCancelFails:
		return a2a.Task{}, errNotCanceled
	case !v.State.Ended():
		if err := s.cancel(ctx, c, v); err != nil {
			return a2a.Task{}, err
		}
	}
	v, err = s.task(ctx, c, p.ID, opt.TaskWant{History: p.History, Scope: p.Scope, Artifacts: true})
	switch {
	case err != nil:
		return a2a.Task{}, err
	case v.State.Ended() && v.State != opt.TaskCanceled:
		return a2a.Task{}, errNotCanceled // it was over before, or before we came
	case !v.State.Ended():
		v.Stopping = string(opt.TaskCanceled)
	}
	return s.show(ctx, c, v)
}

// cancel asks for the end of a task and waits for it a while. A plan task whose
// workflow has not begun is asked for again.
func (s *Server) cancel(ctx context.Context, c *call, v opt.TaskView) error {
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
	return s.await(ctx, w, s.cfg.CancelWait, over)
}
