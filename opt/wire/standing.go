package wire

import (
	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/standing"
)

// A Standing is a standing decision.
type Standing struct {
	standing.Decision
	State standing.State   `json:"state"`
	Uses  []standing.UseAt `json:"uses,omitempty"` // the latest 200, the latest first; not in lists
}

// A StandingList has the latest 200 standing decisions of a tenant.
type StandingList struct {
	Standing  []Standing          `json:"standing"`  // the newest first
	Proposals []standing.Proposal `json:"proposals"` // by equal answers of the caller
}

// A NewStanding is a standing decision to make, at a gate whose rules say who may.
type NewStanding struct {
	GateID   string     `json:"interruptId"`
	Action   opt.Action `json:"action,omitempty"` // accept without one
	Holds    string     `json:"holds"`            // the condition on the object, in CEL
	For      string     `json:"for"`              // a duration such as 8h or 7d, up to 31d
	Most     int        `json:"most"`             // uses
	Feedback string     `json:"feedback,omitempty"`
}

// An Absence is a time in which a deputy may decide at gates in the place of a principal.
type Absence struct {
	opt.Absence
	Active bool `json:"active"` // now
}

// An AbsenceList has the 200 absences of a tenant that end last.
type AbsenceList struct {
	Absences []Absence `json:"absences"` // these first
}

// A NewAbsence is an absence to make.
type NewAbsence struct {
	Principal string    `json:"principal,omitempty"` // the caller without one
	Groups    []string  `json:"groups,omitempty"`    // of another principal than the caller
	Deputy    string    `json:"deputy"`
	From      *a2a.Time `json:"from,omitempty"` // now without one
	Until     a2a.Time  `json:"until"`
}
