package service

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// Keys in the metadata of a root task that waits for its turn in its context.
const (
	keyQueuedAt      = "longhaul/v1/queuedAt"
	keyQueuePosition = "longhaul/v1/queuePosition"
)

// A queue puts objectives that share a context in order.
type queue struct {
	journal Journal
	max     int // objectives that may wait in one context
	now     func() time.Time

	mu    sync.Mutex
	taken map[string]chan struct{} // by context: closed when it is free again
}

// enqueue sets the place of o in the queue of its context, if anything is open there:
// behind what has begun, and after those that wait already.
func (q *queue) enqueue(ctx context.Context, o *opt.Opening) error {
	at, behind, err := q.place(ctx, o.Objective)
	o.Objective.QueuedAt, o.Behind = at, behind
	return err
}

// place returns since when an objective waits in the queue of its context, zero
// if it need not wait, and what is known to have begun there.
func (q *queue) place(ctx context.Context, o opt.Objective) (a2a.Time, []string, error) {
	open, err := q.journal.Queue(ctx, o.Tenant, o.ContextID)
	switch {
	case err != nil, open.Idle(), slices.Contains(open.Busy, o.ID): // the last is there already
		return a2a.Time{}, nil, err
	case open.Waiting >= q.max:
		return a2a.Time{}, nil, queueFull(o.ContextID, q.max)
	}
	at := a2a.At(q.now())
	if at.Millis() <= open.Last.Millis() {
		at = a2a.AtMillis(open.Last.Millis() + 1)
	}
	return at, open.Busy, nil
}

// lock waits until no other call takes a place in the context of o. The caller
// calls unlock.
func (q *queue) lock(ctx context.Context, o *opt.Objective) (unlock func(), err error) {
	key := o.Tenant + "\x00" + o.ContextID
	for {
		q.mu.Lock()
		free, taken := q.taken[key]
		if !taken {
			done := make(chan struct{})
			if q.taken == nil {
				q.taken = map[string]chan struct{}{}
			}
			q.taken[key] = done
			q.mu.Unlock()
			return func() { q.unlock(key, done) }, nil
		}
		q.mu.Unlock()
		select {
		case <-free:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (q *queue) unlock(key string, done chan struct{}) {
	q.mu.Lock()
	delete(q.taken, key)
	q.mu.Unlock()
	close(done)
}

func queueFull(contextID string, limit int) *Fault {
	return &Fault{
		Kind: QueueFull, Message: "Too much waits in this context", Reason: reasonQueueFull,
		Info: map[string]string{"contextId": contextID, "limit": strconv.Itoa(limit)},
	}
}

// queued adds to the metadata of a root task where it waits.
func queued(m a2a.Metadata, v opt.TaskView) a2a.Metadata {
	if v.QueuedAt.IsZero() {
		return m
	}
	return m.With(keyQueuedAt, v.QueuedAt).With(keyQueuePosition, v.Position)
}
