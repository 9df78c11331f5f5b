package machine

import "longhaul/a2a"

// Wants is everything that should run or be known outside. Its slices have a
// fixed order. A key is never used twice: after its activity or timer has ended
// it is not wanted again.
type Wants struct {
	Activities []Activity
	Children   []Child
	Timers     []Timer
	Signals    []Signal
	Done       *Done // the workflow may end; nil if it may not
	Bound      bool  // the run may not continue as new yet: a plan needs a directive first
	Soon       bool  // of a plan that has just begun: a task is about to, and the first events may ride in its activity
	Rewind     bool  // it must get Rewound, when no event is about to be recorded
	Forget     bool  // nothing more is recorded, and with Done the workflow ends at once, with all that runs
}

// An ActivityKind is the kind of an activity.
type ActivityKind string

// The kinds of activity.
const (
	RunTask    ActivityKind = "run"       // Of is the task's id
	FollowTask ActivityKind = "follow"    // Of is the task's id
	Elsewhere  ActivityKind = "elsewhere" // Of is the task's id: an activity on another queue
	WatchTask  ActivityKind = "watch"     // Of is the task's id: reads the heartbeats of its activity elsewhere
	LookUp     ActivityKind = "look-up"   // Of is the task's id: for a standing decision about the gate that is about to open
	CheckPlan  ActivityKind = "check"     // Of is the plan's id: whether its workflow is gone, as a reconciler says
	MakePlans  ActivityKind = "plan"
	LoadKept   ActivityKind = "load"
	AskContext ActivityKind = "ask"     // sends the request to the context, whose workflow begins if it is not there
	CallRoll   ActivityKind = "members" // lists the open objectives of a context, as the journal has them
)

// An Activity is work that should run. It is canceled when it is not wanted any
// more, or when Stop is set: then the machine waits for its end, and an activity
// that has not begun ends at once.
type Activity struct {
	Key   string
	Kind  ActivityKind
	Of    string
	Stop  bool
	With  string // of WatchTask: the key of the activity that it is about
	After int64  // it begins once this event is recorded; 0 for at once
}

// A Child is a plan whose workflow should run. It begins after event After is
// recorded.
type Child struct {
	PlanID  string
	Attempt int   // at the plan
	Try     int   // to begin it; the former run may take a moment to end
	N       int64 // number of the directive that it begins with
	After   int64
}

// A Timer elapses at a time, never before.
type Timer struct {
	Key     string
	At      a2a.Time
	Summary string
}

// A Signal is the latest message for another workflow. It is sent after event
// After is recorded, and again when N has risen.
type Signal struct {
	To    string // workflow id
	N     int64
	After int64
	Notes int // that the receiver has after it
}

// Done is how a workflow ends.
type Done struct {
	Status  string // of the objective or plan
	Failure string // for people
}
