package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
)

// A run is what the workflows have in common: one selector through which
// everything reaches them, a recorder, and the wish to end.
type run struct {
	ctx    workflow.Context // not canceled when the workflow is
	events workflow.Selector
	rec    recorder

	nudged    workflow.Channel // something changed outside of the selector
	canceled  bool             // cancellation was asked for
	maxEvents int              // of history, about, before continuing as new; 0 for eventsPerRun
	began     int64            // the number of the last event of the run before
}

// start readies r for its workflow: ctx survives a cancellation, which is seen
// as an event like any other.
func (r *run) start(ctx workflow.Context) {
	r.ctx, _ = workflow.NewDisconnectedContext(ctx)
	r.began = r.rec.n
	r.events = workflow.NewSelector(ctx)
	r.nudged = workflow.NewBufferedChannel(ctx, 1)
	r.events.AddReceive(r.nudged, func(ch workflow.ReceiveChannel, _ bool) { ch.Receive(r.ctx, nil) })
	workflow.Go(r.ctx, r.rec.run)
	workflow.Go(r.ctx, func(own workflow.Context) {
		ctx.Done().Receive(own, nil)
		r.canceled = true
		r.nudge()
	})
}

// commit returns once Temporal has the update that ctx belongs to in its history.
// Until then a crash makes the update never to have been, so nothing of it may be
// recorded.
func commit(ctx workflow.Context) {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	_ = workflow.Sleep(ctx, time.Millisecond)
}

// nudge makes the main loop look again. Handlers of updates call it when they
// return.
func (r *run) nudge() { r.nudged.SendAsync(true) }

// wait blocks until something happened, and handles it. It handles one thing
// only, so that all that follows from it comes before the next: a workflow task
// that is repeated after a crash may find more to handle than the first time, and
// must begin by recording the same events.
func (r *run) wait() {
	r.rec.open = true
	r.events.Select(r.ctx)
}

// idle reports whether everything that has arrived is handled and recorded.
func (r *run) idle() bool {
	return !r.events.HasPending() && r.rec.done == r.rec.n && workflow.AllHandlersFinished(r.ctx)
}

// eventsPerRun is after how many events of ours a run continues as a new one. One
// of ours takes about two and a half of Temporal's history, which suggests a new
// run after some four thousand.
const eventsPerRun = 1300

// long reports whether the run has gone on for long enough. It goes by what the
// workflow did, not by the length of the history: that differs when a workflow
// task is repeated after a crash.
func (r *run) long() bool {
	most := int64(eventsPerRun)
	if r.maxEvents > 0 {
		most = int64(r.maxEvents) / 3
	}
	return r.rec.n-r.began > most
}

func (r *run) now() a2a.Time { return a2a.At(workflow.Now(r.ctx)) }

// on calls handle for each signal of a name.
func on[T any](r *run, name string, handle func(T)) {
	r.events.AddReceive(workflow.GetSignalChannel(r.ctx, name), func(ch workflow.ReceiveChannel, _ bool) {
		var v T
		ch.Receive(r.ctx, &v)
		handle(v)
	})
}
