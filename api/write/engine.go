package write

import (
	"context"

	"longhaul/opt"
)

// An Engine starts work and sends it messages. What it has accepted is durable, and the
// result is an event in the journal.
//
// An error wraps opt.ErrUnavailable if the call may be repeated, opt.ErrEnded if
// the workflow of the receiver has ended.
type Engine interface {
	// Start starts the objective, which waits for its turn if its QueuedAt is set, and
	// returns its opening. If an objective with this id and the same
	// Objective.Digest exists, it returns the opening of that one. If its digest
	// differs, the error wraps opt.ErrConflict; if it has ended, opt.ErrEnded.
	Start(ctx context.Context, o opt.Opening) (opt.Opening, error)
	// Enter puts an objective into the queue of its context.
	Enter(ctx context.Context, o opt.Objective, p opt.Placed) error
	// Letter delivers a letter. The verdict on it is recorded in the journal.
	Letter(ctx context.Context, l opt.Letter) error
	// Callback delivers a callback to a plan task. One for a round that is
	// over changes nothing.
	Callback(ctx context.Context, c opt.Callback) error
	// Cancel asks an objective to stop, for a principal. It returns before the
	// objective has stopped.
	Cancel(ctx context.Context, objectiveID, principal string) error
}
