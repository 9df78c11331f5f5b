package workflows

import (
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
	maxEvents int              // of history before continuing as new; 0 leaves it to the server
}

// start readies r for its workflow: ctx survives a cancellation, which is seen
// as an event like any other.
func (r *run) start(ctx workflow.Context) {
	r.ctx, _ = workflow.NewDisconnectedContext(ctx)
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

// nudge makes the main loop look again. Handlers of updates call it when they
// return.
func (r *run) nudge() { r.nudged.SendAsync(true) }

// wait blocks until something happened, and handles all that has.
func (r *run) wait() {
	r.rec.open = true
	r.events.Select(r.ctx)
	for r.events.HasPending() {
		r.events.Select(r.ctx)
	}
}

// idle reports whether everything that has arrived is handled and recorded.
func (r *run) idle() bool {
	return !r.events.HasPending() && r.rec.done == r.rec.n && workflow.AllHandlersFinished(r.ctx)
}

// long reports whether the history is long enough to continue as new.
func (r *run) long() bool {
	info := workflow.GetInfo(r.ctx)
	return info.GetContinueAsNewSuggested() || r.maxEvents > 0 && info.GetCurrentHistoryLength() > r.maxEvents
}

// Changes of what workflows do, by the names that stand in histories. A run that
// came past such a place with older code goes on as that did.
const (
	byHandChange   = "by-hand-ends" // what a client moves by hand ends with its plan
	waitsChange    = "waits"        // a plan tells its objective of tasks that wait at no gate
	planningChange = "planning"     // a client ends planning by having the objective work, and does not by pausing it
	takenChange    = "taken"        // an objective takes it as done that its plans pause or go on
	closingChange  = "closing"      // an objective ends once the tasks of plans have that a client has ended
	stoppedChange  = "stopped"      // a plan that was told to stop is not started after that
	leavingChange  = "leaving"      // a plan begins again once its run before, which has told of its end, has left
)

// since reports whether the run does as this code does since a change. It is
// asked where the change makes a difference, and nowhere before.
func (r *run) since(change string) bool {
	return workflow.GetVersion(r.ctx, change, workflow.DefaultVersion, 1) > workflow.DefaultVersion
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
