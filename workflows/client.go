package workflows

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"longhaul/opt"
)

// ClientConfig says which Temporal a Client talks to.
type ClientConfig struct {
	Temporal  client.Client
	MaxEvents int           // continue workflows as new past so many events; 0 leaves it to the server
	Plain     bool          // the namespace has no search attributes of ours
	Timeout   time.Duration // of one call; 0 means 10 s
	IdleFor   time.Duration // after which an objective that nobody has started is canceled; 0 for never
}

// A Client starts, tells and stops work. It is safe for concurrent use. What it
// returns wraps opt.ErrUnavailable when the call may be repeated later.
type Client struct{ cfg ClientConfig }

// NewClient returns a client. MaxEvents below 100 would leave a run no room to
// work, and counts as 100.
func NewClient(cfg ClientConfig) *Client {
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Second
	}
	if cfg.MaxEvents > 0 {
		cfg.MaxEvents = max(cfg.MaxEvents, 100)
	}
	return &Client{cfg}
}

// openingMemo keeps the head of an objective beside its history, where a repeat
// of the request that began it finds what it began.
const openingMemo = "opening"

// Start begins an objective. If its id is taken it returns the opening that
// holds, opt.ErrConflict if that was made of other content, and opt.ErrEnded if
// that objective has ended: then the journal had all of it.
func (c *Client) Start(ctx context.Context, o opt.Opening) (opt.Opening, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	if err := c.enter(ctx, o.Objective, o.Behind); err != nil {
		return o, err
	}
	options := c.options(o)
	input := ObjectiveInput{Opening: o, MaxEvents: c.cfg.MaxEvents, Plain: c.cfg.Plain, IdleFor: c.idleFor()}
	_, err := c.cfg.Temporal.ExecuteWorkflow(ctx, options, Objective, input)
	var taken *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &taken) {
		return c.opened(ctx, o)
	}
	return o, refusal("start objective", err)
}

// enter lets an objective wait for its turn in its context if it is queued. That
// comes before it is started, so that none waits that was forgotten.
func (c *Client) enter(ctx context.Context, o opt.Objective, behind []string) error {
	if o.QueuedAt.IsZero() {
		return nil
	}
	return c.Enter(ctx, o, behind)
}

// Enter lets an objective wait for its turn in its context, behind those that are
// known to have begun there. It is durable once Enter returns nil.
func (c *Client) Enter(ctx context.Context, o opt.Objective, behind []string) error {
	options := client.StartWorkflowOptions{
		ID:                  contextWorkflowID(o.Tenant, o.ContextID),
		TaskQueue:           TaskQueue,
		WorkflowTaskTimeout: workflowTaskTimeout,
		StaticSummary:       "Queue of a context",
		Priority:            temporal.Priority{FairnessKey: fairnessKey(o.Tenant)},
	}
	if !c.cfg.Plain {
		options.TypedSearchAttributes = temporal.NewSearchAttributes(TenantAttribute.ValueSet(o.Tenant), ContextAttribute.ValueSet(o.ContextID))
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	_, err := c.cfg.Temporal.SignalWithStartWorkflow(ctx, options.ID, EnterSignal, Enter{ObjectiveID: o.ID, Behind: behind},
		options, Context, ContextInput{Tenant: o.Tenant, ContextID: o.ContextID, MaxEvents: c.cfg.MaxEvents})
	return refusal("enter the queue of a context", err)
}

// options returns how an objective's workflow is started.
func (c *Client) options(o opt.Opening) client.StartWorkflowOptions {
	head := o.Objective
	options := client.StartWorkflowOptions{
		ID:                                       head.ID,
		TaskQueue:                                TaskQueue,
		WorkflowTaskTimeout:                      workflowTaskTimeout,
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		EnableEagerStart:                         true,
		Memo:                                     map[string]any{openingMemo: head},
		StaticSummary:                            head.Name,
		StaticDetails:                            head.Description,
		Priority:                                 temporal.Priority{FairnessKey: fairnessKey(head.Tenant)},
	}
	if !c.cfg.Plain {
		options.TypedSearchAttributes = temporal.NewSearchAttributes(
			TenantAttribute.ValueSet(head.Tenant), ContextAttribute.ValueSet(head.ContextID),
			ObjectiveAttribute.ValueSet(head.ID), StateAttribute.ValueSet(string(firstState(o))))
	}
	return options
}

// firstState is what Temporal's lists show from the start: work that begins at
// once is not shown as waiting first.
func firstState(o opt.Opening) opt.TaskState {
	if o.Idle || !o.Objective.QueuedAt.IsZero() {
		return opt.TaskSubmitted
	}
	return opt.TaskWorking
}

// fairnessKey cuts a tenant's name to what Temporal takes as a key.
func fairnessKey(tenant string) string { return tenant[:min(len(tenant), 64)] }

// opened returns the opening of the objective that has o's id already.
func (c *Client) opened(ctx context.Context, o opt.Opening) (opt.Opening, error) {
	found, err := c.cfg.Temporal.DescribeWorkflowExecution(ctx, o.Objective.ID, "")
	if err != nil {
		return opt.Opening{}, refusal("describe objective", err)
	}
	var head opt.Objective
	payload := found.GetWorkflowExecutionInfo().GetMemo().GetFields()[openingMemo]
	if err := dataConverter.FromPayload(payload, &head); err != nil {
		return opt.Opening{}, fmt.Errorf("read memo of %s: %w", o.Objective.ID, err)
	}
	if head.Digest != o.Objective.Digest {
		return opt.Opening{}, fmt.Errorf("objective %s: %w", head.ID, opt.ErrConflict)
	}
	if found.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return opt.Opening{}, fmt.Errorf("objective %s: %w", head.ID, opt.ErrEnded)
	}
	o.Objective = head
	return o, nil
}

