package workflows

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"longhaul/activities"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/outbox"
	"longhaul/opt/shown"
)

// ClientConfig says which Temporal a Client talks to.
type ClientConfig struct {
	Temporal  client.Client
	Namespace string        // of Temporal; only Schedules needs it
	MaxEvents int           // events of history after which a workflow continues as new; 0: the server decides
	Plain     func() bool   // whether the namespace has no search attributes of ours; nil: it has them
	Timeout   time.Duration // of one call; 0 means 10 s
	IdleFor   time.Duration // after which an objective that was not started is canceled; 0 for never
	Cipher    Cipher        // of Temporal; nil encrypts nothing
	Blobs     Blobs         // the large payloads; nil for none
}

// A Client starts work, sends it messages and stops it. It is safe for concurrent use. An error
// wraps opt.ErrUnavailable if the call may be repeated later.
type Client struct {
	cfg  ClientConfig
	data converter.DataConverter
}

// NewClient returns a client. A MaxEvents from 1 to 99 counts as 100, since a
// shorter run could do no work.
func NewClient(cfg ClientConfig) *Client {
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Second
	}
	if cfg.Plain == nil {
		cfg.Plain = func() bool { return false }
	}
	if cfg.MaxEvents > 0 {
		cfg.MaxEvents = max(cfg.MaxEvents, 100)
	}
	return &Client{cfg, NewDataConverter(cfg.Cipher)}
}

// Start begins an objective. If an objective with this id is in its first run, Start returns
// its opening, or opt.ErrConflict if it was made from other content. If it has ended, or its run
// continues another one, Start returns opt.ErrEnded, and the journal has the whole objective.
// If it was stopped, its opening comes with that error, since it may not have recorded it.
func (c *Client) Start(ctx context.Context, o opt.Opening) (opt.Opening, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	input := c.input()
	input.Opening = &o
	_, err := c.cfg.Temporal.ExecuteWorkflow(ctx, c.options(o), Objective, input)
	var taken *serviceerror.WorkflowExecutionAlreadyStarted
	switch {
	case errors.As(err, &taken):
		return c.opened(ctx, o)
	case err != nil:
		return opt.Opening{}, refusal("start objective", err)
	}
	return o, nil
}

// Enter puts an objective into the queue of its context. The entry is durable
// once Enter returns nil. Call Enter before Start, so that no started objective
// is missing from the queue.
func (c *Client) Enter(ctx context.Context, o opt.Objective, p shown.Placed) error {
	in := machine.Enter{ObjectiveID: o.ID, Attempt: o.Attempt, At: p.QueuedAt, Behind: p.Behind, Starting: p.Starting, Waiting: p.Waiting}
	return refusal("enter the queue of a context", c.signalContext(ctx, o.Tenant, o.ContextID, EnterSignal, in))
}

// Ask implements [activities.Reporter].
func (c *Client) Ask(ctx context.Context, a activities.Asking) error {
	var in machine.TurnRequest
	if err := json.Unmarshal(a.Request, &in); err != nil {
		return fmt.Errorf("read a request to a context: %w", err)
	}
	return refusal("ask a context", c.signalContext(ctx, a.Tenant, a.ContextID, RequestSignal, in))
}

// signalContext signals a context, whose workflow begins if it does not run.
func (c *Client) signalContext(ctx context.Context, tenant, contextID, name string, arg any) error {
	options := startOptions(contextWorkflowID(tenant, contextID), "Queue of a context", tenant)
	if !c.cfg.Plain() {
		options.TypedSearchAttributes = temporal.NewSearchAttributes(TenantAttribute.ValueSet(tenant), ContextAttribute.ValueSet(contextID))
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	_, err := c.cfg.Temporal.SignalWithStartWorkflow(ctx, options.ID, name, arg,
		options, Context, ContextInput{Tenant: tenant, ContextID: contextID, MaxEvents: c.cfg.MaxEvents, Rules: machine.Rules})
	return err
}

// startOptions returns how a workflow of a tenant is started. Only what starts a workflow sets
// the fairness key: Temporal hands it on to child workflows, activities and later runs.
func startOptions(id, summary, tenant string) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID: id, TaskQueue: TaskQueue, WorkflowTaskTimeout: workflowTaskTimeout, StaticSummary: summary,
		Priority: temporal.Priority{FairnessKey: fairnessKey(tenant)},
	}
}

// options returns how an objective's workflow is started.
func (c *Client) options(o opt.Opening) client.StartWorkflowOptions {
	head := o.Objective
	options := startOptions(head.ID, head.Name, head.Tenant)
	options.StaticDetails = head.Description
	options.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
	options.WorkflowExecutionErrorWhenAlreadyStarted, options.EnableEagerStart = true, true
	if !c.cfg.Plain() {
		options.TypedSearchAttributes = temporal.NewSearchAttributes(append(nameAttribute(head.Name, c.cfg.Cipher != nil),
			TenantAttribute.ValueSet(head.Tenant), ContextAttribute.ValueSet(head.ContextID),
			ObjectiveAttribute.ValueSet(head.ID), StateAttribute.ValueSet(string(firstState(o))))...)
	}
	return options
}

