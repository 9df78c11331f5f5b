package workflows

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"longhaul/opt"
	"longhaul/opt/machine"
)

// A Fate is the state of a workflow in Temporal.
type Fate string

// The fates.
const (
	FateRunning Fate = "running"
	FateEnded   Fate = "ended"   // by itself: its end is recorded, or is in its result
	FateStopped Fate = "stopped" // by an operator, or by a timeout that an operator has set
	FateGone    Fate = "gone"    // Temporal does not have it: it was deleted, or lost
)

// Fate returns the fate of the latest run of a workflow.
func (c *Client) Fate(ctx context.Context, workflowID string) (Fate, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	found, err := c.cfg.Temporal.DescribeWorkflowExecution(ctx, workflowID, "")
	var none *serviceerror.NotFound
	switch {
	case errors.As(err, &none):
		return FateGone, nil
	case err != nil:
		return "", refusal("describe "+workflowID, err)
	}
	return fateOf(found.GetWorkflowExecutionInfo()), nil
}

// fateOf returns the fate of a run.
func fateOf(run *workflowpb.WorkflowExecutionInfo) Fate {
	switch run.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW, enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED:
		return FateRunning
	case enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return FateStopped
	}
	return FateEnded
}

// Last returns the last events of an objective whose workflow has ended, as its result has them.
func (c *Client) Last(ctx context.Context, objectiveID string) ([]opt.Batch, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	end := c.cfg.Temporal.GetWorkflowHistory(ctx, objectiveID, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
	if !end.HasNext() {
		return nil, nil
	}
	e, err := end.Next()
	if err != nil {
		if err = refusal("read the end of "+objectiveID, err); errors.Is(err, opt.ErrEnded) { // Temporal does not have it any more
			err = nil
		}
		return nil, err
	}
	result := resultOfEnd(e)
	if len(result.GetPayloads()) == 0 {
		return nil, nil
	}
	var ended ObjectiveResult
	if err := c.reader().read(ctx, result.GetPayloads()[0], &ended); err != nil {
		return nil, fmt.Errorf("read the result of %s: %w", objectiveID, err)
	}
	return ended.Last, nil
}

// ContextBegan returns when the workflow of a context has begun, also if it has continued as new
// since; zero if it does not run.
func (c *Client) ContextBegan(ctx context.Context, tenant, contextID string) (began time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	id := contextWorkflowID(tenant, contextID)
	var none *serviceerror.NotFound
	for run := ""; ; {
		found, err := c.cfg.Temporal.DescribeWorkflowExecution(ctx, id, run)
		info := found.GetWorkflowExecutionInfo()
		switch {
		case errors.As(err, &none): // it does not run, or its first run is forgotten
			return began, nil
		case err != nil:
			return time.Time{}, refusal("describe "+id, err)
		case run == "" && info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
			return time.Time{}, nil
		}
		began = info.GetStartTime().AsTime()
		if run != "" || info.GetFirstRunId() == "" || info.GetFirstRunId() == info.GetExecution().GetRunId() {
			return began, nil
		}
		run = info.GetFirstRunId()
	}
}

// A StoppedRun is a run of a workflow that was stopped.
type StoppedRun struct{ WorkflowID, RunID string }

// Stopped lists the runs of objectives and plans that were stopped by an operator, or have failed by
// themselves, since a time. Temporal's lists may lag behind by some seconds.
func (c *Client) Stopped(ctx context.Context, since time.Time) (runs []StoppedRun, err error) {
	query := fmt.Sprintf("ExecutionStatus IN ('Terminated', 'TimedOut', 'Failed') AND CloseTime >= '%s'", since.UTC().Format(time.RFC3339))
	for w, err := range c.listed(ctx, query, ObjectiveWorkflow, PlanWorkflow) {
		if err != nil {
			return nil, err
		}
		runs = append(runs, StoppedRun{w.GetWorkflowId(), w.GetRunId()})
	}
	return runs, nil
}

// Ended lists the ids of objectives whose workflows have ended by themselves since a time. Temporal's
// lists may lag behind by some seconds.
func (c *Client) Ended(ctx context.Context, since time.Time) ([]string, error) {
	return c.list(ctx, fmt.Sprintf("ExecutionStatus IN ('Completed', 'Failed', 'Canceled') AND CloseTime >= '%s'", since.UTC().Format(time.RFC3339)), ObjectiveWorkflow)
}

// Running lists the ids of objectives and plans whose workflows run. Temporal's lists may lag
// behind by some seconds.
func (c *Client) Running(ctx context.Context) ([]string, error) {
	return c.list(ctx, "ExecutionStatus = 'Running'", ObjectiveWorkflow, PlanWorkflow)
}

func (c *Client) list(ctx context.Context, query string, types ...string) (ids []string, err error) {
	for w, err := range c.listed(ctx, query, types...) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, w.GetWorkflowId())
	}
	return ids, nil
}

