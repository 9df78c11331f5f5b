package service

import (
	"context"

	"longhaul/opt"
)

// An Engine starts, tells and stops the work. What it has accepted is durable, and
// what becomes of it is an event in the journal.
//
// An error wraps opt.ErrUnavailable if the call may be repeated, opt.ErrEnded if
// the workflow that it is for is not there.
type Engine interface {
	Starter

	// Tell delivers a message. The verdict on it is recorded in the journal.
	Tell(ctx context.Context, l opt.Letter) error
	// Command delivers a change to an objective that goes on. The answer to it is
	// recorded in the journal.
	Command(ctx context.Context, cmd opt.Command) error
	// Cancel asks an objective to stop. It returns before that has happened.
	Cancel(ctx context.Context, objectiveID string) error
	// Ready reports why the engine could not accept work now.
	Ready(ctx context.Context) error
}

// A Starter begins work.
type Starter interface {
	// Start starts the objective, or has it wait for its turn if its QueuedAt is
	// set, and returns the opening that holds: an earlier one if the id is taken by
	// one with the same Objective.Digest. If its digest is another, the error wraps
	// opt.ErrConflict; if it has ended, opt.ErrEnded.
	Start(ctx context.Context, o opt.Opening) (opt.Opening, error)
	// Retry delivers a command to an objective that has ended: a new run of it
	// judges the command, and begins another attempt.
	Retry(ctx context.Context, o opt.Objective, cmd opt.Command) error
	// Enter has an objective wait for its turn in its context.
	Enter(ctx context.Context, o opt.Objective, p opt.Placed) error
}
