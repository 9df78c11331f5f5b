package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

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

// errOvertaken ends a run that Temporal has taken for lost, when this worker gets the next one.
var errOvertaken = errors.New("another run of the task has begun")

// overtakeFor is how long a run waits for the end of an earlier one. An executor that does not
// heed its context does not hold up the task for longer.
const overtakeFor = 15 * time.Second

// rounds are the rounds of tasks that this worker runs, by the key of an [outcomeCache]. When
// Temporal gets no heartbeats, as while its database fails, it has a task run again that still
// runs. The zero value has none. It is safe for concurrent use.
type rounds struct {
	mu      sync.Mutex
	running map[string]*running
}

type running struct {
	cancel context.CancelCauseFunc
	ended  chan struct{}
}

// enter cancels the earlier run of a round that has not ended, and waits for its end. ctx ends when another
// run enters; leave is called when the run has ended. An empty key is not noted.
func (r *rounds) enter(ctx context.Context, key string) (_ context.Context, leave func(), err error) {
	if key == "" {
		return ctx, func() {}, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	run := &running{cancel, make(chan struct{})}
	r.mu.Lock()
	before := r.running[key]
	if r.running == nil {
		r.running = map[string]*running{}
	}
	r.running[key] = run
	r.mu.Unlock()
	leave = func() {
		cancel(nil)
		close(run.ended)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.running[key] == run {
			delete(r.running, key)
		}
	}
	if before == nil {
		return ctx, leave, nil
	}
	before.cancel(errOvertaken)
	select {
	case <-before.ended:
	case <-time.After(overtakeFor):
	case <-ctx.Done():
		leave()
		return ctx, nil, ctx.Err()
	}
	return ctx, leave, nil
}
