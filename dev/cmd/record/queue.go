package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"longhaul/a2a"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/child"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/workflows"
)

// queues are the courses of two objectives of one context, with the context's workflow: an operator acts on that.
var queues = []course{
	queue("queued", func(context.Context, *recorder, string) error { return nil }),
	queue("context-ended", func(ctx context.Context, r *recorder, id string) error {
		r.remember(id, r.temporal.GetWorkflow(ctx, id, "").GetRunID())
		return r.temporal.TerminateWorkflow(ctx, id, "", "")
	}),
	queue("context-reset", func(ctx context.Context, r *recorder, id string) error { return r.reset(ctx, id, harness.First) }),
	{"context-long", runLongRoll},
}

// runLongRoll has a context whose history may not be long call a roll of many members, which have all ended.
func runLongRoll(ctx context.Context, r *recorder) ([]string, error) {
	o := opening(shape{name: "context-long", specs: plans("say done")})
	o.Objective.QueuedAt = a2a.At(time.Now())
	for i := range 130 {
		r.floor = append(r.floor, opt.RootID(fmt.Sprintf("obj-%026d", i), 1))
	}
	if err := r.long.Enter(ctx, o.Objective, shown.Placed{QueuedAt: o.Objective.QueuedAt, Behind: r.floor, Waiting: 1}); err != nil {
		return nil, err
	}
	if _, err := r.usual.Start(ctx, o); err != nil {
		return nil, err
	}
	contextID, err := r.contextWorkflow(ctx, o.Objective.ContextID)
	if err != nil {
		return nil, err
	}
	w := work{r, r.usual, o.Objective.ID}
	return []string{w.id, w.plan(1), contextID}, errors.Join(untilObjective(ended)(ctx, w), r.temporal.GetWorkflow(ctx, contextID, "").Get(ctx, nil))
}

// queue makes one objective wait for a person while the next one works, and continue after that.
func queue(name string, act func(ctx context.Context, r *recorder, contextWorkflow string) error) course {
	return course{name, func(ctx context.Context, r *recorder) ([]string, error) { return runQueue(ctx, r, name, act) }}
}

func runQueue(ctx context.Context, r *recorder, name string, act func(context.Context, *recorder, string) error) (ids []string, err error) {
	first := opening(shape{name: name + "-first", specs: plans("approve Go on?; say first")})
	second := opening(shape{name: name + "-second", specs: plans("work 1s; say second")})
	before, behind := work{r, r.usual, first.Objective.ID}, work{r, r.usual, second.Objective.ID}
	if _, err := r.usual.Start(ctx, first); err != nil {
		return nil, err
	}
	if err := waitFor(opt.TaskInputRequired)(ctx, before); err != nil {
		return nil, err
	}
	second.Objective.ContextID, second.Objective.QueuedAt = first.Objective.ContextID, a2a.At(time.Now())
	placed := shown.Placed{QueuedAt: second.Objective.QueuedAt, Behind: []string{before.id}}
	if err := r.usual.Enter(ctx, second.Objective, placed); err != nil {
		return nil, err
	}
	if _, err := r.usual.Start(ctx, second); err != nil {
		return nil, err
	}
	r.floor = []string{opt.RootID(before.id, 1), opt.RootID(behind.id, 1)}
	contextID, err := r.contextWorkflow(ctx, first.Objective.ContextID)
	if err != nil {
		return nil, err
	}
	for _, next := range []func() error{
		func() error { return waitFor(opt.TaskWorking)(ctx, behind) },
		func() error { return act(ctx, r, contextID) },
		func() error { return reply(1, 0, opt.Reply{Action: opt.Accept})(ctx, before) },
	} {
		if err := next(); err != nil {
			return nil, err
		}
	}
	for _, w := range []work{before, behind} {
		if err := untilObjective(ended)(ctx, w); err != nil {
			return nil, err
		}
		ids = append(ids, w.id, w.plan(1))
	}
	return append(ids, contextID), nil
}

// Floor lists the objectives of the context of the course.
func (r *recorder) Floor(context.Context, string, string) (begun, waiting []string, err error) {
	return r.floor, nil, nil
}

// contextWorkflow returns the id of the workflow of a context.
func (r *recorder) contextWorkflow(ctx context.Context, contextID string) (id string, err error) {
	query := fmt.Sprintf("WorkflowType = '%s' AND %s = '%s'", workflows.ContextWorkflow, workflows.ContextAttribute.GetName(), contextID)
	err = child.Until(ctx, 100*time.Millisecond, func() error { // Temporal's lists lag behind
		page, err := r.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query})
		if len(page.GetExecutions()) == 0 {
			return errors.Join(errors.New("there is no workflow of the context"), err)
		}
		id = page.Executions[0].Execution.WorkflowId
		return nil
	})
	return id, err
}
