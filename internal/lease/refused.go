package lease

import (
	"context"
	"time"

	"go.temporal.io/api/workflowservice/v1"
)

const (
	returnEvery = time.Second // refused workflow tasks, if there are no more than returnMost
	returnMost  = 200         // others wait for the end of their time, which Temporal lets grow to ten minutes
)

// A repeat is a workflow task that failed before. The SDK does not answer it if it fails again.
type repeat struct {
	entry   Entry
	refused bool
}

// noteRepeat notes a workflow task that was taken, if it is a repeat.
func (t *Taken) noteRepeat(r *workflowservice.PollWorkflowTaskQueueResponse) {
	if r.GetAttempt() <= 1 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.repeats[r.GetWorkflowExecution().GetRunId()] = &repeat{entry: Entry{workflowTask, string(r.GetTaskToken())}}
}

// Refuse has the workflow task of a run given back soon, since another worker can do it.
func (t *Taken) Refuse(runID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.repeats[runID]; r != nil {
		r.refused = true
	}
}

// refused returns refused workflow tasks, and forgets repeats that were answered.
func (t *Taken) refused() (all []Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for run, r := range t.repeats {
		if _, has := t.all[r.entry]; !has {
			delete(t.repeats, run)
		} else if r.refused && len(all) < returnMost {
			all = append(all, r.entry)
		}
	}
	return all
}

// returnRefused gives back refused workflow tasks, again and again, and a last time when ctx has ended.
func (k *Keeper) returnRefused(ctx context.Context) {
	for last := false; !last; {
		pause(ctx, returnEvery)
		last = ctx.Err() != nil
		returning, end := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
		all := k.Taken.refused()
		for i, err := range k.giveBackAll(returning, all) {
			if err == nil {
				k.Taken.set(all[i], false)
			}
		}
		end()
	}
}
