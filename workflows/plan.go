package workflows

import (
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/drive"
)

// Plan runs one plan until it has ended, and returns its last report. The workflow
// fails or is canceled when the plan is; ResultOf reads its report then.
func Plan(ctx workflow.Context, in PlanInput) (PlanResult, error) {
	m := &machine.Plan{State: in.State}
	checkRules(m.State.Rules)
	source := drive.OfPlan(&m.State)
	source.Tries = in.Tries
	h := newHost(ctx, m, &planPart{m}, source, in.MaxEvents)
	on(h, LetterSignal, func(l opt.Letter) machine.Input { return machine.Letter{Letter: l} })
	on(h, DirectiveSignal, func(in machine.Directed) machine.Input { return in })
	on(h, CallbackSignal, func(c opt.Callback) machine.Input { return machine.Callback{Callback: c} })
	onRewind(h)
	if !in.Going {
		h.Open()
	}
	if h.run() {
		return PlanResult{}, workflow.NewContinueAsNewError(h.ctx, Plan, PlanInput{State: m.State, Going: true, MaxEvents: in.MaxEvents, Plain: in.Plain, Tries: h.Tries()})
	}
	return PlanResult{Report: m.State.Report, Ride: h.Rest()}.end()
}

// A planPart carries out the wants of a plan.
type planPart struct{ m *machine.Plan }

func (p *planPart) activity(ctx workflow.Context, a machine.Activity, ride []opt.Batch, tries drive.Tries) (workflow.Future, outcome) {
	t := p.m.State.Plan.Task(a.Of)
	switch a.Kind {
	case machine.Elsewhere:
		return p.elsewhere(ctx, a, t)
	case machine.WatchTask:
		return p.watch(ctx, a, t)
	case machine.FollowTask:
		link := activities.Link{Tenant: p.m.State.Tenant, TaskID: t.Link, For: t.A2AID()}
		f := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, followOptions(t, p.m.State.Plan.Limits)), acts.Follow, link)
		return f, func(ctx workflow.Context, f workflow.Future) machine.Input { return followed(ctx, a.Key, f) }
	}
	if a.Kind == machine.LookUp {
		return p.lookUp(ctx, a, t)
	}
	options := runOptions(t, p.m.State.Plan.Limits)
	// An activity that begins again has one try left at least, also if a worker counts more lost
	// ones than there may be: to Temporal 0 is without limit.
	options.RetryPolicy.MaximumAttempts = max(1, lostWorkers-int32(tries.Lost))
	input := activities.RunInput{Work: p.m.State.WorkOf(a), Ride: ride, Tries: tries.Begun}
	work := p.m.State.Work[t.ID]
	if input.Collects, input.Held = work.Collects, work.Quota; work.Returning {
		options.ActivityID, input.Returned = a.Key, work.Returned
	}
	if input.Work.Cancel {
		options.ActivityID = a.Key // the canceled one may not have ended yet
		options.StartToCloseTimeout, options.RetryPolicy.MaximumAttempts = cancelFor, cancelAttempts
	}
	if len(ride) > 0 {
		options.ScheduleToStartTimeout, options.RetryPolicy = time.Second, &temporal.RetryPolicy{MaximumAttempts: 1}
	}
	f := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), acts.Run, input)
	return f, func(ctx workflow.Context, f workflow.Future) machine.Input { return ended(ctx, a.Key, f) }
}

// lookUp looks for a standing decision about a gate that is about to open, and for room in the quotas. Temporal repeats
// it until the journal answers, without which the gate could not be recorded, either.
func (p *planPart) lookUp(ctx workflow.Context, a machine.Activity, t *opt.Task) (workflow.Future, outcome) {
	options := readOptions("Standing decisions about " + t.Name)
	options.ActivityID = a.Key
	options.RetryPolicy.NonRetryableErrorTypes = []string{activities.QuotaError}
	f := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), acts.LookUp, p.m.State.QuestionOf(a, a2a.At(workflow.Now(ctx))))
	return f, func(ctx workflow.Context, f workflow.Future) machine.Input {
		in := machine.Looked{Key: a.Key}
		if f.Get(ctx, &in.By) != nil {
			in.By = opt.StandingUse{} // it was canceled, or no worker knows: people decide
		}
		return in
	}
}

// runOptions are the options of Run. Temporal retries only after a lost worker. Other attempts
// are up to the plan, and so are tasks that were sent back, or that could not reach the journal:
// these use up none of the lost workers.
func runOptions(t *opt.Task, limits opt.Limits) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		ActivityID:          t.A2AID(),
		StartToCloseTimeout: t.MayTake(limits),
		HeartbeatTimeout:    workerTimeout(limits),
		WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 100 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 5 * time.Second, MaximumAttempts: lostWorkers,
			NonRetryableErrorTypes: []string{"TemporalTimeout:StartToClose", activities.QuotaError, activities.JournalError, unreadableError},
		},
		Summary: t.Name,
	}
}

// followOptions let Temporal retry Follow without limit: the linked task may take
// days.
func followOptions(t *opt.Task, limits opt.Limits) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		ActivityID:          t.A2AID(),
		StartToCloseTimeout: 3 * activities.FollowFor,
		HeartbeatTimeout:    workerTimeout(limits),
		WaitForCancellation: true,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 5 * time.Second},
		Summary:             t.Name + ", which is " + t.Link,
	}
}

// How long a leg may take that cancels work elsewhere, and how often it may be lost.
const (
	cancelFor      = 30 * time.Second
	cancelAttempts = 3
)

