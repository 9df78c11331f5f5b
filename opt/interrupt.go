package opt

import (
	"encoding/json"
	"strconv"
	"strings"

	"longhaul/a2a"
)

// An Interrupt is a gate, and the work that waits or has waited at it.
type Interrupt struct {
	Gate        Gate
	Since       a2a.Time // since when the task waits
	TaskID      string   // of the A2A task that waits
	TaskName    string
	ObjectiveID string
	Objective   string // its name
	ContextID   string
	Principal   string   // who requested the objective
	Shapers     []string // other principals who shaped its work
}

// requesters lists all who shaped the work.
func (i *Interrupt) requesters() []string { return append([]string{i.Principal}, i.Shapers...) }

// MayBeAnsweredBy reports whether r may decide at the gate.
func (i *Interrupt) MayBeAnsweredBy(r Responder) bool {
	return i.Gate.Responders.Allow(r.Principal, r.Groups, i.requesters()...)
}

// WaitsFor reports whether i waits for r: r may decide and has not voted.
func (i *Interrupt) WaitsFor(r Responder) bool {
	return i.MayBeAnsweredBy(r) && !i.Gate.Voted(r.Principal)
}

// An InterruptFilter selects interrupts for a list. Zero members select everything.
type InterruptFilter struct {
	Kind        GateKind   `param:"kind"`
	ObjectiveID string     `param:"objectiveId,id"`
	ContextID   string     `param:"contextId,id"`
	For         *Responder // only gates that wait for this one
	Text        string     // only gates whose texts, names or ids have all words of this, in any case
	Urgent      bool       // the nearest expiry first; those that never expire are last, the longest wait first
	After       Cursor     // the last one of the page before
	Limit       int        `param:"pageSize,page of 50"` // at least 1, or the journal returns all
}

// A Responder may answer gates.
type Responder struct {
	Principal string
	Groups    []string
}

// A GateRecord is a gate, open or closed, as it was shown last, with all replies to it.
type GateRecord struct {
	Interrupt
	Open      bool
	TaskState TaskState   // of the task now
	Refined   int         // how often the object was sent back at earlier gates of the task
	SentBack  string      // id of the latest of these; "" for none
	Later     string      // id of the gate at which the task waits now, if that is another one
	Replies   []GateReply // in the order in which they were recorded
}

// A GateReply is a reply to a gate, or its expiry, which has no reply.
type GateReply struct {
	Decision Decision
	Reply    *Reply // nil for an expiry
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

// GateIn returns the gate that m, the status message of a task, shows, with its object.
// It is nil for other messages.
func GateIn(m a2a.Message) *Gate {
	if m.Role != a2a.RoleAgent {
		return nil
	}
	for i, p := range m.Parts {
		var g Gate
		if p.Data != nil && json.Unmarshal(p.Data, &g) == nil && g.ID != "" && g.ID == m.MessageID {
			g.Object = m.Parts[i+1:]
			return &g
		}
	}
	return nil
}

// TaskOfGate returns the id of the A2A task whose gate has an id; ok is false if no
// gate can have that id.
func TaskOfGate(gateID string) (taskID string, ok bool) {
	i := strings.LastIndexByte(gateID, ':')
	if i < 0 {
		return "", false
	}
	n, err := strconv.Atoi(gateID[i+1:])
	return gateID[:i], err == nil && GateID(gateID[:i], n) == gateID
}
