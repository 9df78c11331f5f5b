package harness

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// An Operator does to workflows what people may do in Temporal's UI. A workflow that is
// not there, or has ended, is no error.
type Operator struct {
	Temporal  client.Client
	Namespace string
	Rand      *rand.Rand
}

// Acts are what an operator may do to a workflow, by name.
var Acts = map[string]func(o Operator, ctx context.Context, workflowID string) error{
	"terminate":         Operator.Terminate,
	"cancel":            Operator.Cancel,
	"delete":            Operator.Delete,
	"signal rubbish":    Operator.SignalRubbish,
	"reset to first":    func(o Operator, ctx context.Context, id string) error { return o.Reset(ctx, id, First) },
	"reset to anywhere": func(o Operator, ctx context.Context, id string) error { return o.Reset(ctx, id, o.Rand.IntN) },
}

// Open lists the workflows of the service that run: objectives, plans and contexts,
// by id.
func (o Operator) Open(ctx context.Context) (ids []string, err error) {
	runs, err := o.Runs(ctx, "ExecutionStatus = 'Running' AND WorkflowType IN ('Objective', 'Plan', 'Context')")
	for _, run := range runs {
		ids = append(ids, run.GetWorkflowId())
	}
	slices.Sort(ids)
	return ids, err
}

// Runs lists the runs of workflows that a query finds, in no order.
func (o Operator) Runs(ctx context.Context, query string) (all []*commonpb.WorkflowExecution, err error) {
	request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: o.Namespace, Query: query, PageSize: 1000}
	for {
		page, err := o.Temporal.ListWorkflow(ctx, request)
		if err != nil {
			return nil, err
		}
		for _, w := range page.GetExecutions() {
			all = append(all, w.GetExecution())
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return all, nil
		}
	}
}

// Terminate terminates a workflow.
func (o Operator) Terminate(ctx context.Context, workflowID string) error {
	return ignored(o.Temporal.TerminateWorkflow(ctx, workflowID, "", "an operator's hour"))
}

// Cancel asks a workflow to stop.
func (o Operator) Cancel(ctx context.Context, workflowID string) error {
	return ignored(o.Temporal.CancelWorkflow(ctx, workflowID, ""))
}

// Delete deletes a workflow and its history.
func (o Operator) Delete(ctx context.Context, workflowID string) error {
	_, err := o.Temporal.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: o.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: workflowID},
	})
	return ignored(err)
}

// SignalRubbish sends a signal that the workflow knows, with an argument that it cannot read.
func (o Operator) SignalRubbish(ctx context.Context, workflowID string) error {
	names := []string{"letter", "command", "report", "directive", "turn", "request", "enter", "callback", "cancel", "unheard"}
	args := []any{"rubbish", 5, nil, []string{"x"}, map[string]any{}, map[string]any{"id": 5}}
	return ignored(o.Temporal.SignalWorkflow(ctx, workflowID, "", names[o.Rand.IntN(len(names))], args[o.Rand.IntN(len(args))]))
}

// First is the first of n workflow tasks.
func First(int) int { return 0 }

// Reset resets the latest run of a workflow to the one of its n workflow tasks that which chooses.
func (o Operator) Reset(ctx context.Context, workflowID string, which func(n int) int) error {
	found, err := o.Temporal.DescribeWorkflowExecution(ctx, workflowID, "")
	if err != nil {
		return ignored(err)
	}
	return o.ResetRun(ctx, found.GetWorkflowExecutionInfo().GetExecution(), which)
}

// ResetRun is Reset for a run that may not be the latest.
func (o Operator) ResetRun(ctx context.Context, run *commonpb.WorkflowExecution, which func(n int) int) error {
	points, err := o.points(ctx, run)
	if err != nil || len(points) == 0 {
		return ignored(err)
	}
	point := points[which(len(points))]
	_, err = o.Temporal.ResetWorkflowExecution(ctx, &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: o.Namespace, WorkflowExecution: run, Reason: "an operator's hour", WorkflowTaskFinishEventId: point, RequestId: crand.Text(),
	})
	return ignored(err)
}

// points lists the events to which a run can be reset.
func (o Operator) points(ctx context.Context, e *commonpb.WorkflowExecution) (ids []int64, err error) {
	history := o.Temporal.GetWorkflowHistory(ctx, e.GetWorkflowId(), e.GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		if err != nil {
			return nil, err
		}
		if event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			ids = append(ids, event.GetEventId())
		}
	}
	return ids, nil
}

// ignored returns err, nil if it says that there is nothing to act on: the workflow has
// ended, was deleted, or moved on meanwhile.
func ignored(err error) error {
	var invalid *serviceerror.InvalidArgument
	if missing(err) || errors.As(err, &invalid) {
		return nil
	}
	return err
}

func missing(err error) bool {
	var none *serviceerror.NotFound
	return errors.As(err, &none)
}

// Act does a random act to a random running workflow, and says what it did.
func (o Operator) Act(ctx context.Context, names ...string) (string, error) {
	ids, err := o.Open(ctx)
	if err != nil || len(ids) == 0 {
		return "", err
	}
	name, id := names[o.Rand.IntN(len(names))], ids[o.Rand.IntN(len(ids))]
	if err := Acts[name](o, ctx, id); err != nil {
		return "", fmt.Errorf("%s %s: %w", name, id, err)
	}
	return name + " " + id, nil
}
