package api

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"longhaul/a2a"
	"longhaul/api/wire"
	"longhaul/opt"
)

// Keys in the metadata of a root task that waits for its turn in its context.
const (
	keyQueuedAt      = "longhaul/v1/queuedAt"
	keyQueuePosition = "longhaul/v1/queuePosition"
)

// enqueue has o wait for its turn if anything is open in its context: behind what
// has begun there, and after those that wait already.
func (s *Server) enqueue(ctx context.Context, o *opt.Opening) error {
	at, behind, err := s.place(ctx, o.Objective)
	o.Objective.QueuedAt, o.Behind = at, behind
	return err
}

// place returns since when an objective waits in the queue of its context, zero
// if it need not wait, and what is known to have begun there.
func (s *Server) place(ctx context.Context, o opt.Objective) (a2a.Time, []string, error) {
	q, err := s.cfg.Journal.Queue(ctx, o.Tenant, o.ContextID)
	switch {
	case err != nil, q.Idle(), slices.Contains(q.Busy, o.ID): // the last is there already
		return a2a.Time{}, nil, err
	case q.Waiting >= s.cfg.MaxQueue:
		return a2a.Time{}, nil, queueFull(o.ContextID, s.cfg.MaxQueue)
	}
	at := a2a.At(s.cfg.Now())
	if at.Millis() <= q.Last.Millis() {
		at = a2a.AtMillis(q.Last.Millis() + 1)
	}
	return at, q.Busy, nil
}

// enterAgain has an attempt that waited to be started wait for its turn, if its
// being started is what is asked for and anything else is open in its context.
func (s *Server) enterAgain(ctx context.Context, o *opt.Objective, to opt.ObjectiveStatus) error {
	if o.Attempt == 1 || o.Started || to != opt.ObjectiveWorking && to != opt.ObjectivePlanning {
		return nil
	}
	at, behind, err := s.place(ctx, *o)
	if err != nil || at.IsZero() {
		return err
	}
	return s.cfg.Engine.Enter(ctx, *o, behind)
}

// lane waits until no other send to the context of an objective is being taken.
func (s *Server) lane(ctx context.Context, o *opt.Objective) (leave func(), err error) {
	return s.lanes.enter(ctx, o.Tenant+"\x00"+o.ContextID)
}

func queueFull(contextID string, limit int) *wire.Fault {
	return &wire.Fault{
		Code: wire.CodeInternal, Message: "Too much waits in this context", Reason: wire.ReasonQueueFull,
		Info: map[string]string{"contextId": contextID, "limit": strconv.Itoa(limit)},
	}
}

// idleOf returns the objective that is the first of a context, if it is one of
// objectives/create that a message starts: it has not been started, or was by this
// very message. Its id is that of the context.
func (s *Server) idleOf(ctx context.Context, c *call, contextID, once string) (*opt.Objective, error) {
	if _, ok := opt.ParseID(contextID); !ok {
		return nil, nil
	}
	o, err := s.cfg.Journal.Objective(ctx, c.Tenant, contextID)
	switch {
	case errors.Is(err, opt.ErrUnknown):
		return nil, nil
	case err != nil, o.MessageID != "": // a message made it, and started it
		return nil, err
	case !o.Started && !closed(o) && o.QueuedAt.IsZero():
		return o, nil
	}
	_, said, err := s.cfg.Journal.Judgement(ctx, o.ID, c.Principal, once)
	if !said || err != nil {
		return nil, err
	}
	return o, nil
}

// lanes let one call at a time through for each key.
type lanes struct {
	mu    sync.Mutex
	taken map[string]chan struct{} // closed when free again
}

// enter waits until nobody else is in the lane. The caller calls leave.
func (l *lanes) enter(ctx context.Context, key string) (leave func(), err error) {
	for {
		l.mu.Lock()
		free, taken := l.taken[key]
		if !taken {
			done := make(chan struct{})
			if l.taken == nil {
				l.taken = map[string]chan struct{}{}
			}
			l.taken[key] = done
			l.mu.Unlock()
			return func() { l.leave(key, done) }, nil
		}
		l.mu.Unlock()
		select {
		case <-free:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (l *lanes) leave(key string, done chan struct{}) {
	l.mu.Lock()
	delete(l.taken, key)
	l.mu.Unlock()
	close(done)
}

// queued adds to the metadata of a root task where it waits.
func queued(m a2a.Metadata, v opt.TaskView) a2a.Metadata {
	if v.QueuedAt.IsZero() {
		return m
	}
	return m.With(keyQueuedAt, v.QueuedAt).With(keyQueuePosition, v.Position)
}
