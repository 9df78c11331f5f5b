package machine

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// An Input is something that a machine takes in: one of the types of this file.
type Input interface{ input() }

// Opened is the first input of a machine: what its first run was started with.
type Opened struct{}

// Begin says that everything that has arrived was taken in: what may begin, begins.
// The driver says it before it carries out the wants, and not in a run that is about
// to hand over to another, which starts nothing.
type Begin struct{}

// Canceled says that the workflow was asked to stop.
type Canceled struct{}

// Leaving says that the run is about to hand over to another: plans that it began
// are to report their end by signal.
type Leaving struct{}

// Letter is a message of a client.
type Letter struct{ opt.Letter }

// Command is a change that a client asks for.
type Command struct{ opt.Command }

// Reported is what a plan tells its objective.
type Reported struct {
	PlanID string     `json:"planId"`
	Report opt.Report `json:"report"`
}

// Directed is what an objective tells one of its plans.
type Directed struct {
	Directive Directive      `json:"directive"`
	Notes     []a2a.Message  `json:"notes,omitempty"`     // said to the root task, from NotesFrom on
	NotesFrom int            `json:"notesFrom,omitempty"` // how many the plan has already
	Inputs    []a2a.Artifact `json:"inputs,omitempty"`    // with Start: results of the plans before it
	Command   *opt.Command   `json:"command,omitempty"`   // to be answered in the report
}

// ChildStarted says that the workflow of a plan has begun an attempt, with the
// directive N.
type ChildStarted struct {
	PlanID  string
	Attempt int
	N       int64
}

// ChildRefused says that the workflow of a plan could not begin an attempt, since
// a run of it is still there.
type ChildRefused struct {
	PlanID  string
	Attempt int
}

// ChildEnded says that the workflow of a plan has ended an attempt: with its last
// report, or without one if an operator has ended it.
type ChildEnded struct {
	PlanID  string
	Attempt int
	Report  *opt.Report
}

// Made is what a planner came to.
type Made struct {
	Key     string
	Plans   []opt.PlanSpec
	Planner string
	Reason  string // for people
	Failure string // why there is no plan, for clients; "" if there is one
}

// Loaded is what the journal has of an objective whose former attempt ended.
type Loaded struct {
	Key  string
	Kept Kept
}

// Kept is an objective as the journal has it.
type Kept = opt.Kept

// Ended is how an activity of a task came out.
type Ended struct {
	Key     string
	Outcome opt.Outcome
	Failed  *Failure // in place of Outcome: the attempt failed
}

// A Failure is why an attempt failed.
type Failure struct {
	Code     string // in one word
	Message  string // for clients
	Canceled bool   // it ended since it was told to
}

// Followed is how the task came out that another one stands for.
type Followed struct {
	Key       string
	State     opt.TaskState // "" if it goes on
	Code      string
	Message   string
	Artifacts []a2a.Artifact
}

// Elapsed says that a timer has.
type Elapsed struct{ Key string }

// Told says that the N-th message to a workflow was delivered, or that the
// workflow is not there.
type Told struct {
	To   string
	N    int64
	Gone bool
}

// Turn is what a context tells one of its objectives.
type Turn struct {
	N       int64  `json:"n"`
	Request int64  `json:"request,omitempty"` // number of the latest request that it has acted upon
	Held    bool   `json:"held,omitempty"`    // the objective may work
	Tenant  string `json:"tenant"`
}

// TurnRequest is what an objective tells its context.
type TurnRequest struct {
	ObjectiveID string   `json:"objectiveId"`
	Attempt     int      `json:"attempt"` // of the objective
	N           int64    `json:"n"`
	Want        TurnWant `json:"want"`
}

// Enter asks a context for the first turn of an objective, on its behalf.
type Enter struct {
	ObjectiveID string   `json:"objectiveId"`
	Attempt     int      `json:"attempt,omitempty"`
	At          a2a.Time `json:"at,omitzero"`        // of its place: those with earlier ones come first
	Behind      []string `json:"behind,omitempty"`   // objectives that are known to have begun
	Starting    []string `json:"starting,omitempty"` // objectives that are about to
}

// A TurnWant is what an objective wants of its context.
type TurnWant string

// The wants of an objective.
const (
	WantTurn  TurnWant = "turn"  // it can go on
	WantRest  TurnWant = "rest"  // it cannot go on, and gives its turn back
	WantLeave TurnWant = "leave" // it has ended
)

func (Opened) input()       {}
func (Begin) input()        {}
func (Canceled) input()     {}
func (Leaving) input()      {}
func (Letter) input()       {}
func (Command) input()      {}
func (Reported) input()     {}
func (Directed) input()     {}
func (ChildStarted) input() {}
func (ChildRefused) input() {}
func (ChildEnded) input()   {}
func (Made) input()         {}
func (Loaded) input()       {}
func (Ended) input()        {}
func (Followed) input()     {}
func (Elapsed) input()      {}
func (Told) input()         {}
func (Turn) input()         {}
func (TurnRequest) input()  {}
func (Enter) input()        {}
