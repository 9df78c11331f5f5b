package workflows

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
)

const (
	taskTimeout  = 30 * time.Minute // that one attempt may work
	taskAttempts = 3                // of one round
	heartbeat    = 5 * time.Second  // without one, the worker is dead
)

// dispatch begins t: with its activity, or at its gate if it is nothing else.
func (r *planRun) dispatch(t *opt.Task) {
	if t.Link != "" && !t.Follow { // whoever made the link moves the task
		r.move(t, opt.TaskWorking, opt.Event{Reason: opt.ByHand})
		return
	}
	if t.Follow { // see followAll
		r.move(t, opt.TaskWorking, opt.Event{})
		return
	}
	r.move(t, opt.TaskWorking, opt.Event{Attempt: r.nextAttempt(t)})
	if t.Ask != nil {
		r.open(t, *t.Ask)
		return
	}
	r.perform(t)
}

// perform runs one round of t.
func (r *planRun) perform(t *opt.Task) {
	ctx, cancel := workflow.WithCancel(r.ctx)
	r.working[t.ID] = cancel
	ctx = workflow.WithActivityOptions(ctx, taskOptions(t))
	work := r.work(t)
	r.events.AddFuture(workflow.ExecuteActivity(ctx, acts.Run, work), func(f workflow.Future) {
		var out activities.Outcome
		err := f.Get(r.ctx, &out)
		delete(r.working, t.ID)
		r.ended(t, out, err)
	})
}

func taskOptions(t *opt.Task) workflow.ActivityOptions {
	o := workflow.ActivityOptions{
		ActivityID:          t.A2AID(),
		StartToCloseTimeout: taskTimeout,
		HeartbeatTimeout:    heartbeat,
		WaitForCancellation: true,
		RetryPolicy:         retryPolicy(t),
		Summary:             t.Name,
	}
	if t.Timeout > 0 {
		o.StartToCloseTimeout = time.Duration(t.Timeout) * time.Second
	}
	return o
}

func (r *planRun) work(t *opt.Task) activities.Work {
	w := activities.Work{
		Tenant: r.in.Tenant, ContextID: r.in.ContextID, ObjectiveID: r.plan.ObjectiveID, PlanID: r.plan.ID, TaskID: t.A2AID(),
		Objective: r.in.Objective, Plan: r.plan.Name, Name: t.Name, Description: t.Description,
		Executor: t.Executor, Input: t.Input, Messages: r.messages(t), Results: r.results(t), Replies: t.Replies,
		Round: t.Gates + 1, Attempt: r.state.Tried[t.ID], Key: fmt.Sprintf("%s:%d", t.A2AID(), t.Gates+1), Trust: activities.Untrusted,
	}
	if r.shows(t) {
		w.RootID = r.in.RootID
	}
	return w
}

// shows reports whether the root task shows t's artifacts as its own.
func (r *planRun) shows(t *opt.Task) bool { return r.in.Leaf && r.plan.Leaf(t) }

// ended takes in how a round of t came out.
func (r *planRun) ended(t *opt.Task, out activities.Outcome, err error) {
	r.state.Tried[t.ID] = max(out.Attempt, r.state.Tried[t.ID]+1)
	switch {
	case t.ByHand: // a client has decided otherwise meanwhile
	case r.stopped[t.ID] && (err != nil || !out.State.Ended()):
		r.move(t, opt.TaskCanceled, opt.Event{Reason: "canceled"})
	case err != nil:
		code, text := explain(err)
		r.move(t, opt.TaskFailed, opt.Event{Reason: code, Status: r.say(t, ":status", text), Attempt: failedAttempt(err)})
	case out.State == opt.TaskCompleted:
		r.complete(t, out.Artifacts, out.Streamed, out.Attempt)
	case out.State == opt.TaskFailed, out.State == opt.TaskRejected:
		r.move(t, out.State, opt.Event{Reason: out.Code, Status: r.say(t, ":status", out.Message), Attempt: out.Attempt})
	case out.State.Waiting() && out.Gate != nil:
		r.open(t, *out.Gate)
	default:
		r.fail(t, "invalid-outcome", "The task ended in a way that is not allowed.")
	}
}

