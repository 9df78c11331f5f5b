package service

import (
	"context"
	"errors"

	"longhaul/opt"
)

// A reader reads what callers name. What is not there, and what belongs to another
// tenant, is the same fault.
type reader struct{ journal Journal }

// task reads a task that the caller names. What cannot be an id of ours is as
// unknown as what is not there, and does not reach the journal.
func (r reader) task(ctx context.Context, c *Call, id string, want opt.TaskWant) (opt.TaskView, error) {
	if !plausible(id) {
		return opt.TaskView{}, TaskUnknown(id)
	}
	v, err := r.journal.Task(ctx, c.Tenant, id, want)
	if errors.Is(err, opt.ErrUnknown) {
		return opt.TaskView{}, TaskUnknown(id)
	}
	if err == nil {
		c.about(v.ObjectiveID, id)
	}
	return v, err
}

// show returns a task as the caller sees it.
func (r reader) show(ctx context.Context, c *Call, v opt.TaskView) (Task, error) {
	t := Task{Task: present(v)}
	if !c.knowsOPT() || !v.IsRoot {
		return t, nil
	}
	var err error
	t.Objective, err = r.journal.Objective(ctx, c.Tenant, v.ObjectiveID)
	return t, err
}
