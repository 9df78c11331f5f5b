package activities

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
)

// A Progress is what Temporal's UI shows of a task that runs: the details of its
// last heartbeat.
type Progress struct {
	Task    string    `json:"task"`
	Attempt int       `json:"attempt"`
	Pieces  int64     `json:"pieces,omitempty"` // that it has streamed
	Since   time.Time `json:"since"`
}

// sendHeartbeats reports that the activity is alive until stop is called, so that a dead
// worker is noticed within seconds and ctx is canceled within seconds. progress
// returns the details of a heartbeat; nil for none.
func sendHeartbeats(ctx context.Context, progress func() any) (stop func()) {
	if !activity.IsActivity(ctx) {
		return func() {}
	}
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(heartbeatEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-tick.C:
				if progress == nil {
					activity.RecordHeartbeat(ctx)
				} else {
					activity.RecordHeartbeat(ctx, progress())
				}
			}
		}
	})
	return func() {
		close(done)
		ended.Wait()
	}
}

// try returns which run of its activity this is: more than 1 after a lost worker.
func try(ctx context.Context) int {
	if !activity.IsActivity(ctx) {
		return 1
	}
	return int(activity.GetInfo(ctx).Attempt)
}

const heartbeatEvery = time.Second
