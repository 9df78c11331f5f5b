package machine

import "longhaul/a2a"

// Wants is everything that should be running or known outside. Its slices have a
// fixed order. A key is never used twice: what has ended under one is not wanted
// again.
type Wants struct {
	Activities []Activity
	Children   []Child
	Timers     []Timer
	Signals    []Signal
	Done       *Done // the workflow may end; nil if it may not
	Bound      bool  // the run may not hand over to another yet: a plan has still to learn of it
}

// An ActivityKind says what an activity does.
type ActivityKind string

// The kinds of activity.
const (
	RunTask    ActivityKind = "run"    // Of is the task's id
	FollowTask ActivityKind = "follow" // Of is the task's id
	MakePlans  ActivityKind = "plan"
	LoadKept   ActivityKind = "load"
)

// An Activity is work that should be under way. It is stopped when it is not
// wanted any more, or is wanted to stop: then its end is awaited, and one that
// never began ends at once.
type Activity struct {
	Key   string
	Kind  ActivityKind
	Of    string
	Stop  bool
	After int64 // it begins once this event is recorded; 0 for at once
}

// A Child is a plan whose workflow should be there. It begins once event After is
// recorded.
type Child struct {
	PlanID  string
	Attempt int   // at the plan
	Try     int   // to begin it; the former run may take a moment to leave
	N       int64 // number of the directive that it begins with
	After   int64
}

// A Timer elapses at a time, never before.
type Timer struct {
	Key     string
	At      a2a.Time
	Summary string
}

// A Signal is the latest that another workflow should know. It is sent once event
// After is recorded, and again when N has risen.
type Signal struct {
	To    string // workflow id
	N     int64
	After int64
}

// Done is how a workflow ends.
type Done struct {
	Status  string // of the objective or plan
	Failure string // for people
}
