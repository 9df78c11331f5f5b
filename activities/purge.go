package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/temporal"

	"longhaul/a2a"
)

// A Purger removes at most limit objectives that have ended and did not change
// after a time. It returns how many it has removed; fewer than limit mean that no
// more are left. The next call continues a removal that was interrupted.
type Purger interface {
	Purge(ctx context.Context, before time.Time, limit int) (int, error)
}

// A PurgeRequest says what Purge removes.
type PurgeRequest struct {
	Before a2a.Time `json:"before"` // objectives that have ended and did not change after it
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

// Purge removes objectives in batches until none is left or it has done
// purgeBatches. A second run removes what the first has left, and counts only
// that.
func (a *Activities) Purge(ctx context.Context, r PurgeRequest) (done Purged, err error) {
	if a.cfg.Purger == nil {
		return done, temporal.NewNonRetryableApplicationError("This worker has no journal to remove objectives from.", NoPurgerError, nil)
	}
	defer sendHeartbeats(ctx).stop()
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
