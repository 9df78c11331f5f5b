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
	return sendHeartbeatsEvery(ctx, heartbeatEvery, progress)
}

func sendHeartbeatsEvery(ctx context.Context, every time.Duration, progress func() any) (stop func()) {
	if !activity.IsActivity(ctx) {
		return func() {}
	}
	ctx, cancel := WithHeartbeatsEnd(ctx)
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
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
		cancel()
		ended.Wait()
	}
}

// heartbeatsKey is the key in the context of a heartbeat for the context that ends when no more
// are needed. The SDK gives each heartbeat a time of its own, after which the context of the
// heartbeat does not show that.
type heartbeatsKey struct{}

// WithHeartbeatsEnd returns the context of the heartbeats of an activity, and what to call when no
// more are needed.
func WithHeartbeatsEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	return context.WithValue(ctx, heartbeatsKey{}, ctx), cancel
}

// AfterHeartbeats calls f when no more heartbeats are needed of the activity of one with a context,
// unless stop was called before.
func AfterHeartbeats(ctx context.Context, f func()) (stop func() bool) {
	if all, ok := ctx.Value(heartbeatsKey{}).(context.Context); ok {
		return context.AfterFunc(all, f)
	}
	return func() bool { return true }
}

// try returns which run of its activity this is: more than 1 after a lost worker.
func try(ctx context.Context) int {
	if !activity.IsActivity(ctx) {
		return 1
	}
	return int(activity.GetInfo(ctx).Attempt)
}

const heartbeatEvery = time.Second
