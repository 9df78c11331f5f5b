package workflows

import (
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"longhaul/activities"
	"longhaul/opt"
)

var acts *activities.Activities // names activities by method; never called

// A recorder writes the events of one workflow to the journal, and those that the
// last reports of its children carry.
//
// What a workflow task decides is certain once Temporal has taken its completion,
// and not before: one that was lost with its worker, or refused since something
// had arrived meanwhile, is done again with more to go by, and may decide
// otherwise, under the same numbers. So events are written by an activity, which
// begins after that: one of its own, or the next one that runs a task anyhow, in
// whose input they ride. A batch begins at the first event that is not known to be
// in the journal, so whatever arrives first is whole.
type recorder struct {
	objectiveID string
	source      string
	rides       func() bool // whether the last events go with the result of the workflow; nil for never

	last    int64       // number of the latest event
	done    int64       // of the latest one that is in the journal
	pending []opt.Event // after done
	riding  int64       // of the latest one that rides in an activity that has begun
	needed  int64       // the latest event for which something waits that is to be told
	carried []opt.Batch // from children, to be written with the next batch
	writing bool        // an activity of its own is under way
}

// add keeps events, which the machine has numbered, to be written.
func (r *recorder) add(events ...opt.Event) {
	for _, e := range events {
		r.pending = append(r.pending, e)
		r.last = e.N
	}
}

// carry keeps what a child has not written itself.
func (r *recorder) carry(batches []opt.Batch) { r.carried = append(r.carried, batches...) }

// has reports whether event n is in the journal. If it is not, something waits for
// it.
func (r *recorder) has(n int64) bool {
	there := r.done >= n && len(r.carried) == 0
	if !there {
		r.needed = max(r.needed, n)
	}
	return there
}

// recorded reports whether everything is in the journal.
func (r *recorder) recorded() bool { return r.done >= r.last && len(r.carried) == 0 }

// batches returns all that is not known to be in the journal.
func (r *recorder) batches() []opt.Batch {
	out := append([]opt.Batch(nil), r.carried...)
	if len(r.pending) > 0 {
		out = append(out, opt.Batch{ObjectiveID: r.objectiveID, Source: r.source, Events: append([]opt.Event(nil), r.pending...)})
	}
	return out
}

// ride returns what may ride in an activity, nil for nothing: moves and artifacts
// of tasks, for which nobody waits.
func (r *recorder) ride() []opt.Batch {
	if r.writing || r.riding >= r.last || r.needed > r.done || len(r.carried) > 0 {
		return nil
	}
	for _, e := range r.pending {
		switch {
		case e.Kind == opt.TaskMoved && e.Gate == nil && e.Status == nil, e.Kind == opt.ArtifactAdded, e.Kind == opt.TaskTried:
		case e.Kind == opt.PlanMoved || e.Kind == opt.PlanStarted:
		default:
			return nil
		}
	}
	if len(r.pending) == 0 {
		return nil
	}
	r.riding = r.last
	return r.batches()
}

// arrived notes that an activity in which batches rode has ended. Only an outcome
// says that they are in the journal.
func (r *recorder) arrived(batches []opt.Batch, certain bool) {
	if certain {
		r.confirm(batches)
	}
	r.riding = min(r.riding, r.done)
}

func (r *recorder) confirm(batches []opt.Batch) {
	for _, b := range batches {
		if b.Source != r.source {
			r.carried = r.carried[1:]
			continue
		}
		r.done = max(r.done, b.Last())
	}
	for len(r.pending) > 0 && r.pending[0].N <= r.done {
		r.pending = r.pending[1:]
	}
}

// advance writes what is neither in the journal nor about to be.
func (r *recorder) advance(d *driver) {
	if r.writing || len(r.carried) == 0 && max(r.done, r.riding) >= r.last && r.needed <= r.done {
		return
	}
	batches := r.batches()
	r.writing = true
	d.events.AddFuture(workflow.ExecuteActivity(workflow.WithActivityOptions(d.ctx, soon()), acts.Record, batches), func(f workflow.Future) {
		if f.Get(d.ctx, nil) == nil {
			r.written(batches)
			return
		}
		r.insist(d, batches)
	})
}

// insist writes batches through the queue that tasks cannot fill up, however long
// that takes.
func (r *recorder) insist(d *driver, batches []opt.Batch) {
	d.events.AddFuture(workflow.ExecuteActivity(workflow.WithActivityOptions(d.ctx, patient()), acts.Record, batches), func(f workflow.Future) {
		if f.Get(d.ctx, nil) == nil {
			r.written(batches)
			return
		}
		r.insist(d, batches) // no event is ever given up
	})
}

func (r *recorder) written(batches []opt.Batch) {
	r.writing = false
	r.confirm(batches)
}

// recordNow writes what is pending within the workflow task, if the journal can
// be reached. It is for events that follow from the input of a run alone.
func (r *recorder) recordNow(ctx workflow.Context) {
	if len(r.pending) == 0 {
		return
	}
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: 2 * time.Second,
		StartToCloseTimeout:    2 * time.Second,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 50 * time.Millisecond, MaximumAttempts: 3},
	})
	batches := r.batches()
	if workflow.ExecuteLocalActivity(local, acts.Record, batches).Get(ctx, nil) == nil {
		r.confirm(batches)
	}
}

// soon has a batch written by whoever runs the workflow.
func soon() workflow.ActivityOptions {
	return workflow.ActivityOptions{
		ScheduleToStartTimeout: time.Second,
		StartToCloseTimeout:    2 * time.Second,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:                "Record what happened",
	}
}

// patient has a batch written on the queue for that. A writer that was lost is
// noticed after a few seconds.
func patient() workflow.ActivityOptions {
	return workflow.ActivityOptions{
		TaskQueue:           RecordQueue,
		StartToCloseTimeout: 5 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumInterval: 10 * time.Second},
		Summary:             "Record what happened",
	}
}

const scheduleToStart = enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START

func asTimeout(err error, to **temporal.TimeoutError) bool { return errors.As(err, to) }
