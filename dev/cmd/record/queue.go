package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"longhaul/a2a"
	"longhaul/internal/child"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/workflows"
)

// queueShape names the histories of two objectives of one context, and of the
// context's workflow.
const queueShape = "queued"

// runQueue makes one objective wait for a person while the next one works, and
// continue after that.
func runQueue(ctx context.Context, r *recorder) (ids []string, err error) {
	first := opening(shape{name: queueShape + "-first", specs: plans("approve Go on?; say first")})
	second := opening(shape{name: queueShape + "-second", specs: plans("work 1s; say second")})
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
	if err := waitFor(opt.TaskWorking)(ctx, behind); err != nil {
		return nil, err
	}
	if err := reply(1, 0, opt.Reply{Action: opt.Accept})(ctx, before); err != nil {
		return nil, err
	}
	for _, w := range []work{before, behind} {
		if err := untilObjective(ended)(ctx, w); err != nil {
			return nil, err
		}
		ids = append(ids, w.id, w.plan(1))
	}
	contextID, err := r.contextWorkflow(ctx)
	return append(ids, contextID), err
}

// contextWorkflow returns the id of the only Context workflow.
func (r *recorder) contextWorkflow(ctx context.Context) (id string, err error) {
	query := fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Completed'", workflows.ContextWorkflow)
	err = child.Until(ctx, 100*time.Millisecond, func() error { // Temporal's lists lag behind
		page, err := r.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query})
		if len(page.GetExecutions()) == 0 {
			return errors.Join(errors.New("there is no Context workflow that has completed"), err)
		}
		id = page.Executions[0].Execution.WorkflowId
		return nil
	})
	return id, err
}