// complete keeps and shows what t made, then ends it.
func (r *planRun) complete(t *opt.Task, artifacts []a2a.Artifact, streamed []string, attempt int) {
	rootID := ""
	if r.shows(t) {
		rootID = r.in.RootID
	}
	for _, a := range artifacts {
		e := opt.Event{Kind: opt.ArtifactAdded, PlanID: r.plan.ID, TaskID: t.A2AID(), RootID: rootID, At: r.now(), Attempt: attempt, Chunk: &opt.Chunk{Artifact: a, Last: true}}
		if slices.Contains(streamed, a.ArtifactID) {
			r.keep(e)
		} else {
			r.apply(e)
		}
		if rootID != "" {
			r.state.Shown = append(r.state.Shown, a.ArtifactID)
		}
	}
	r.move(t, opt.TaskCompleted, opt.Event{Attempt: attempt})
}

// keep changes the plan without recording it: the journal has it already.
func (r *planRun) keep(e opt.Event) {
	if err := r.plan.Apply(e); err != nil {
		panic(err)
	}
}

func (r *planRun) fail(t *opt.Task, code, text string) {
	r.move(t, opt.TaskFailed, opt.Event{Reason: code, Status: r.say(t, ":status", text)})
}

// move moves t; e holds what more there is to say.
func (r *planRun) move(t *opt.Task, to opt.TaskState, e opt.Event) {
	e.Kind, e.TaskID, e.From, e.To = opt.TaskMoved, t.A2AID(), string(t.State), string(to)
	r.apply(e)
}

// stop ends t, which works. It is canceled once its activity has ended, at once if
// there is none: a client moves it by hand, or its next round has yet to begin.
func (r *planRun) stop(t *opt.Task) {
	if r.working[t.ID] != nil {
		r.halt(t)
		return
	}
	if r.forget(t) || r.since(byHandChange) {
		r.move(t, opt.TaskCanceled, opt.Event{Reason: "canceled"})
	}
}

// halt tells the activity of t to end, if there is one.
func (r *planRun) halt(t *opt.Task) {
	if cancel := r.working[t.ID]; cancel != nil && !r.stopped[t.ID] {
		r.stopped[t.ID] = true
		cancel()
	}
}

// say returns an agent's message about t. Its id ends in suffix, which comes once.
func (r *planRun) say(t *opt.Task, suffix, text string) *a2a.Message {
	return &a2a.Message{MessageID: t.A2AID() + suffix, ContextID: r.in.ContextID, TaskID: t.A2AID(), Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart(text)}}
}

// explain turns an activity's last error into a word and a text for clients.
func explain(err error) (code, text string) {
	var timeout *temporal.TimeoutError
	var app *temporal.ApplicationError
	switch {
	case errors.As(err, &timeout) && timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_HEARTBEAT:
		return activities.ReasonWorkerLost, "The worker that ran the task was lost."
	case errors.As(err, &timeout):
		return activities.ReasonTimeout, "The task took longer than it may."
	case errors.As(err, &app):
		code, _ = activities.Reason(app)
		return code, app.Message()
	}
	return activities.ReasonFailed, "The task failed."
}

// mayCancelTask refuses what there is no sense in canceling.
func (r *planRun) mayCancelTask(_ workflow.Context, c CancelTask) error {
	t := r.plan.Task(c.TaskID)
	switch {
	case t == nil:
		return temporal.NewApplicationError("unknown task", unknownErrorType)
	case t.State.Ended() && t.State != opt.TaskCanceled:
		return moveError(string(t.State), string(opt.TaskCanceled))
	}
	return nil
}

// cancelTask cancels one task. It returns once that is recorded, which for a
// running task may be before it has stopped.
func (r *planRun) cancelTask(ctx workflow.Context, c CancelTask) error {
	t := r.plan.Task(c.TaskID)
	switch {
	case t.State.Ended():
	case r.working[t.ID] != nil:
		r.halt(t)
	default:
		r.move(t, opt.TaskCanceled, opt.Event{Reason: "canceled"})
	}
	r.finish(ctx)
	return nil
}

func answersArtifact(taskID, name string, answers []opt.Answer) a2a.Artifact {
	data := map[string]json.RawMessage{}
	for _, a := range answers {
		data[a.ID] = a.Answer
	}
	return a2a.Artifact{ArtifactID: opt.ArtifactID(taskID, "answers"), Name: name, Parts: []a2a.Part{a2a.DataPart(data)}}
}
