package service

import (
	"context"

	"longhaul/opt"
)

// An Engine starts work and sends it messages and commands. What it has accepted
// is durable, and the result is an event in the journal.
//
// An error wraps opt.ErrUnavailable if the call may be repeated, opt.ErrEnded if
// the workflow of the receiver has ended.
type Engine interface {
	Starter

	// Letter delivers a letter. The verdict on it is recorded in the journal.
	Letter(ctx context.Context, l opt.Letter) error
	// Callback delivers a callback to a plan task. One for a round that is
	// over changes nothing.
	Callback(ctx context.Context, c opt.Callback) error
	// Command delivers a change to an open objective. The answer is recorded in
	// the journal.
	Command(ctx context.Context, cmd opt.Command) error
	// Cancel asks an objective to stop, for a principal. It returns before the
	// objective has stopped.
	Cancel(ctx context.Context, objectiveID, principal string) error
	// Ready reports why the engine could not accept work now.
	Ready(ctx context.Context) error
}

// A Starter begins work.
type Starter interface {
	// Start starts the objective, which waits for its turn if its QueuedAt is set, and
	// returns its opening. If an objective with this id and the same
	// Objective.Digest exists, it returns the opening of that one. If its digest
	// differs, the error wraps opt.ErrConflict; if it has ended, opt.ErrEnded.
	Start(ctx context.Context, o opt.Opening) (opt.Opening, error)
	// Retry delivers a command to an objective that has ended: a new run of it
	// judges the command, and begins another attempt.
	Retry(ctx context.Context, o opt.Objective, cmd opt.Command) error
	// Enter puts an objective into the queue of its context.
	Enter(ctx context.Context, o opt.Objective, p opt.Placed) error
}
