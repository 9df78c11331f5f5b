package activities

import (
	"context"
	"errors"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.temporal.io/sdk/activity"
	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/opt"
)

// stuckAfter is how long the events of an objective may wait for the journal before it counts
// as stuck.
const stuckAfter = 10 * time.Second

// stuckObjectives are the objectives whose events the journal does not take, as far as this
// worker has reported them.
type stuckObjectives struct {
	cfg   Config
	known *lru.Cache[string, bool] // whether clients see it
}

func newStuckObjectives(cfg Config) stuckObjectives {
	known, _ := lru.New[string, bool](1000) // fails only for a size below 1
	return stuckObjectives{cfg, known}
}

// note notes the result of an activity that records: in the log and for clients, once until
// the objective records again, if it has failed for a while.
func (s stuckObjectives) note(ctx context.Context, objectiveID string, err error) {
	if err == nil {
		s.known.Remove(objectiveID)
		return
	}
	since := time.Now()
	if activity.IsActivity(ctx) {
		since = activity.GetInfo(ctx).ScheduledTime
	}
	shown, logged := s.known.Get(objectiveID)
	if time.Since(since) < stuckAfter || ctx.Err() != nil || shown {
		return
	}
	if !logged {
		s.cfg.Log.Error("The journal does not take the events of an objective", zap.String("objectiveId", objectiveID), zap.Time("since", since), zap.Error(err))
	}
	shown = s.cfg.Stuck == nil || s.cfg.Stuck.Stuck(ctx, objectiveID, opt.Stuck{Since: a2a.At(since), Reason: stuckReason(err)}) == nil
	s.known.Add(objectiveID, shown) // if the journal is down, a later try shows it
}

// stuckReason returns the reason for clients.
func stuckReason(err error) string {
	switch {
	case errors.Is(err, opt.ErrMalformed):
		return "An event of it cannot be read by a worker of another version."
	case errors.Is(err, opt.ErrUnavailable):
		return "The journal cannot be written."
	}
	return "The journal lacks events of it: an operator has to rebuild the journal."
}
