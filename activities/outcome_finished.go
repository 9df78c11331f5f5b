package activities

import (
	"context"
	"encoding/json"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.temporal.io/sdk/activity"
)

// Limits of what a worker remembers.
const (
	maxCachedOutcomes = 1000     // outcomes
	maxCachedOutcome  = 64 << 10 // bytes of an outcome as JSON
)

// An outcomeCache holds the outcomes of the tasks that this worker has run. If Temporal was
// down when a task ended, it has no outcome and runs the task again. In the same process,
// that run returns the outcome without doing the work again. An outcome above maxCachedOutcome
// is not stored: its task runs again.
type outcomeCache struct {
	outcomes *lru.Cache[string, cachedOutcome]
}

// cachedOutcome is the latest outcome of a round of a task, and the run that returned it.
type cachedOutcome struct {
	Outcome
	attempt, leg, try int
}

func newOutcomeCache() outcomeCache {
	outcomes, _ := lru.New[string, cachedOutcome](maxCachedOutcomes) // fails only for a size below 1
	return outcomeCache{outcomes}
}

// key returns a key that all runs of a round share, "" for a run that is always done: one
// that only returns an outcome or cancels work elsewhere. A workflow that an operator has
// reset does its work again.
func (outcomeCache) key(ctx context.Context, in RunInput) string {
	if !activity.IsActivity(ctx) || in.Returned != nil || in.Work.Cancel {
		return ""
	}
	run := activity.GetInfo(ctx).WorkflowExecution
	return fmt.Sprint(run.ID, " ", run.RunID, " ", in.Work.Key)
}

// outcome returns the outcome of the run of the same leg before try. It returns none if
// another worker has begun a run since: the journal then has the pieces which that one
// streamed, so the work is done again.
func (f outcomeCache) outcome(key string, w Work, try int) (Outcome, bool) {
	e, ok := f.outcomes.Get(key)
	if !ok || e.attempt != w.Attempt || e.leg != w.Leg || e.try != try-1 {
		return Outcome{}, false
	}
	return e.Outcome, true
}

// remember keeps the outcome that a run returns, in place of an earlier one of its round.
func (f outcomeCache) remember(key string, w Work, try int, out Outcome) {
	if key == "" {
		return
	}
	if doc, err := json.Marshal(out); err != nil || len(doc) > maxCachedOutcome {
		f.outcomes.Remove(key)
		return
	}
	f.outcomes.Add(key, cachedOutcome{out, w.Attempt, w.Leg, try})
}
