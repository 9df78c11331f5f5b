package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"longhaul/opt"
)

// idleFor returns in seconds how long an objective may wait to be started. What
// is not never is at least one.
func (c *Client) idleFor() int64 {
	if c.cfg.IdleFor <= 0 {
		return 0
	}
	return max(1, int64(c.cfg.IdleFor/time.Second))
}

// expire has an objective that waits to be started canceled in time, and gives up
// that wait once the objective does not wait any more.
func (r *objectiveRun) expire() {
	switch waits := r.waits(); {
	case waits && r.giveUp == nil:
		r.await()
	case !waits && r.giveUp != nil:
		r.giveUp()
		r.giveUp = nil
	}
}

// waits reports whether the objective would expire in time as it is. One that was
// started and has not had its turn yet does not.
func (r *objectiveRun) waits() bool {
	return r.in.IdleFor > 0 && r.in.Opening.Idle && !r.state.Begin && r.o.Status == opt.ObjectiveSubmitted && r.o.Stopping == ""
}

// await cancels the objective when its time is up. That counts from the moment
// when it was made, or put back for a new attempt, through all runs.
func (r *objectiveRun) await() {
	if r.state.IdleSince.IsZero() {
		r.state.IdleSince = r.o.CreatedAt
		if r.o.Attempt > 1 {
			r.state.IdleSince = r.now()
		}
	}
	var ctx workflow.Context
	ctx, r.giveUp = workflow.WithCancel(r.ctx)
	idle := time.Duration(r.in.IdleFor) * time.Second
	left := max(0, r.state.IdleSince.Time().Add(idle).Sub(workflow.Now(r.ctx)))
	timer := workflow.NewTimerWithOptions(ctx, left, workflow.TimerOptions{Summary: "Wait to be started"})
	r.events.AddFuture(timer, func(f workflow.Future) {
		if f.Get(r.ctx, nil) == nil && r.waits() {
			text := fmt.Sprintf("Nobody started this objective within %s, so it was canceled.", span(idle))
			r.apply(opt.Event{Kind: opt.ObjectiveStopping, Reason: string(opt.ObjectiveCanceled), Cause: opt.Expired, Status: r.say(":expired", text)})
		}
	})
}

// span returns a duration as people say it, if it is a number of days or hours.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d > 0 && d%day == 0:
		return count(int64(d/day), "day")
	case d > 0 && d%time.Hour == 0:
		return count(int64(d/time.Hour), "hour")
	}
	return d.String()
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
