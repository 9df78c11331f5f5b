package workflows

import (
	"cmp"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt/outbox"
)

// PushInput names a config that has deliveries that are due.
type PushInput struct {
	TaskID    string     `json:"taskId"`
	ConfigID  string     `json:"configId"`
	MaxEvents int        `json:"maxEvents,omitempty"` // of history, after which the workflow continues as new; 0: the server decides
	State     *PushState `json:"state,omitempty"`     // of the run before
}

// PushState is what a Push remembers of a delivery that has failed.
type PushState struct {
	N        int64    `json:"n"`              // of the delivery
	Failures int      `json:"failures"`       // in a row
	Busy     int      `json:"busy,omitempty"` // how often in a row its host had no place
	First    a2a.Time `json:"first"`          // when the first of them began
	Next     a2a.Time `json:"next"`           // of the next attempt
}

// Push makes the deliveries of one config that are due, one after another, and
// ends when there are no more. Each signal says that there may be another. A
// delivery that fails is attempted again later; the ones behind it wait, so that
// a receiver gets the states in their order.
func Push(ctx workflow.Context, in PushInput) error {
	p := &push{in: in, signals: workflow.GetSignalChannel(ctx, PushSignal)}
	if in.State != nil {
		p.state = *in.State
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           PushQueue,
		StartToCloseTimeout: 30 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute},
		Summary:             oneLine("Deliver to " + in.ConfigID),
	})
	for {
		if err := p.wait(ctx); err != nil {
			return err
		}
		p.drain() // the announced deliveries are due now
		idle, err := p.deliver(ctx)
		switch {
		case err != nil:
			return err
		case idle && !p.drain():
			return nil
		case p.long(ctx):
			p.drain() // the next run begins with an attempt
			in.State = &p.state
			return workflow.NewContinueAsNewError(ctx, Push, in)
		}
	}
}

// push is the memory of a Push.
type push struct {
	in      PushInput
	state   PushState
	signals workflow.ReceiveChannel
}

// drain takes the signals that have arrived, and reports whether there were any.
func (p *push) drain() bool {
	some := false
	for p.signals.ReceiveAsync(nil) {
		some = true
	}
	return some
}

// wait waits until the next attempt may begin. A signal does not shorten that: each new state of
// the task brings one, and a receiver that asked for a pause gets it. The workflow keeps the time,
// so that tests can skip it.
func (p *push) wait(ctx workflow.Context) error {
	left := p.state.Next.Time().Sub(workflow.Now(ctx))
	if p.state.Next.IsZero() || left <= 0 {
		return nil
	}
	return workflow.NewTimerWithOptions(ctx, left, workflow.TimerOptions{Summary: "Next attempt"}).Get(ctx, nil)
}

// deliver makes one attempt. It reports whether nothing was due.
func (p *push) deliver(ctx workflow.Context) (idle bool, err error) {
	now := a2a.At(workflow.Now(ctx))
	request := activities.DeliverRequest{TaskID: p.in.TaskID, ConfigID: p.in.ConfigID, N: p.state.N, Failures: p.state.Failures, Busy: p.state.Busy}
	if p.state.Failures > 0 {
		request.Elapsed = int64(now.Time().Sub(p.state.First.Time()) / time.Second)
	}
	var done activities.Delivered
	if err := workflow.ExecuteActivity(ctx, acts.Deliver, request).Get(ctx, &done); err != nil {
		return false, err
	}
	p.note(now, done)
	if done.Wait > 0 {
		p.state.Next = a2a.At(workflow.Now(ctx).Add(time.Duration(done.Wait) * time.Millisecond))
	}
	p.describe(ctx, done)
	return done.Idle, nil
}

// note keeps what the next attempt needs of the last one.
func (p *push) note(began a2a.Time, done activities.Delivered) {
	busy := p.state.Busy + 1
	p.state.Busy = 0
	switch {
	case done.Busy: // no attempt was made
		p.state.Busy = busy
	case done.Idle || done.Status != outbox.DeliveryDue:
		p.state = PushState{}
	case p.state.Failures == 0 || p.state.N != done.N:
		p.state = PushState{N: done.N, Failures: 1, First: began}
	default:
		p.state.Failures++
	}
}

// describe shows the last attempt in Temporal's UI, without anything that is
// secret.
func (p *push) describe(ctx workflow.Context, done activities.Delivered) {
	what := cmp.Or(string(done.Notice), string(done.State))
	switch {
	case done.Idle:
		workflow.SetCurrentDetails(ctx, "Nothing is due.")
	case done.Busy:
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("%s (%d) waits: %s. The next attempt is at %v.", what, done.N, done.Outcome, p.state.Next))
	case done.Status != outbox.DeliveryDue:
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("%s (%d): **%s** with %s.", what, done.N, done.Status, done.Outcome))
	default:
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("%s (%d): attempt %d failed with %s. The next one is at %v.",
			what, done.N, p.state.Failures, done.Outcome, p.state.Next))
	}
}

// long reports whether the history has become long.
func (p *push) long(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return info.GetContinueAsNewSuggested() || p.in.MaxEvents > 0 && info.GetCurrentHistoryLength() >= p.in.MaxEvents
}
