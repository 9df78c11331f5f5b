package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/temporal"

	"longhaul/a2a"
)

// A Purger removes objectives that have ended, and did not change after a time, at
// most limit of them. It returns how many it has removed; fewer than limit say
// that no more are left. Removing goes on where it was cut off.
type Purger interface {
	Purge(ctx context.Context, before time.Time, limit int) (int, error)
}

// A PurgeRequest says what Purge removes.
type PurgeRequest struct {
	Before a2a.Time `json:"before"` // what has ended, and did not change after it
}

// Purged says what Purge has done.
type Purged struct {
	Objectives int  `json:"objectives"`     // that were removed
	More       bool `json:"more,omitempty"` // there may be others
}

const (
	purgeBatch   = 100 // objectives
	purgeBatches = 100 // of one Purge
)

// Purge removes objectives, batch after batch, until none is left or it has done
// its share. A second run removes what the first has left, and counts only that.
func (a *Activities) Purge(ctx context.Context, r PurgeRequest) (done Purged, err error) {
	if a.cfg.Purger == nil {
		return done, temporal.NewNonRetryableApplicationError("This worker has no journal to remove anything from.", NoPurgerError, nil)
	}
	stop := beat(ctx)
	defer stop()
	for range purgeBatches {
		n, err := a.cfg.Purger.Purge(ctx, r.Before.Time(), purgeBatch)
		done.Objectives += n
		if err != nil {
			return done, err
		}
		if n < purgeBatch {
			return done, nil
		}
	}
	done.More = true
	return done, nil
}