// listed lists the runs of workflows of some types that a query selects, up to the first error.
func (c *Client) listed(ctx context.Context, query string, types ...string) iter.Seq2[*commonpb.WorkflowExecution, error] {
	return func(yield func(*commonpb.WorkflowExecution, error) bool) {
		for w, err := range listed(ctx, c.cfg.Temporal.ListWorkflow, query+" AND WorkflowType IN ('"+strings.Join(types, "', '")+"')") {
			if !yield(w, refusal("list workflows", err)) {
				return
			}
		}
	}
}

// listedAtOnce is how many workflows a page of Temporal's list has.
const listedAtOnce = 1000

// A listing reads one page of Temporal's list of workflows.
type listing func(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)

// listed lists the runs that a query selects, up to the first error.
func listed(ctx context.Context, read listing, query string) iter.Seq2[*commonpb.WorkflowExecution, error] {
	return func(yield func(*commonpb.WorkflowExecution, error) bool) {
		for request := (&workflowservice.ListWorkflowExecutionsRequest{Query: query, PageSize: listedAtOnce}); ; {
			page, err := read(ctx, request)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, w := range page.GetExecutions() {
				if !yield(w.GetExecution(), nil) {
					return
				}
			}
			if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
				return
			}
		}
	}
}

// Close begins a run of an objective whose workflow was stopped or is gone: the run records the
// end of the objective and of its work. Plans that still run are terminated before. If the
// objective runs, Close changes nothing and returns opt.ErrConflict.
func (c *Client) Close(ctx context.Context, o opt.Objective) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	fate, err := c.Fate(ctx, o.ID)
	switch {
	case err != nil:
		return err
	case fate == FateRunning:
		return fmt.Errorf("the workflow of %s runs: %w", o.ID, opt.ErrConflict)
	}
	for _, p := range o.Plans {
		err := refusal("terminate "+p.ID, c.cfg.Temporal.TerminateWorkflow(ctx, p.ID, "", "The workflow of its objective was ended."))
		if err != nil && !errors.Is(err, opt.ErrEnded) {
			return err
		}
	}
	options, input := c.again(o)
	input.Lost = true
	_, err = c.cfg.Temporal.ExecuteWorkflow(ctx, options, Objective, input)
	var taken *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &taken) {
		return fmt.Errorf("the workflow of %s runs: %w", o.ID, opt.ErrConflict)
	}
	return refusal("close "+o.ID, err)
}

// again returns the options and the input of another run of an objective from what the journal has.
func (c *Client) again(o opt.Objective) (client.StartWorkflowOptions, ObjectiveInput) {
	options, input := c.options(opt.Opening{Objective: o, Idle: true}), c.input()
	options.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
	options.EnableEagerStart = false
	input.Retry = &RetryInput{Tenant: o.Tenant, ContextID: o.ContextID, ObjectiveID: o.ID}
	return options, input
}

// PlanLost reports to an objective that the workflow of one of its plans was stopped or is gone. If the
// objective has ended, its workflow is started again to record the end of the plan. opt.ErrEnded means that
// the workflow of an open objective has ended.
func (c *Client) PlanLost(ctx context.Context, o opt.Objective, p opt.Plan) error {
	lost := machine.PlanLost{PlanID: p.ID, Attempt: p.Run}
	if !o.Status.Ended() {
		return c.signal(ctx, o.ID, LostSignal, lost)
	}
	return c.signalAgain(ctx, o, LostSignal, lost)
}

// Rewind has the workflow of an objective or a plan set the journal to what it knows. One that
// has ended is left alone.
func (c *Client) Rewind(ctx context.Context, workflowID string) error {
	if err := c.signal(ctx, workflowID, RewindSignal, nil); !errors.Is(err, opt.ErrEnded) {
		return err
	}
	return nil
}
