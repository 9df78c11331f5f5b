package shown

import "longhaul/a2a"

// A Place asks for a place in the queue of a context, for an attempt at an
// objective that is about to begin. It names the attempt, as turns do, since a turn for a former
// attempt may be on its way when the objective is retried.
type Place struct {
	Tenant      string
	ContextID   string
	ObjectiveID string
	Attempt     int
	At          a2a.Time // since when it waits, unless others came later
	Limit       int      // of objectives that may wait; a place beyond it is refused with ErrQueueFull
}

// A Placed is the place that an objective has.
type Placed struct {
	QueuedAt a2a.Time // zero if it may begin at once
	Behind   []string // root tasks of the objectives that have begun, oldest first
	Starting []string // root tasks of those that are about to
	Waiting  int      // how many others are recorded as waiting
}

// A Queue is the state of a context: the open objectives that have begun, and those
// that wait for their turn.
type Queue struct {
	Busy    []string // root tasks of those that have begun, oldest first
	Starts  []string // root tasks of those that are about to
	Waiting int
	Places  int      // how many of these have only taken a place
	Last    a2a.Time // arrival of the latest one that waits
}

// Idle reports whether nothing is open.
func (q Queue) Idle() bool { return len(q.Busy)+len(q.Starts) == 0 && q.Waiting == 0 }