// Tell delivers a letter. It is durable once Tell returns nil, whether or not a
// worker runs. opt.ErrEnded means that nobody is there to read it any more.
func (c *Client) Tell(ctx context.Context, l opt.Letter) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	to := l.ObjectiveID
	if l.PlanID != "" {
		to = l.PlanID
	}
	return refusal("tell "+to, c.cfg.Temporal.SignalWorkflow(ctx, to, "", LetterSignal, l))
}

// Cancel asks for the end of the task with an id: of the whole objective for a
// root task. It is durable once Cancel returns nil, and takes effect soon. A
// plan task is canceled by its plan, which needs a worker.
func (c *Client) Cancel(ctx context.Context, taskID, principal string) error {
	ref, ok := opt.ParseID(taskID)
	if !ok {
		return fmt.Errorf("task %s: %w", taskID, opt.ErrUnknown)
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	if ref.TaskID == "" {
		return refusal("cancel objective", c.cfg.Temporal.CancelWorkflow(ctx, ref.ObjectiveID, ""))
	}
	return c.update(ctx, ref.PlanID, CancelTaskUpdate, CancelTask{TaskID: ref.TaskID, Principal: principal}, nil)
}

// AddPlan adds a plan to an objective, and starts the objective if asked to. The
// plan is in the journal when AddPlan returns it.
func (c *Client) AddPlan(ctx context.Context, objectiveID string, spec opt.PlanSpec, start bool, seen int64) (*opt.Plan, error) {
	var plan opt.Plan
	if err := c.updateSoon(ctx, objectiveID, AddPlanUpdate, AddPlan{Spec: spec, Start: start, Seen: seen}, &plan); err != nil {
		return nil, err
	}
	return &plan, nil
}

// Ready reports whether Temporal answers.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.cfg.Temporal.CheckHealth(ctx, &client.CheckHealthRequest{})
	return refusal("reach Temporal", err)
}

// refusal is the only place where an error of Temporal becomes one of ours.
func refusal(doing string, err error) error {
	var app *temporal.ApplicationError
	var gone *serviceerror.NotFound
	switch {
	case err == nil:
		return nil
	case errors.As(err, &app):
		return fmt.Errorf("%s: %w", doing, fromWorkflow(app))
	case errors.As(err, &gone):
		return fmt.Errorf("%s: %w", doing, opt.ErrEnded)
	case permanent(err):
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%s: %w: %w", doing, opt.ErrUnavailable, err)
}

// permanent reports whether the same call would fail again for ever.
func permanent(err error) bool {
	var invalid *serviceerror.InvalidArgument
	var denied *serviceerror.PermissionDenied
	return errors.As(err, &invalid) || errors.As(err, &denied)
}

// fromWorkflow turns an error that crossed from a workflow into what it was.
func fromWorkflow(app *temporal.ApplicationError) error {
	switch app.Type() {
	case specErrorType:
		var e opt.SpecError
		if app.Details(&e) == nil {
			return &e
		}
	case moveErrorType:
		var e opt.MoveError
		if app.Details(&e) == nil {
			return &e
		}
	case unknownErrorType:
		return opt.ErrUnknown
	case "AcceptedUpdateCompletedWorkflow": // Temporal's own
		return opt.ErrEnded
	case staleErrorType:
		return fmt.Errorf("%w: %s", opt.ErrStale, app.Message())
	}
	return app
}
