package workflows

import (
	"encoding/json"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"longhaul/activities"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/drive"
)

// Objective runs one objective until it has ended. The workflow fails or is
// canceled when the objective is, so that Temporal's lists show it. Its result is
// for people, and has the last events for the journal: no workflow reads it.
func Objective(ctx workflow.Context, in ObjectiveInput) (*ObjectiveResult, error) {
	m, err := newObjective(ctx, in)
	if err != nil {
		return nil, err
	}
	checkRules(m.State.Rules)
	o := &objectivePart{m: m, in: in, shown: m.State.Objective.Root, named: m.State.Objective.Name}
	h := newHost(ctx, m, o, drive.OfObjective(&m.State), in.MaxEvents)
	on(h, LetterSignal, func(l opt.Letter) machine.Input { return machine.Letter{Letter: l} })
	on(h, CommandSignal, func(c opt.Command) machine.Input { return machine.Command{Command: c} })
	on(h, ReportSignal, func(r machine.Reported) machine.Input { return r })
	on(h, TurnSignal, func(t machine.Turn) machine.Input { return t })
	onRewind(h)
	on(h, LostSignal, func(l machine.PlanLost) machine.Input { return l })
	on(h, CancelSignal, func(c machine.Canceled) machine.Input { return c })
	switch {
	case in.Opening != nil:
		h.Open()
	case in.Lost:
		h.Put(machine.ObjectiveLost{})
	}
	if h.run() {
		state := m.State.Successor()
		return nil, workflow.NewContinueAsNewError(h.ctx, Objective, ObjectiveInput{State: &state, MaxEvents: in.MaxEvents, Plain: in.Plain, IdleFor: in.IdleFor, Encrypted: in.Encrypted})
	}
	if m.State.Forgotten {
		return nil, temporal.NewNonRetryableApplicationError("It was reset to before a retry, which the journal does not take back. The reconciler ends the objective if it is still open.", "Forgotten", nil)
	}
	return resultOf(&m.State.Objective, h.Rest())
}

// newObjective returns the machine for a run: for a new objective, for one
// that ended before, or for one that continues as new.
func newObjective(ctx workflow.Context, in ObjectiveInput) (*machine.Objective, error) {
	switch {
	case in.State != nil:
		return &machine.Objective{State: *in.State}, nil
	case in.Opening != nil:
		return machine.NewObjective(*in.Opening, in.IdleFor, rulesOf(in.Rules)), nil
	}
	free, _ := workflow.NewDisconnectedContext(ctx)
	var kept opt.Kept
	request := activities.KeptRequest{Tenant: in.Retry.Tenant, ObjectiveID: in.Retry.ObjectiveID}
	if err := workflow.ExecuteActivity(workflow.WithActivityOptions(free, readOptions("Read the former attempt")), acts.Load, request).Get(free, &kept); err != nil {
		if in.Retry.ContextID != "" { // it was removed meanwhile
			err = errors.Join(err, leave(free, *in.Retry))
		}
		return nil, err
	}
	return machine.RestoreObjective(kept, in.IdleFor, rulesOf(in.Rules)), nil
}

// leavePause is the time before a signal to a context that Temporal has refused is sent again.
const leavePause = 2 * time.Second

// leave has a context hear that an objective, which the journal does not have, leaves it. Others
// wait for that, so it is said until Temporal takes it, or says that the context is not there.
func leave(ctx workflow.Context, in RetryInput) error {
	to := contextWorkflowID(in.Tenant, in.ContextID)
	for {
		err := workflow.SignalExternalWorkflow(ctx, to, "", RequestSignal, machine.Left(in.ObjectiveID)).Get(ctx, nil)
		if gone := new(temporal.UnknownExternalWorkflowExecutionError); err == nil || errors.As(err, &gone) {
			return err
		}
		if err := workflow.Sleep(ctx, leavePause); err != nil {
			return err
		}
	}
}

// An objectivePart carries out the wants of an objective.
type objectivePart struct {
	m     *machine.Objective
	in    ObjectiveInput
	shown opt.TaskState // in Temporal's lists
	named string        // likewise
}

