package shown

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// An Interrupt is a gate, and the work that waits or has waited at it.
type Interrupt struct {
	Gate        opt.Gate
	Since       a2a.Time // since when the task waits
	TaskID      string   // of the A2A task that waits
	TaskName    string
	ObjectiveID string
	Objective   string // its name
	Planner     string // that made its plans, as its metadata has it; only in lists
	ContextID   string
	Principal   string   // who requested the objective
	Shapers     []string // other principals who shaped its work
	For         string   // in whose place the reader would decide, as a deputy; "" for its own
}

// Allows reports whether r may decide at the gate.
func (i *Interrupt) Allows(r Responder) bool {
	return i.Gate.Responders.Allow(r.Principal, r.Groups, i.shapers()...) || i.DeputyFor(r) != ""
}

// DeputyFor returns who is absent and in whose place r may decide at the gate; "" for no one.
func (i *Interrupt) DeputyFor(r Responder) string {
	seat := i.Gate.DeputyFor(r.Principal, r.Groups, r.Seats, i.shapers()...)
	if seat == nil {
		return ""
	}
	return seat.Principal
}

func (i *Interrupt) shapers() []string { return append([]string{i.Principal}, i.Shapers...) }

// MayStand reports whether a principal may be behind standing decisions about gates like this one.
func (i *Interrupt) MayStand(principal string, groups []string) bool {
	return i.Gate.Responders.MayStand(principal, groups, i.shapers()...)
}

// WaitsFor reports whether i waits for r: r may decide and has not voted.
func (i *Interrupt) WaitsFor(r Responder) bool { return i.Allows(r) && !i.Gate.Voted(r.Principal) }

// An InterruptFilter selects interrupts for a list. Zero members select everything.
type InterruptFilter struct {
	Kind        opt.GateKind `param:"kind"`
	ObjectiveID string       `param:"objectiveId,id"`
	ContextID   string       `param:"contextId,id"`
	For         *Responder   // only gates that wait for this one
	Text        string       // only gates whose texts, names or ids have all words of this, in any case
	Urgent      bool         // the nearest expiry first; those that never expire are last, the longest wait first
	After       Cursor       // the last one of the page before
	Limit       int          `param:"pageSize,page of 50"` // at least 1, or the journal returns all
}

// A Responder may answer gates.
type Responder struct {
	Principal string
	Groups    []string
	Seats     []opt.Seat // in which Principal may decide as a deputy
}

// A GateRecord is a gate, open or closed, as it was shown last, with all replies to it.
type GateRecord struct {
	Interrupt
	Open      bool
	TaskState opt.TaskState // of the task now
	Refined   int           // how often the object was sent back at earlier gates of the task
	SentBack  string        // id of the latest of these; "" for none
	Later     string        // id of the gate at which the task waits now, if that is another one
	Replies   []GateReply   // in the order in which they were recorded
}

// A GateReply is a reply to a gate, or its expiry, which has no reply.
type GateReply struct {
	Decision opt.Decision
	Reply    *opt.Reply // nil for an expiry
}

// Closed returns the reply that has closed the gate, nil if none has.
func (r *GateRecord) Closed() *GateReply {
	for i := range r.Replies {
		if r.Replies[i].Decision.Closed {
			return &r.Replies[i]
		}
	}
	return nil
}

// A DecisionCursor is a position in the decisions of an objective: the number of the
// event that brought the last one.
type DecisionCursor int64

// A DecisionPage is a page of the decisions of an objective, in the order in which
// they were recorded.
type DecisionPage struct {
	Decisions []opt.Decision
	Last      DecisionCursor   // of the last one
	More      bool             // there are others after it
	Head      opt.DecisionHead // of all decisions, not signed
}
