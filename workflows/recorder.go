package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"longhaul/activities"
	"longhaul/opt"
)

var acts *activities.Activities // names activities by method; never called

// A recorder numbers the events of one workflow and writes them to the journal
// in batches, from a coroutine of its own, so that work goes on meanwhile.
type recorder struct {
	objectiveID string
	source      string
	n           int64 // of the last event
	given       int64 // of the last one that follows from the workflow's input alone
	done        int64 // of the last one in the journal
	queue       []opt.Event
	open        bool // events may be written: the workflow waits for something
}

// add numbers e and queues it.
func (r *recorder) add(e opt.Event) {
	r.n++
	e.N = r.n
	r.queue = append(r.queue, e)
}

// seal says that what was added so far follows from the workflow's input alone.
// It is called before anything is waited for or heard.
func (r *recorder) seal() { r.given = r.n }

// run writes queued events for as long as the workflow lives.
//
// What a workflow task decides is certain once Temporal has taken its completion,
// and not before: one that was lost with its worker, or refused since something
// had arrived meanwhile, is done again with more to go by, and may decide
// otherwise, under the same numbers. So events are written by an activity, which
// begins after that. What follows from the input alone is the same each time, and
// is written at once.
func (r *recorder) run(ctx workflow.Context) {
	for {
		if err := workflow.Await(ctx, func() bool { return r.open && len(r.queue) > 0 }); err != nil {
			return
		}
		events, write := r.queue, record
		if sealed := r.given - r.done; sealed > 0 {
			events, write = r.queue[:sealed], recordNow
		}
		r.queue = r.queue[len(events):]
		batch := opt.Batch{ObjectiveID: r.objectiveID, Source: r.source, Events: events}
		for write(ctx, batch) != nil {
			_ = workflow.Sleep(ctx, recordPause) // no event is ever given up
		}
		r.done = events[len(events)-1].N
	}
}

// flush waits until all that was added is in the journal.
func (r *recorder) flush(ctx workflow.Context) {
	r.open = true
	upTo := r.n
	_ = workflow.Await(ctx, func() bool { return r.done >= upTo }) // ctx is never canceled
}

const recordPause = 10 * time.Second // before a batch that failed for good is tried again

// record writes b by an activity of its own, which waits for the journal for ever.
// A writer that was lost is noticed after a few seconds.
func record(ctx workflow.Context, b opt.Batch) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           RecordQueue,
		StartToCloseTimeout: 5 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumInterval: 10 * time.Second},
		Summary:             "Record what happened",
	})
	return workflow.ExecuteActivity(ctx, acts.Record, b).Get(ctx, nil)
}

// recordNow writes b within the workflow task, and like record if the journal
// cannot be reached.
func recordNow(ctx workflow.Context, b opt.Batch) error {
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: 4 * time.Second,
		StartToCloseTimeout:    3 * time.Second,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 50 * time.Millisecond, MaximumAttempts: 3},
	})
	if workflow.ExecuteLocalActivity(local, acts.Record, b).Get(ctx, nil) == nil {
		return nil
	}
	return record(ctx, b)
}
