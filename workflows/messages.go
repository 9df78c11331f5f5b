package workflows

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// ObjectiveInput starts an objective, or goes on with one.
type ObjectiveInput struct {
	Opening   opt.Opening     `json:"opening"`
	MaxEvents int             `json:"maxEvents,omitempty"` // continue as new past so many events of history; 0 leaves it to the server
	Plain     bool            `json:"plain,omitempty"`     // the namespace has no search attributes of ours
	State     *ObjectiveState `json:"state,omitempty"`     // from the run before
}

// ObjectiveState is all that an objective carries from run to run.
type ObjectiveState struct {
	Objective opt.Objective   `json:"objective"`
	Request   *a2a.Message    `json:"request,omitempty"` // that began the work
	Notes     []a2a.Message   `json:"notes,omitempty"`   // said since, and no answer to a gate
	Begun     map[string]bool `json:"begun,omitempty"`   // plans that are workflows; true once told to report their end by signal
	Seen      map[string]bool `json:"seen,omitempty"`    // letters, so that a repeat is not heard twice
	Recorded  int64           `json:"recorded"`
}

// PlanInput starts a plan, or goes on with one.
type PlanInput struct {
	Plan      opt.Plan       `json:"plan"`
	ContextID string         `json:"contextId"`
	Tenant    string         `json:"tenant"`
	RootID    string         `json:"rootId"`
	Leaf      bool           `json:"leaf,omitempty"` // its results are the objective's
	Objective string         `json:"objective"`      // its name
	Request   *a2a.Message   `json:"request,omitempty"`
	Inputs    []a2a.Artifact `json:"inputs,omitempty"` // results of the plans before it
	Order     *Order         `json:"order,omitempty"`
	MaxEvents int            `json:"maxEvents,omitempty"`
	State     *PlanState     `json:"state,omitempty"`
}

// PlanState is what a plan carries from run to run beside the plan itself.
type PlanState struct {
	Notes    []a2a.Message   `json:"notes,omitempty"` // to the root task while this plan worked
	Seen     map[string]bool `json:"seen,omitempty"`
	Tried    map[string]int  `json:"tried,omitempty"` // attempts of earlier rounds, by task
	Shown    []string        `json:"shown,omitempty"` // artifacts that the root task shows already
	Reported int64           `json:"reported,omitempty"`
	Recorded int64           `json:"recorded"`
	Tell     bool            `json:"tell,omitempty"` // report the end by signal
}

// An Order is what an objective tells one of its plans to do.
type Order struct {
	Do     string         `json:"do"`
	Reason string         `json:"reason,omitempty"`
	Inputs []a2a.Artifact `json:"inputs,omitempty"` // with start: results of the plans before it
	Notes  []a2a.Message  `json:"notes,omitempty"`  // with start: what clients said meanwhile
}

// The orders.
const (
	startOrder  = "start"
	holdOrder   = "hold"   // show that it waits for a plan it depends on
	stopOrder   = "stop"   // cancel what runs and end
	reportOrder = "report" // report the end by signal: the objective that began it goes on as a new run
)

// PlanReport is what a plan tells its objective.
type PlanReport struct {
	PlanID string     `json:"planId"`
	Report opt.Report `json:"report"`
}

// AddPlan asks an objective for one more plan.
type AddPlan struct {
	Spec  opt.PlanSpec `json:"spec"`
	Start bool         `json:"start,omitempty"`
}

// CancelTask asks a plan to cancel one of its tasks.
type CancelTask struct {
	TaskID    string `json:"taskId"`
	Principal string `json:"principal"`
}
