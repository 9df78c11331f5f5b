package activities

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"

	"longhaul/opt"
)

// A Progress is what Temporal's UI shows of a task that runs: the details of its
// last heartbeat.
type Progress struct {
	Task    string    `json:"task"`
	Attempt int       `json:"attempt"`
	Pieces  int64     `json:"pieces,omitempty"` // that it has streamed
	Since   time.Time `json:"since"`

	Spent *opt.Usage `json:"spent,omitempty"` // by the runs of a planner that have failed
}

// A heartbeats value sends the heartbeats of an activity, so that a dead worker is noticed within
// seconds and a cancellation reaches the activity within seconds. An activity has one for all that it
// does: the SDK sends most heartbeats later, with the context of an earlier one, and none arrives
// with the context of a sender that has stopped.
type heartbeats struct {
	details atomic.Pointer[func() Progress]
	stop    func()
}

// sendHeartbeats sends the heartbeats of an activity until stop is called. They have no details yet.
func sendHeartbeats(ctx context.Context) *heartbeats { return sendHeartbeatsEvery(ctx, heartbeatEvery) }

func sendHeartbeatsEvery(ctx context.Context, every time.Duration) *heartbeats {
	h := &heartbeats{stop: func() {}}
	if !activity.IsActivity(ctx) {
		return h
	}
	ctx, cancel := WithHeartbeatsEnd(ctx)
	var ended sync.WaitGroup
	ended.Go(func() { h.send(ctx, every) })
	h.stop = func() {
		cancel()
		ended.Wait()
	}
	return h
}

// show has the heartbeats from now on say how far the activity is.
func (h *heartbeats) show(progress func() Progress) { h.details.Store(&progress) }

func (h *heartbeats) send(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if progress := h.details.Load(); progress != nil {
			activity.RecordHeartbeat(ctx, (*progress)())
		} else {
			activity.RecordHeartbeat(ctx)
		}
	}
}

// spentBefore returns what earlier runs of the activity have used, nil for nothing, and keeps it for
// later ones.
func (h *heartbeats) spentBefore(ctx context.Context) *opt.Usage {
	var before Progress
	if activity.IsActivity(ctx) && activity.HasHeartbeatDetails(ctx) && activity.GetHeartbeatDetails(ctx, &before) == nil && before.Spent != nil {
		h.spend(ctx, before.Spent)
	}
	return before.Spent
}

// sumOf returns the sum of usages, of which each may be nil for none.
func sumOf(before, now *opt.Usage) *opt.Usage {
	if before == nil || now == nil {
		return cmp.Or(before, now)
	}
	sum := before.Plus(*now)
	sum.Model = now.Model
	return &sum
}

// spend keeps what the activity has used for later runs; nil for nothing.
func (h *heartbeats) spend(ctx context.Context, used *opt.Usage) {
	if used != nil && activity.IsActivity(ctx) {
		h.show(func() Progress { return Progress{Spent: used} })
		activity.RecordHeartbeat(ctx, Progress{Spent: used})
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

// untaken returns until when an activity has waited for a worker, and for how long.
func untaken(ctx context.Context) (until time.Time, waited time.Duration) {
	if !activity.IsActivity(ctx) {
		return until, 0
	}
	info := activity.GetInfo(ctx)
	return info.StartedTime, info.StartedTime.Sub(info.ScheduledTime)
}

const heartbeatEvery = time.Second
