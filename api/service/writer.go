package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"longhaul/opt"
)

// A writer hands work to the engine. A call that has begun is not interrupted when
// its client disconnects.
type writer struct {
	engine  Engine
	journal Journal
	timeout time.Duration // of one call of the engine
}

// detached returns a context for a call that must not stop half-way because the
// client has disconnected.
func (w writer) detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), w.timeout)
}

// start starts an objective and makes it visible. When it returns nil, both are
// durable; when it returns an error, it is safe to repeat.
func (w writer) start(ctx context.Context, o opt.Opening) (opt.Opening, error) {
	ctx, cancel := w.detached(ctx)
	defer cancel()
	o, err := w.engine.Start(ctx, o)
	if err != nil {
		return o, fmt.Errorf("start objective: %w", err)
	}
	// The workflow records the same event. Whoever comes first, it is there once
	// the client has its answer.
	err = w.journal.Record(ctx, opt.Batch{ObjectiveID: o.Objective.ID, Source: o.Objective.ID, Events: []opt.Event{o.Event()}})
	if err != nil {
		return o, fmt.Errorf("accept objective: %w", err)
	}
	return o, nil
}

// tell delivers a letter to a task that the journal shows.
func (w writer) tell(ctx context.Context, l opt.Letter) error {
	ctx, cancel := w.detached(ctx)
	defer cancel()
	err := w.engine.Tell(ctx, l)
	if errors.Is(err, opt.ErrUnknown) {
		return errEnded // the journal knows the task, so its workflow existed and has ended
	}
	if err != nil {
		return fmt.Errorf("tell %s: %w", l.ObjectiveID, err)
	}
	return nil
}
