package activities

import (
	"context"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.temporal.io/sdk/activity"
)

// finishedMost is how many outcomes a worker remembers.
const finishedMost = 1000

// finished remembers the outcomes of the tasks that this worker has run. If Temporal was
// down when a task ended, it has no outcome and runs the task again. In the same process,
// that run returns the outcome without doing the work again.
type finished struct {
	outcomes *lru.Cache[string, ended]
}

// ended is the outcome of a task, and the latest run that returned it.
type ended struct {
	Outcome
	run int
}

func newFinished() finished {
	outcomes, _ := lru.New[string, ended](finishedMost) // fails only for a size below 1
	return finished{outcomes}
}

// key returns a key that repeats of a run share, "" for a run that is always done: one
// that only returns an outcome or cancels work elsewhere. A workflow that an operator has
// reset does its work again.
func (finished) key(ctx context.Context, in RunInput) string {
	if !activity.IsActivity(ctx) || in.Returned != nil || in.Work.Cancel {
		return ""
	}
	run := activity.GetInfo(ctx).WorkflowExecution
	return fmt.Sprint(run.ID, " ", run.RunID, " ", in.Work.Key, " ", in.Work.Attempt, " ", in.Work.Leg)
}

// outcome returns the outcome of the run before try. It returns none if another worker
// has begun a run since: the journal then has the pieces which that one streamed, so the
// work is done again.
func (f finished) outcome(key string, try int) (Outcome, bool) {
	e, ok := f.outcomes.Get(key)
	return e.Outcome, ok && e.run == try-1
}

// remember keeps the outcome that a run returns, unless it has failed.
func (f finished) remember(key string, try int, out Outcome, err error) {
	if key != "" && err == nil {
		f.outcomes.Add(key, ended{out, try})
	}
}
