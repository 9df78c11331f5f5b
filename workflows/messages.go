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
	Again     string          `json:"again,omitempty"`     // begin a new attempt at State's objective, in this status
	Polite    bool            `json:"polite,omitempty"`    // before it begins it asks whether others work in its context
	IdleFor   int64           `json:"idleFor,omitempty"`   // seconds after which it is canceled unless it was started; 0 for never
	State     *ObjectiveState `json:"state,omitempty"`     // from the run before
}

// ObjectiveState is all that an objective carries from run to run.
type ObjectiveState struct {
	Objective opt.Objective   `json:"objective"`
	Request   *a2a.Message    `json:"request,omitempty"` // that began the work
	Notes     []a2a.Message   `json:"notes,omitempty"`   // said since, and no answer to a gate
	Begun     map[string]bool `json:"begun,omitempty"`   // plans that are workflows; true once told to report their end by signal
	Seen      map[string]bool `json:"seen,omitempty"`    // letters, so that a repeat is not heard twice
	Orders    []PlanOrder     `json:"orders,omitempty"`
	Before    []*opt.Plan     `json:"before,omitempty"`  // with Again: the plans of the attempt before, with their tasks
	Turn      string          `json:"turn,omitempty"`    // where it stands in the queue of its context
	Unclear   bool            `json:"unclear,omitempty"` // its context takes it for one that works
	Begin     bool            `json:"begin,omitempty"`   // it begins once it may
	Recorded  int64           `json:"recorded"`
	IdleSince a2a.Time        `json:"idleSince,omitzero"` // when IdleFor began
}

// A PlanOrder is an order that a plan has still to be given.
type PlanOrder struct {
	PlanID string `json:"planId"`
	Order  Order  `json:"order"`
}

// PlanInput starts a plan, or goes on with one.
type PlanInput struct {
	Plan      opt.Plan       `json:"plan"`
	ContextID string         `json:"contextId"`
	Tenant    string         `json:"tenant"`
	RootID    string         `json:"rootId"`
	Leaf      bool           `json:"leaf,omitempty"`   // its results are the objective's
	Shared    bool           `json:"shared,omitempty"` // it asks before it goes on after a rest
	Objective string         `json:"objective"`        // its name
	Request   *a2a.Message   `json:"request,omitempty"`
	Inputs    []a2a.Artifact `json:"inputs,omitempty"` // results of the plans before it
	Order     *Order         `json:"order,omitempty"`
	Attempt   int            `json:"attempt,omitempty"` // of the objective; 0 or 1 for the first
	MaxEvents int            `json:"maxEvents,omitempty"`
	State     *PlanState     `json:"state,omitempty"`
}

// PlanState is what a plan carries from run to run beside the plan itself.
type PlanState struct {
	Notes    []a2a.Message   `json:"notes,omitempty"` // to the root task while this plan worked
	Seen     map[string]bool `json:"seen,omitempty"`
	Tried    map[string]int  `json:"tried,omitempty"`    // attempts of earlier rounds, by task
	Shown    []string        `json:"shown,omitempty"`    // artifacts that the root task shows already
	Reported int64           `json:"reported,omitempty"` // number of the latest report
	Recorded int64           `json:"recorded"`
	Tell     bool            `json:"tell,omitempty"`    // report the end by signal
	Changes  int64           `json:"changes,omitempty"` // that clients made
	Shared   bool            `json:"shared,omitempty"`  // it asks before it goes on after a rest
	Leave    bool            `json:"leave,omitempty"`   // if Shared: it may begin tasks
	Owed     []string        `json:"owed,omitempty"`    // tasks whose next round waits for Leave
}

// An Order is what an objective tells one of its plans to do.
type Order struct {
	Do     string         `json:"do"`
	Reason string         `json:"reason,omitempty"`
	Inputs []a2a.Artifact `json:"inputs,omitempty"` // with start: results of the plans before it
	Notes  []a2a.Message  `json:"notes,omitempty"`  // with start: what clients said meanwhile
	Change *opt.Change    `json:"change,omitempty"` // with change
	Leaf   bool           `json:"leaf,omitempty"`   // with change: the plan's results are the objective's
	Asks   bool           `json:"asks,omitempty"`   // with start: the turn in the context is somebody else's
	Taken  bool           `json:"taken,omitempty"`  // the objective takes it as done
	Heard  int64          `json:"heard,omitempty"`  // with Taken: the number of the plan's latest report that it had heard by then
}

