package opt

import (
	"errors"

	"longhaul/a2a"
)

// A Place asks for a place in the queue of a context, for an attempt at an
// objective that is about to start.
type Place struct {
	Tenant, ContextID string
	ObjectiveID       string
	Attempt           int
	At                a2a.Time
	Limit             int // objectives that may wait
}

// Placed is a place in the queue of a context.
type Placed struct {
	QueuedAt a2a.Time // since when it waits; zero if it need not
	Behind   []string // objectives that have begun
	Starting []string // objectives that are about to start, before it
}

// ErrQueueFull is wrapped by errors about a context in which no more may wait.
var ErrQueueFull = errors.New("context queue is full")
