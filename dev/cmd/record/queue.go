package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/workflows"
)

// queueShape names the histories of two objectives of one context, and of the
// context's workflow.
const queueShape = "queued"

// queue makes one objective wait for a person while the next one works, and
// continue after that.
func (r *recorder) queue(ctx context.Context, dir string) error {
	first := opening(shape{name: queueShape + "-first", specs: plans("approve Go on?; say first")})
	if _, err := r.engine.Start(ctx, first); err != nil {
		return err
	}
	gate := opt.TaskID(opt.PlanID(first.Objective.ID, 1), 0)
	if err := r.untilTask(ctx, gate, func(v opt.TaskView) bool { return v.State == opt.TaskInputRequired }); err != nil {
		return err
	}
	second := opening(shape{name: queueShape + "-second", specs: plans("work 1s; say second")})
	second.Objective.ContextID, second.Objective.QueuedAt = first.Objective.ContextID, a2a.At(time.Now())
	placed := opt.Placed{QueuedAt: second.Objective.QueuedAt, Behind: []string{first.Objective.ID}}
	if err := r.engine.Enter(ctx, second.Objective, placed); err != nil {
		return err
	}
	if _, err := r.engine.Start(ctx, second); err != nil {
		return err
	}
	works := opt.TaskID(opt.PlanID(second.Objective.ID, 1), 0)
	if err := r.untilTask(ctx, works, func(v opt.TaskView) bool { return v.State == opt.TaskWorking }); err != nil {
		return err
	}
	if err := reply(1, 0, opt.Reply{Action: opt.Accept})(ctx, r, r.engine, first.Objective.ID); err != nil {
		return err
	}
	var ids []string
	for _, id := range []string{first.Objective.ID, second.Objective.ID} {
		if err := r.untilObjective(ctx, id, func(o *opt.Objective) bool { return o.Status.Ended() && o.Root.Ended() }); err != nil {
			return err
		}
		ids = append(ids, id, opt.PlanID(id, 1))
	}
	contextID, err := r.contextWorkflow(ctx)
	if err != nil {
		return err
	}
	for i, id := range append(ids, contextID) {
		if err := r.save(ctx, filepath.Join(dir, fmt.Sprintf("%s.%d", queueShape, i)), id); err != nil {
			return err
		}
	}
	fmt.Println("recorded", queueShape)
	return nil
}

// contextWorkflow returns the id of the only Context workflow.
func (r *recorder) contextWorkflow(ctx context.Context) (string, error) {
	tick := time.NewTicker(100 * time.Millisecond) // Temporal's lists lag behind
	defer tick.Stop()
	for {
		page, err := r.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query: fmt.Sprintf("WorkflowType = '%s'", workflows.ContextWorkflow),
		})
		if err != nil {
			return "", err
		}
		for _, e := range page.Executions {
			if e.Status == enums.WORKFLOW_EXECUTION_STATUS_COMPLETED {
				return e.Execution.WorkflowId, nil
			}
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-tick.C:
		}
	}
}