// The orders.
const (
	startOrder  = "start"
	holdOrder   = "hold"   // show that it waits for a plan it depends on
	pauseOrder  = "pause"  // begin no other task
	resumeOrder = "resume" // go on
	stopOrder   = "stop"   // cancel what runs and end
	shareOrder  = "share"  // ask before going on after a rest: others want the context
	goOrder     = "go"     // go on after a rest
	changeOrder = "change" // take in what the objective has changed about it
	freeOrder   = "free"   // show that it waits for its turn alone
	reportOrder = "report" // report the end by signal: the objective that began it goes on as a new run
)

// PlanReport is what a plan tells its objective.
type PlanReport struct {
	PlanID  string     `json:"planId"`
	Report  opt.Report `json:"report"`
	Attempt int        `json:"attempt,omitempty"` // of the plan
}

// ContextInput starts the queue of a context, or goes on with it.
type ContextInput struct {
	Tenant    string        `json:"tenant"`
	ContextID string        `json:"contextId"`
	MaxEvents int           `json:"maxEvents,omitempty"`
	State     *ContextState `json:"state,omitempty"` // from the run before
}

// Enter asks a context for a turn.
type Enter struct {
	ObjectiveID string   `json:"objectiveId"`
	Behind      []string `json:"behind,omitempty"` // objectives that are known to have begun
}

// A Slot tells a context what an objective does with its turn.
type Slot struct {
	ObjectiveID string `json:"objectiveId"`
	Do          string `json:"do"`
}

// What an objective does with its turn.
const (
	releaseSlot = "release" // it cannot go on
	askSlot     = "ask"     // it can go on again
	leaveSlot   = "leave"   // it has ended
)

// A Join tells an objective that others want its context.
type Join struct {
	Tenant string `json:"tenant"`
	Held   bool   `json:"held,omitempty"` // it has the turn
}

// AddPlan asks an objective for one more plan.
type AddPlan struct {
	Spec  opt.PlanSpec `json:"spec"`
	Start bool         `json:"start,omitempty"`
	Seen  int64        `json:"seen,omitempty"` // the revision that the client saw; 0 for any
}

// ChangeObjective asks an objective for changes.
type ChangeObjective struct {
	Change *opt.Change         `json:"change,omitempty"`
	Status opt.ObjectiveStatus `json:"status,omitempty"`
	Seen   int64               `json:"seen,omitempty"`
}

// Replan asks an objective for new plans in place of those that have not ended.
type Replan struct {
	Reason string `json:"reason,omitempty"`
	Seen   int64  `json:"seen,omitempty"`
}

// Claim asks an objective whether a client has seen its latest revision, and
// makes a new one for the change that the client is about to ask a plan for.
type Claim struct {
	Seen int64 `json:"seen"`
}

// AgainPlan asks an objective for a new attempt at a plan of it that failed.
type AgainPlan struct {
	Plan   opt.Plan       `json:"plan"`   // with its tasks and what they made
	Status opt.PlanStatus `json:"status"` // pending or working
	Seen   int64          `json:"seen,omitempty"`
}

// Reorder asks an objective to have a plan of it depend on others, beside other
// changes of the plan.
type Reorder struct {
	PlanID string      `json:"planId"`
	Change *opt.Change `json:"change"`
	Seen   int64       `json:"seen,omitempty"`
}

// ChangePlan asks a plan for changes.
type ChangePlan struct {
	Change *opt.Change    `json:"change,omitempty"`
	Status opt.PlanStatus `json:"status,omitempty"`
	Met    bool           `json:"met,omitempty"` // what it depends on is done
}

// AddTasks asks a plan for more tasks.
type AddTasks struct {
	Specs []opt.TaskSpec `json:"specs"`
}

// LinkTask asks a plan to have another A2A task stand in for a task.
type LinkTask struct {
	TaskID string `json:"taskId"`
	Link   string `json:"link"`
	Follow bool   `json:"follow,omitempty"` // it is a task of ours; else a client moves the task
}

// MoveTask asks a plan to move a task by hand.
type MoveTask struct {
	TaskID string        `json:"taskId"`
	State  opt.TaskState `json:"state"`
	Text   string        `json:"text,omitempty"` // for clients
}

// CancelTask asks a plan to cancel one of its tasks.
type CancelTask struct {
	TaskID    string `json:"taskId"`
	Principal string `json:"principal"`
}