// opened returns the opening of the objective that has o's id already.
func (c *Client) opened(ctx context.Context, o opt.Opening) (opt.Opening, error) {
	fate, in, err := c.latest(ctx, o.Objective.ID)
	digest := in.digest()
	switch {
	case err != nil && !errors.Is(err, opt.ErrUnknown): // if it is unknown, the journal has removed the objective with its large contents
		return opt.Opening{}, err
	case digest != "" && !isOf(digest, o):
		return opt.Opening{}, fmt.Errorf("objective %s: %w", o.Objective.ID, opt.ErrConflict)
	case in.Opening == nil || fate != FateRunning && fate != FateStopped:
		return opt.Opening{}, fmt.Errorf("objective %s: %w", o.Objective.ID, opt.ErrEnded)
	case fate == FateStopped:
		return *in.Opening, fmt.Errorf("objective %s: %w", o.Objective.ID, opt.ErrEnded)
	}
	in.Opening.Found = true
	return *in.Opening, nil
}

// isOf reports whether a digest is that of the content of o.
func isOf(digest string, o opt.Opening) bool {
	return digest == o.Objective.Digest || o.Message != nil && digest == o.Message.Digest() // the latter in older runs
}

// Opening returns the opening of an objective that was stopped in its first run, which may not have recorded it;
// the zero Opening for others. A run that continues another one has recorded it.
func (c *Client) Opening(ctx context.Context, objectiveID string) (opt.Opening, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	fate, in, err := c.latest(ctx, objectiveID)
	switch {
	case fate != "" && fate != FateStopped:
		return opt.Opening{}, nil
	case err != nil || in.Opening == nil:
		return opt.Opening{}, err
	}
	return *in.Opening, nil
}

// latest returns the fate and the input of the latest run of an objective.
func (c *Client) latest(ctx context.Context, objectiveID string) (fate Fate, in ObjectiveInput, err error) {
	found, err := c.cfg.Temporal.DescribeWorkflowExecution(ctx, objectiveID, "")
	var none *serviceerror.NotFound
	switch {
	case errors.As(err, &none):
		return FateGone, in, nil
	case err != nil:
		return "", in, refusal("describe "+objectiveID, err)
	}
	fate = fateOf(found.GetWorkflowExecutionInfo())
	history := c.cfg.Temporal.GetWorkflowHistory(ctx, objectiveID, found.GetWorkflowExecutionInfo().GetExecution().GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	if !history.HasNext() {
		return fate, in, nil
	}
	e, err := history.Next()
	if err != nil {
		return fate, in, refusal("read the opening of "+objectiveID, err)
	}
	if input := e.GetWorkflowExecutionStartedEventAttributes().GetInput().GetPayloads(); len(input) > 0 {
		err = c.reader().read(ctx, input[0], &in)
	}
	return fate, in, err
}

// reader returns a reader of payloads in histories.
func (c *Client) reader() payloadReader {
	return payloadReader{c.data, blobDriver{c.cfg.Blobs, codec{c.cfg.Cipher}}}
}

// Letter delivers a letter. It is durable once Letter returns nil, whether or not a
// worker runs. opt.ErrEnded means that the receiver's workflow has ended.
func (c *Client) Letter(ctx context.Context, l opt.Letter) error {
	to := l.ObjectiveID
	if l.PlanID != "" {
		to = l.PlanID
	}
	return c.signal(ctx, to, LetterSignal, l)
}

// Callback delivers a callback to a plan task. It is durable once Callback
// returns nil. opt.ErrEnded means that the workflow of the plan has ended.
func (c *Client) Callback(ctx context.Context, in opt.Callback) error {
	ref, _ := opt.ParseID(in.TaskID)
	return c.signal(ctx, ref.PlanID, CallbackSignal, in)
}

// Report implements [activities.Reporter].
func (c *Client) Report(ctx context.Context, objectiveID, planID string, r opt.Report) error {
	return c.signal(ctx, objectiveID, ReportSignal, machine.Reported{PlanID: planID, Report: r})
}

// Gone implements [activities.Reporter].
func (c *Client) Gone(ctx context.Context, planID string) (bool, error) {
	fate, err := c.Fate(ctx, planID)
	return fate == FateStopped || fate == FateGone, err
}

// Heartbeat implements [activities.HeartbeatReader].
func (c *Client) Heartbeat(ctx context.Context, workflowID, activityID string) (beat activities.Heartbeat, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	found, err := c.cfg.Temporal.DescribeWorkflowExecution(ctx, workflowID, "")
	if err != nil {
		return beat, refusal("read the heartbeats of "+activityID, err)
	}
	for _, a := range found.GetPendingActivities() {
		if a.GetActivityId() != activityID {
			continue
		}
		if a.GetState() == enumspb.PENDING_ACTIVITY_STATE_SCHEDULED && a.GetScheduledTime() != nil {
			beat.WaitsSince = a.GetScheduledTime().AsTime()
		}
		if details := a.GetHeartbeatDetails().GetPayloads(); len(details) > 0 && c.data.FromPayload(details[0], &beat.Details) != nil {
			beat.Details = nil // they are not for us
		}
	}
	return beat, nil
}

// Command delivers a command to an objective that has not ended. It is durable
// once Command returns nil; the answer is an event in the journal. opt.ErrEnded
// means that the objective's workflow has ended.
func (c *Client) Command(ctx context.Context, cmd opt.Command) error {
	return c.signal(ctx, cmd.ObjectiveID, CommandSignal, cmd)
}

func (c *Client) signal(ctx context.Context, to, name string, arg any) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	return refusal(name+" to "+to, c.cfg.Temporal.SignalWorkflow(ctx, to, "", name, arg))
}

