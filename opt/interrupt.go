package opt

import (
	"strconv"
	"strings"

	"longhaul/a2a"
)

// An Interrupt is an open gate, and the work that waits at it.
type Interrupt struct {
	Gate        Gate
	Since       a2a.Time // since when the task waits
	TaskID      string   // of the A2A task that waits
	TaskName    string
	ObjectiveID string
	Objective   string // its name
	ContextID   string
	Principal   string // who requested the objective
}

// An InterruptFilter selects interrupts for a list. Zero members select everything.
type InterruptFilter struct {
	Kind        GateKind
	ObjectiveID string
	ContextID   string
	After       Cursor // the last one of the page before
	Limit       int    // 0 for no limit
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
