package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"longhaul/activities"
	"longhaul/opt"
)

var acts *activities.Activities // names activities by method; never called

// A recorder writes the events of one workflow to the journal, and those that the
// results of its children carry.
//
// What a workflow task decides is final only when Temporal has accepted its
// completion. If its worker is lost, or Temporal refuses it because a signal has
// arrived, the task runs again and may decide differently, under the same event
// numbers. So an activity writes the events, since it begins after that: an
// activity of the recorder, or the next one that runs a task, in whose input the
// events ride. A batch begins at the first event that is not known to be in the
// journal, so a batch that arrives first has no gap before it.
type recorder struct {
	objectiveID string
	source      string
	rides       func() bool // whether the last events go with the result of the workflow; nil for never

	last    int64       // number of the latest event
	done    int64       // of the latest one that is in the journal
	pending []opt.Event // after done
	riding  int64       // of the latest one that rides in an activity that has begun
	needed  int64       // the latest event that something to be sent waits for
	carried []opt.Batch // from children, to be written with the next batch
	writing bool        // a separate activity is under way
}

// add keeps events, which the machine has numbered, to be written.
func (r *recorder) add(events ...opt.Event) {
	for _, e := range events {
		r.pending = append(r.pending, e)
		r.last = e.N
	}
}

// carry keeps events that a child has not written itself.
func (r *recorder) carry(batches []opt.Batch) { r.carried = append(r.carried, batches...) }

// has reports whether event n is in the journal. If it is not, the recorder
// writes it soon, since the caller waits for it.
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

// ride returns the events that may ride in an activity, or nil: moves of plans
// and tasks and artifacts, if nothing waits for them.
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

// advance writes the events that are not in the journal and that no running
// activity writes.
func (r *recorder) advance(d *driver) {
	if r.writing || len(r.carried) == 0 && max(r.done, r.riding) >= r.last && r.needed <= r.done {
		return
	}
	batches := r.batches()
	r.writing = true
	d.events.AddFuture(workflow.ExecuteActivity(workflow.WithActivityOptions(d.ctx, firstRecordOptions()), acts.Record, batches), func(f workflow.Future) {
		if f.Get(d.ctx, nil) == nil {
			r.written(batches)
			return
		}
		r.recordUntilDone(d, batches)
	})
}

// recordUntilDone writes batches on the queue that tasks do not use, and retries without limit.
func (r *recorder) recordUntilDone(d *driver, batches []opt.Batch) {
	d.events.AddFuture(workflow.ExecuteActivity(workflow.WithActivityOptions(d.ctx, repeatedRecordOptions()), acts.Record, batches), func(f workflow.Future) {
		if f.Get(d.ctx, nil) == nil {
			r.written(batches)
			return
		}
		r.recordUntilDone(d, batches) // no event is dropped
	})
}

func (r *recorder) written(batches []opt.Batch) {
	r.writing = false
	r.confirm(batches)
}

// recordNow writes the pending events within the workflow task, if the journal
// answers at once. If it does not, an activity writes them: a workflow task must
// be short. Use it only for events that follow from the input of a run alone.
func (r *recorder) recordNow(ctx workflow.Context) {
	if len(r.pending) == 0 {
		return
	}
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: recordNowLimit,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	batches := r.batches()
	if workflow.ExecuteLocalActivity(local, acts.Record, batches).Get(ctx, nil) == nil {
		r.confirm(batches)
	}
}

const recordNowLimit = 80 * time.Millisecond

// firstRecordOptions are the options of the first try to record: on the queue of tasks, if a
// worker is free within a second.
func firstRecordOptions() workflow.ActivityOptions {
	return workflow.ActivityOptions{
		ScheduleToStartTimeout: time.Second,
		StartToCloseTimeout:    2 * time.Second,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:                "Record what happened",
	}
}

// repeatedRecordOptions are the options of further tries to record: on the queue for records,
// repeated until one succeeds.
func repeatedRecordOptions() workflow.ActivityOptions {
	return workflow.ActivityOptions{
		TaskQueue:           RecordQueue,
		StartToCloseTimeout: 5 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumInterval: 10 * time.Second},
		Summary:             "Record what happened",
	}
}