// Retry delivers a command that may begin a new attempt at o, an objective that
// has ended: its workflow is started again if it has ended.
func (c *Client) Retry(ctx context.Context, o opt.Objective, cmd opt.Command) error {
	return c.signalAgain(ctx, o, CommandSignal, cmd)
}

// signalAgain signals an objective that has ended: its workflow is started again if it has ended.
func (c *Client) signalAgain(ctx context.Context, o opt.Objective, name string, arg any) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	options, input := c.again(o)
	_, err := c.cfg.Temporal.SignalWithStartWorkflow(ctx, o.ID, name, arg, options, Objective, input)
	return refusal(name+" to "+o.ID, err)
}

// Cancel asks for the end of an objective, for a principal and its reason. It is durable once Cancel
// returns nil, and takes effect soon. A run that takes no more signals, since it has as many as
// Temporal allows, is canceled in the way of an operator, which names neither.
func (c *Client) Cancel(ctx context.Context, objectiveID, principal, reason string) error {
	if principal != "" {
		err := c.signal(ctx, objectiveID, CancelSignal, machine.Canceled{Principal: principal, Text: reason})
		if err == nil || errors.Is(err, opt.ErrEnded) || errors.Is(err, opt.ErrUnavailable) {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	return refusal("cancel objective", c.cfg.Temporal.CancelWorkflow(ctx, objectiveID, ""))
}

// Push has the deliveries of a config made that are due. The request is durable
// once Push returns nil. A repeat is harmless.
func (c *Client) Push(ctx context.Context, k outbox.PushKey) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	options := startOptions(pushWorkflowID(k), oneLine("Deliveries of "+k.TaskID), k.Tenant)
	_, err := c.cfg.Temporal.SignalWithStartWorkflow(ctx, options.ID, PushSignal, nil, options, Push,
		PushInput{TaskID: k.TaskID, ConfigID: k.ConfigID, MaxEvents: c.cfg.MaxEvents})
	return refusal("deliver to a push config of "+k.TaskID, err)
}

// pushWorkflowID returns the id of the workflow of a config. The ids of configs are
// chosen by clients: a long id, or one that is not plain text, becomes a digest.
func pushWorkflowID(k outbox.PushKey) string {
	config := k.ConfigID
	if len(config) > 200 || strings.ContainsFunc(config, func(r rune) bool { return r <= ' ' || r > '~' }) {
		sum := sha256.Sum256([]byte(config))
		config = "sha256:" + hex.EncodeToString(sum[:16])
	}
	return "push-" + k.TaskID + "-" + config
}

// input returns what the inputs of all runs of objectives have in common.
func (c *Client) input() ObjectiveInput {
	in := ObjectiveInput{Rules: machine.Rules, MaxEvents: c.cfg.MaxEvents, Plain: c.cfg.Plain(), Encrypted: c.cfg.Cipher != nil}
	if c.cfg.IdleFor > 0 {
		in.IdleFor = max(1, int64(c.cfg.IdleFor/time.Second)) // 0 would be for ever
	}
	return in
}

// Ready reports whether Temporal answers.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.cfg.Temporal.CheckHealth(ctx, &client.CheckHealthRequest{})
	return refusal("reach Temporal", err)
}

// refusal is the only place where an error of Temporal becomes one of ours. Our own
// credentials are no concern of a client: it repeats the call when they are mended.
func refusal(doing string, err error) error {
	var gone *serviceerror.NotFound
	var invalid *serviceerror.InvalidArgument
	switch {
	case err == nil:
		return nil
	case errors.As(err, &gone):
		return fmt.Errorf("%s: %w", doing, opt.ErrEnded)
	case errors.As(err, &invalid): // a repeat would fail in the same way
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%s: %w: %w", doing, opt.ErrUnavailable, err)
}
