package write

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// GoneTries is how often a command is tried if the journal shows an open
// objective whose workflow has ended: the journal will show its end soon, or an
// operator has ended it.
const (
	GoneTries = 10
	GoneWait  = 100 * time.Millisecond
)

// A Journal keeps what work begins with.
type Journal interface {
	// Record records the events of batches. Repeating one changes nothing.
	Record(ctx context.Context, batches ...opt.Batch) error
	WriteBlobs(ctx context.Context, objectiveID string, blobs map[string][]byte) error // by their ids
	// Place takes a place in the queue of a context. An objective keeps its place
	// if it already has one.
	Place(ctx context.Context, p shown.Place) (shown.Placed, error)
}

// A Writer passes work to the engine. A call that has begun is not interrupted
// when its client disconnects.
type Writer struct {
	Engine  Engine
	Journal Journal
	Timeout time.Duration // of one call of the engine
	Queue   int           // objectives that may wait in one context
	Now     func() time.Time
}

// Detached returns a context for a call that must not stop half-way because the
// client has disconnected.
func (w Writer) Detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), w.Timeout)
}

// Start starts an objective and makes it visible. When it returns nil, both are
// durable; when it returns an error, it is safe to repeat. If the error wraps opt.ErrEnded, the
// objective of an equal opening has ended.
func (w Writer) Start(ctx context.Context, o opt.Opening) (opt.Opening, error) {
	ctx, cancel := w.Detached(ctx)
	defer cancel()
	o, ended := w.Engine.Start(ctx, o)
	if ended != nil {
		ended = fmt.Errorf("start objective: %w", ended)
		if !errors.Is(ended, opt.ErrEnded) || o.Objective.ID == "" {
			return o, ended
		}
	}
	// The workflow records the same event. Recording it here as well makes sure
	// that the journal has it before the client gets its answer. It cannot be recorded while the
	// workflow is started: of two sends with one id Temporal decides which begins, and with what,
	// and the first opening in the journal stays. If Temporal then refused this one, or never got
	// it, a repeat would find a task that no workflow works on. One that an operator has stopped may not
	// have recorded it: clients see how it ended then.
	err := w.Journal.Record(ctx, o.Batch())
	if err != nil {
		return o, fmt.Errorf("accept objective: %w", err)
	}
	return o, ended
}

// StoreBlobs stores contents that are too large for histories.
func (w Writer) StoreBlobs(ctx context.Context, objectiveID string, blobs a2a.Blobs) error {
	ctx, cancel := w.Detached(ctx)
	defer cancel()
	if len(blobs) == 0 {
		return nil
	}
	if err := w.Journal.WriteBlobs(ctx, objectiveID, blobs); err != nil {
		return fmt.Errorf("keep large parts: %w", err)
	}
	return nil
}

// EnterQueue takes a place in the context of o before o is started, so that two services cannot
// both find the context free. If the objective must wait, it enters the queue, and EnterQueue
// returns since when it waits; else the time is zero.
func (w Writer) EnterQueue(ctx context.Context, o opt.Objective) (a2a.Time, error) {
	placed, err := w.takePlace(ctx, o)
	if err == nil && !placed.QueuedAt.IsZero() {
		o.QueuedAt = placed.QueuedAt
		err = w.Engine.Enter(ctx, o, placed)
	}
	return placed.QueuedAt, err
}

// takePlace takes a place in the context of o.
func (w Writer) takePlace(ctx context.Context, o opt.Objective) (shown.Placed, error) {
	placed, err := w.Journal.Place(ctx, shown.Place{
		Tenant: o.Tenant, ContextID: o.ContextID, ObjectiveID: o.ID, Attempt: o.Attempt, At: a2a.At(w.Now()), Limit: w.Queue,
	})
	if errors.Is(err, opt.ErrQueueFull) {
		return placed, queueFull(o.ContextID, w.Queue)
	}
	return placed, err
}

// Cancel asks an objective to stop, for a principal and its reason.
func (w Writer) Cancel(ctx context.Context, objectiveID, principal, reason string) error {
	ctx, cancel := w.Detached(ctx)
	defer cancel()
	return w.Engine.Cancel(ctx, objectiveID, principal, reason)
}

// Callback delivers a callback to a plan task.
func (w Writer) Callback(ctx context.Context, in opt.Callback) error {
	ctx, cancel := w.Detached(ctx)
	defer cancel()
	err := w.Engine.Callback(ctx, in)
	if errors.Is(err, opt.ErrEnded) {
		return call.ErrEnded
	}
	if err != nil {
		return fmt.Errorf("callback for %s: %w", in.TaskID, err)
	}
	return nil
}

// SendLetter delivers a letter to a task that the journal shows. An objective whose
// workflow is missing has ended, which the journal may show a moment later. The workflow
// of a plan may also be about to begin.
func (w Writer) SendLetter(ctx context.Context, l opt.Letter) error {
	ctx, cancel := w.Detached(ctx)
	defer cancel()
	err := w.Engine.Letter(ctx, l)
	for n := 0; errors.Is(err, opt.ErrEnded) && n < GoneTries; n++ {
		select {
		case <-time.After(GoneWait):
			err = w.Engine.Letter(ctx, l)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if errors.Is(err, opt.ErrEnded) {
		return call.ErrEnded
	}
	if err != nil {
		return fmt.Errorf("deliver a letter to %s: %w", l.ObjectiveID, err)
	}
	return nil
}

// queueFull returns the fault of a context in which as many objectives wait as may.
func queueFull(contextID string, limit int) *call.Fault {
	return &call.Fault{
		Kind: call.QueueFull, Message: "Context queue is full", Reason: call.ReasonQueueFull,
		Info: map[string]string{"contextId": contextID, "limit": strconv.Itoa(limit)},
	}
}

// An Engine starts work and sends it messages. What it has accepted is durable, and the
// result is an event in the journal.
//
// An error wraps opt.ErrUnavailable if the call may be repeated, opt.ErrEnded if
// the workflow of the receiver has ended.
type Engine interface {
	// Start starts the objective, which waits for its turn if its QueuedAt is set, and
	// returns its opening. If an objective with this id and the same
	// Objective.Digest exists, it returns the opening of that one. If its digest
	// differs, the error wraps opt.ErrConflict; if it has ended, opt.ErrEnded, and so it may if it
	// has begun long ago: the journal has it. The latter comes with the opening if that may not be recorded.
	Start(ctx context.Context, o opt.Opening) (opt.Opening, error)
	// Enter puts an objective into the queue of its context.
	Enter(ctx context.Context, o opt.Objective, p shown.Placed) error
	// Letter delivers a letter. The verdict on it is recorded in the journal.
	Letter(ctx context.Context, l opt.Letter) error
	// Callback delivers a callback to a plan task. One for a round that is
	// over changes nothing.
	Callback(ctx context.Context, c opt.Callback) error
	// Cancel asks an objective to stop, for a principal. It returns before the
	// objective has stopped.
	Cancel(ctx context.Context, objectiveID, principal, reason string) error
}
