package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"longhaul/activities"
	"longhaul/opt"
)

// followAll follows the tasks that stand in for tasks which work, each until it
// has ended. An activity waits for that, but not for ever: then there is another.
// A run that is about to continue as new leaves that to the next.
func (r *planRun) followAll() {
	for _, t := range r.plan.Tasks {
		if t.Follow && t.State == opt.TaskWorking && !t.ByHand && r.working[t.ID] == nil && !r.stopped[t.ID] && !r.long() {
			r.followTask(t)
		}
	}
}

func (r *planRun) followTask(t *opt.Task) {
	ctx, cancel := workflow.WithCancel(r.ctx)
	r.working[t.ID] = cancel
	link := activities.Link{Tenant: r.in.Tenant, TaskID: t.Link, For: t.A2AID()}
	r.events.AddFuture(workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, followOptions(t)), acts.Follow, link), func(f workflow.Future) {
		var out activities.Followed
		err := f.Get(r.ctx, &out)
		delete(r.working, t.ID)
		r.followed(t, out, err)
	})
}

// followOptions let Follow wait as long as it likes to, and be tried for ever: the
// task that is followed may take days.
func followOptions(t *opt.Task) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		ActivityID:          t.A2AID(),
		StartToCloseTimeout: 3 * activities.FollowFor,
		HeartbeatTimeout:    heartbeat,
		WaitForCancellation: true,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute},
		Summary:             t.Name + ", which is " + t.Link,
	}
}

// followed takes in how the task came out that stands in for t, if it has.
func (r *planRun) followed(t *opt.Task, out activities.Followed, err error) {
	switch {
	case t.ByHand || t.State.Ended(): // a client has decided otherwise meanwhile
	case r.stopped[t.ID] && (err != nil || !out.State.Ended()):
		r.move(t, opt.TaskCanceled, opt.Event{Reason: "canceled"})
	case err != nil:
		code, text := explain(err)
		r.fail(t, code, text)
	case out.State == opt.TaskCompleted:
		r.complete(t, out.Artifacts, nil, 0)
	case out.State.Ended():
		e := opt.Event{Reason: opt.ReasonLinked}
		if out.Message != "" {
			e.Status = r.say(t, ":status", out.Message)
		}
		r.move(t, out.State, e)
	}
}
