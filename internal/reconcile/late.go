package reconcile

import (
	"context"
	"errors"
	"sync"
	"time"

	"longhaul/opt"
)

// Late records the last events of objectives that the journal has not taken at once, as while its
// database is away. It keeps them in memory: if its process is lost, a [Reconciler] records them.
type Late struct {
	record  func(ctx context.Context, batches ...opt.Batch) error
	room    chan struct{} // has an entry for each objective that waits
	ctx     context.Context
	stop    context.CancelFunc
	waiting sync.WaitGroup
}

// The pauses between the tries for an objective, each twice as long as the one before, and how many
// objectives may wait. A Reconciler records the rest.
const (
	latePause  = 300 * time.Millisecond
	lateTries  = 8
	lateAtOnce = 1000
)

// NewLate returns one that records with a function.
func NewLate(record func(context.Context, ...opt.Batch) error) *Late {
	ctx, stop := context.WithCancel(context.Background())
	return &Late{record: record, room: make(chan struct{}, lateAtOnce), ctx: ctx, stop: stop}
}

// Take tries to record batches, beside other work.
func (l *Late) Take(batches []opt.Batch) {
	select {
	case l.room <- struct{}{}:
	default:
		return
	}
	l.waiting.Go(func() {
		defer func() { <-l.room }()
		for n, wait := 0, latePause; n < lateTries; n, wait = n+1, 2*wait {
			if !pause(l.ctx, wait) {
				return
			}
			err := l.record(l.ctx, batches...)
			if _, refused := errors.AsType[*opt.RewoundError](err); err == nil || refused {
				return
			}
		}
	})
}

// Stop ends all tries.
func (l *Late) Stop() {
	l.stop()
	l.waiting.Wait()
}

// pause waits for d, and reports whether ctx has not ended by then.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
