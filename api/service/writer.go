package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// A writer passes work to the engine. A call that has begun is not interrupted
// when its client disconnects.
type writer struct {
	engine  Engine
	journal Journal
	timeout time.Duration // of one call of the engine
	queue   int           // objectives that may wait in one context
	now     func() time.Time
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
	// The workflow records the same event. Recording it here as well makes sure
	// that the journal has it before the client gets its answer.
	err = w.journal.Record(ctx, opt.Batch{ObjectiveID: o.Objective.ID, Source: o.Objective.ID, Events: []opt.Event{o.Event()}})
	if err != nil {
		return o, fmt.Errorf("accept objective: %w", err)
	}
	return o, nil
}

// storeBlobs stores contents that are too large for histories.
func (w writer) storeBlobs(ctx context.Context, objectiveID string, blobs a2a.Blobs) error {
	ctx, cancel := w.detached(ctx)
	defer cancel()
	if len(blobs) == 0 {
		return nil
	}
	if err := w.journal.WriteBlobs(ctx, objectiveID, blobs); err != nil {
		return fmt.Errorf("keep large parts: %w", err)
	}
	return nil
}

// enterQueue takes a place in the context of o before o is started, so that two services cannot
// both find the context free. If the objective must wait, it enters the queue, and enterQueue
// returns since when it waits; else the time is zero.
func (w writer) enterQueue(ctx context.Context, o opt.Objective) (a2a.Time, error) {
	placed, err := w.takePlace(ctx, o)
	if err == nil && !placed.QueuedAt.IsZero() {
		o.QueuedAt = placed.QueuedAt
		err = w.engine.Enter(ctx, o, placed)
	}
	return placed.QueuedAt, err
}

// takePlace takes a place in the context of o.
func (w writer) takePlace(ctx context.Context, o opt.Objective) (opt.Placed, error) {
	placed, err := w.journal.Place(ctx, opt.Place{
		Tenant: o.Tenant, ContextID: o.ContextID, ObjectiveID: o.ID, Attempt: o.Attempt, At: a2a.At(w.now()), Limit: w.queue,
	})
	if errors.Is(err, opt.ErrQueueFull) {
		return placed, queueFull(o.ContextID, w.queue)
	}
	return placed, err
}

// cancel asks an objective to stop, for a principal.
func (w writer) cancel(ctx context.Context, objectiveID, principal string) error {
	ctx, cancel := w.detached(ctx)
	defer cancel()
	return w.engine.Cancel(ctx, objectiveID, principal)
}

// callback delivers a callback to a plan task.
func (w writer) callback(ctx context.Context, in opt.Callback) error {
	ctx, cancel := w.detached(ctx)
	defer cancel()
	err := w.engine.Callback(ctx, in)
	if errors.Is(err, opt.ErrEnded) {
		return errEnded
	}
	if err != nil {
		return fmt.Errorf("callback for %s: %w", in.TaskID, err)
	}
	return nil
}

// sendLetter delivers a letter to a task that the journal shows. An objective whose
// workflow is missing has ended. The workflow of a plan may also be about to begin.
func (w writer) sendLetter(ctx context.Context, l opt.Letter) error {
	ctx, cancel := w.detached(ctx)
	defer cancel()
	err := w.engine.Letter(ctx, l)
	for n := 0; errors.Is(err, opt.ErrEnded) && l.PlanID != "" && n < goneTries; n++ {
		time.Sleep(goneWait)
		err = w.engine.Letter(ctx, l)
	}
	if errors.Is(err, opt.ErrEnded) {
		return errEnded
	}
	if err != nil {
		return fmt.Errorf("deliver a letter to %s: %w", l.ObjectiveID, err)
	}
	return nil
}