func (o *objectivePart) activity(ctx workflow.Context, a machine.Activity, _ []opt.Batch, _ drive.Tries) (workflow.Future, outcome) {
	head := &o.m.State.Objective
	switch a.Kind {
	case machine.AskContext:
		return o.ask(ctx, a)
	case machine.CheckPlan:
		f := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, readOptions("Check whether a plan is gone")), acts.Check, a.Of)
		return f, func(ctx workflow.Context, f workflow.Future) machine.Input {
			in := machine.Checked{Key: a.Key}
			_ = f.Get(ctx, &in.Gone) // a failure says nothing about the plan: the reconciler asks again
			return in
		}
	case machine.LoadKept:
		request := activities.KeptRequest{Tenant: head.Tenant, ObjectiveID: head.ID, Source: o.m.State.Source(), After: o.m.State.Ended}
		f := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, readOptions("Read the former attempt")), acts.Load, request)
		return f, func(ctx workflow.Context, f workflow.Future) machine.Input {
			in := machine.Loaded{Key: a.Key}
			if err := f.Get(ctx, &in.Kept); err != nil {
				panic(err) // it is tried until it succeeds; without the objective in the journal, nothing can be retried
			}
			return in
		}
	}
	request := activities.Request{ObjectiveID: head.ID, Tenant: head.Tenant, Name: head.Name, Description: head.Description, Message: o.m.State.Asked(), Replan: o.m.State.Making.Replan, Keep: o.m.State.Making.Keep}
	f := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, planOptions(head.Name, head.Limits)), acts.Plan, request)
	return f, func(ctx workflow.Context, f workflow.Future) machine.Input {
		var planned activities.Planned
		in := machine.Made{Key: a.Key}
		if err := f.Get(ctx, &planned); err != nil {
			in.Failure, in.Usage = explain(err).Message, usageIn(err)
			return in
		}
		in.Plans, in.Planner, in.Reason, in.Usage = planned.Plans, planned.Planner, planned.Reason, planned.Usage
		return in
	}
}

// ask begins the activity that sends the request to the context.
func (o *objectivePart) ask(ctx workflow.Context, a machine.Activity) (workflow.Future, outcome) {
	request, err := json.Marshal(o.m.State.TurnRequest())
	if err != nil {
		panic(err) // it has nothing that JSON has not
	}
	in := activities.Asking{Tenant: o.m.State.Objective.Tenant, ContextID: o.m.State.Objective.ContextID, Request: request}
	f := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, readOptions("Ask the context, which has ended")), acts.Ask, in)
	return f, func(ctx workflow.Context, f workflow.Future) machine.Input {
		return machine.Asked{Key: a.Key, Failed: f.Get(ctx, nil) != nil}
	}
}

func (o *objectivePart) child(ctx workflow.Context, c machine.Child) workflow.ChildWorkflowFuture {
	state, head := o.m.State.ChildState(c.PlanID), &o.m.State.Objective
	options := workflow.ChildWorkflowOptions{
		WorkflowID:          c.PlanID,
		WorkflowTaskTimeout: workflowTaskTimeout,
		ParentClosePolicy:   enumspb.PARENT_CLOSE_POLICY_ABANDON,
		StaticSummary:       state.Plan.Name,
		StaticDetails:       state.Plan.Description,
	}
	if !o.in.Plain {
		options.TypedSearchAttributes = temporal.NewSearchAttributes(append(nameAttribute(state.Plan.Name, o.in.Encrypted),
			TenantAttribute.ValueSet(head.Tenant), ContextAttribute.ValueSet(head.ContextID), ObjectiveAttribute.ValueSet(head.ID))...)
	}
	input := PlanInput{State: state, MaxEvents: o.in.MaxEvents, Plain: o.in.Plain}
	return workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, options), Plan, input)
}

func (o *objectivePart) message(s machine.Signal) (workflowID, name string, arg any) {
	if s.To == machine.ToContext {
		return contextWorkflowID(o.m.State.Objective.Tenant, o.m.State.Objective.ContextID), RequestSignal, o.m.State.TurnRequest()
	}
	return s.To, DirectiveSignal, o.m.State.Message(s.To)
}

// show updates name and state in Temporal's lists. It ignores small changes, since
// each update costs an event and a write.
func (o *objectivePart) show(ctx workflow.Context) {
	root, name := o.m.State.Objective.Root, o.m.State.Objective.Name
	begins := o.shown == opt.TaskSubmitted && root == opt.TaskWorking && o.in.Opening != nil && firstState(*o.in.Opening) == opt.TaskWorking
	if o.in.Plain || (o.shown == root || begins) && (o.named == name || o.in.Encrypted) {
		return
	}
	o.shown, o.named = root, name
	if err := workflow.UpsertTypedSearchAttributes(ctx, append(nameAttribute(name, o.in.Encrypted), StateAttribute.ValueSet(string(root)))...); err != nil {
		workflow.GetLogger(ctx).Warn("Search attributes not set", "error", err)
	}
}

// firstState is the state that Temporal's lists show from the start: working if
// the work begins at once, and the state of the former attempt until a retry is admitted.
func firstState(o opt.Opening) opt.TaskState {
	if o.Objective.Root.Ended() {
		return o.Objective.Root
	}
	if o.Idle || !o.Objective.QueuedAt.IsZero() {
		return opt.TaskSubmitted
	}
	return opt.TaskWorking
}

// usageIn returns what a planner that has failed has used, nil for nothing.
func usageIn(err error) *opt.Usage {
	var app *temporal.ApplicationError
	used := new(opt.Usage)
	if !errors.As(err, &app) || !app.HasDetails() || app.Details(used) != nil {
		return nil
	}
	return used
}

func planOptions(name string, limits opt.Limits) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute,
		HeartbeatTimeout:    workerTimeout(limits),
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 5, NonRetryableErrorTypes: []string{unreadableError}},
		Summary:             "Plan: " + name,
	}
}

func readOptions(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: 30 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumInterval: 10 * time.Second},
		Summary:             summary,
	}
}