// elsewhere begins an activity on the queue of external workers. Temporal repeats it.
func (p *planPart) elsewhere(ctx workflow.Context, a machine.Activity, t *opt.Task) (workflow.Future, outcome) {
	work := p.m.State.Work[t.ID]
	ctx = workflow.WithActivityOptions(keepInHistory(ctx), elsewhereOptions(a.Key, t, work, p.m.State.Plan.Limits))
	f := workflow.ExecuteActivity(ctx, work.Elsewhere.Activity, work.Elsewhere.Input)
	return f, func(ctx workflow.Context, f workflow.Future) machine.Input {
		var result json.RawMessage
		if err := f.Get(ctx, &result); err != nil {
			failure := explain(err)
			if failure.Code == activities.ReasonFailed {
				failure.Code = codeElsewhere(err)
			}
			return machine.Ended{Key: a.Key, Failed: &failure}
		}
		return machine.Ended{Key: a.Key, Outcome: opt.ReadOutcome(result)}
	}
}

// watch begins to read the heartbeats of an activity elsewhere.
func (p *planPart) watch(ctx workflow.Context, a machine.Activity, t *opt.Task) (workflow.Future, outcome) {
	work, options := p.m.State.Work[t.ID], followOptions(t, p.m.State.Plan.Limits)
	options.ActivityID, options.Summary = a.Key, "The heartbeats of "+t.Name
	ask := activities.Watching{WorkflowID: p.m.State.Plan.ID, ActivityID: a.With, Seen: work.Beat, Times: work.Watches, Once: work.Elsewhere.Heartbeat == 0}
	f := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), acts.WatchHeartbeats, ask)
	return f, func(ctx workflow.Context, f workflow.Future) machine.Input {
		in := machine.Watched{Key: a.Key}
		_ = f.Get(ctx, &in.Beat) // a canceled watch has no beat
		return in
	}
}

// codeForm is the form of an error type that is shown as a code.
var codeForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// codeElsewhere returns the code of an activity elsewhere that failed: the type of its
// error, unless that is one of a language for all errors.
func codeElsewhere(err error) string {
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || !codeForm.MatchString(app.Type()) || slices.Contains([]string{"errorString", "wrapError", "Error", "Exception"}, app.Type()) {
		return activities.ReasonFailed
	}
	return app.Type()
}

// elsewhereOptions are the options of an activity elsewhere. It has the attempts, the
// waits and the timeout of the task.
func elsewhereOptions(key string, t *opt.Task, w *machine.Work, limits opt.Limits) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		ActivityID:          key,
		TaskQueue:           w.Elsewhere.Queue,
		StartToCloseTimeout: t.MayTake(limits),
		HeartbeatTimeout:    time.Duration(w.Elsewhere.Heartbeat) * time.Second,
		WaitForCancellation: w.Elsewhere.Heartbeat > 0, // else its worker does not notice it
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Duration(cmp.Or(t.Retry.Wait, 1)) * time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute,
			MaximumAttempts: int32(cmp.Or(t.Attempts, machine.TaskAttempts)), NonRetryableErrorTypes: t.Retry.Except, // a small number
		},
		Summary: t.Name,
	}
}

// ended reads the result of an attempt at a task.
func ended(ctx workflow.Context, key string, f workflow.Future) machine.Input {
	in := machine.Ended{Key: key}
	if err := f.Get(ctx, &in.Outcome); err != nil {
		failure := explain(err)
		in.Failed, in.Outcome.Ran = &failure, ranIn(err)
	}
	return in
}

// followed reads the result of a linked task.
func followed(ctx workflow.Context, key string, f workflow.Future) machine.Input {
	var out activities.Followed
	if err := f.Get(ctx, &out); err != nil {
		failure := explain(err)
		if failure.Canceled {
			return machine.Followed{Key: key}
		}
		return machine.Followed{Key: key, State: opt.TaskFailed, Code: failure.Code, Message: failure.Message}
	}
	return machine.Followed{Key: key, State: out.State, Code: out.Code, Message: out.Message, Artifacts: out.Artifacts}
}

func (p *planPart) child(workflow.Context, machine.Child) workflow.ChildWorkflowFuture {
	panic("a plan has no children")
}

func (p *planPart) message(s machine.Signal) (workflowID, name string, arg any) {
	return s.To, ReportSignal, p.m.Message()
}

// explain turns the error of an activity into a code and a text for clients.
func explain(err error) machine.Failure {
	var timeout *temporal.TimeoutError
	var app *temporal.ApplicationError
	switch {
	case temporal.IsCanceledError(err):
		return machine.Failure{Code: string(opt.TaskCanceled), Message: "The task was canceled.", Canceled: true}
	case errors.As(err, &timeout) && timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_HEARTBEAT:
		return machine.Failure{Code: opt.ReasonWorkerLost, Message: "One worker after another was lost while it ran the task."}
	case errors.As(err, &timeout):
		return machine.Failure{Code: activities.ReasonTimeout, Message: "The task took longer than it may.", TimedOut: true}
	case errors.As(err, &app) && app.Type() == activities.WorkerLostError:
		return machine.Failure{Code: opt.ReasonWorkerLost, Message: "One worker after another was lost while it ran the task."}
	case errors.As(err, &app) && app.Type() == activities.WorkerStoppedError:
		return machine.Failure{Code: opt.ReasonWorkerLost, Message: "One worker after another stopped while it ran the task."}
	case errors.As(err, &app):
		return machine.Failure{Code: activities.Reason(app), Message: app.Message()}
	}
	return machine.Failure{Code: activities.ReasonFailed, Message: "The task failed."}
}
