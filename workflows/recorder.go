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

// run writes queued events for as long as the workflow lives.
func (r *recorder) run(ctx workflow.Context) {
	for {
		if err := workflow.Await(ctx, func() bool { return r.open && len(r.queue) > 0 }); err != nil {
			return
		}
		events := r.queue
		r.queue = nil
		batch := opt.Batch{ObjectiveID: r.objectiveID, Source: r.source, Events: events}
		for record(ctx, batch) != nil {
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

// record writes b within the workflow task. If the journal cannot be reached it
// goes on as a normal activity, which waits for the journal for ever.
func record(ctx workflow.Context, b opt.Batch) error {
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: 4 * time.Second,
		StartToCloseTimeout:    3 * time.Second,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 50 * time.Millisecond, MaximumAttempts: 3},
	})
	if workflow.ExecuteLocalActivity(local, acts.Record, b).Get(ctx, nil) == nil {
		return nil
	}
	patient := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumInterval: 10 * time.Second},
		Summary:             "Record what happened (the journal was out of reach)",
	})
	return workflow.ExecuteActivity(patient, acts.Record, b).Get(ctx, nil)
}
