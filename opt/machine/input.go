package machine

import (
	"errors"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// An Input is an input of a machine: one of the types of this file.
type Input interface{ input() }

// Opened is the first input of a machine, in its first run.
type Opened struct{}

// Begin says that all inputs that have arrived were handled, so tasks may begin.
// The driver sends it before it carries out the wants, but not in a run that is
// about to continue as new, which starts nothing.
type Begin struct {
	Unrecorded bool // the journal does not have the epoch of the run yet
}

// Canceled says that the workflow was asked to stop: by a client, or by an operator in
// Temporal's UI.
type Canceled struct {
	Principal string `json:"principal,omitempty"` // of the client; "" for an operator
	Text      string `json:"text,omitempty"`      // its reason, for people; "" for none
}

// event returns the stop of o that follows.
func (in Canceled) event(o *opt.Objective) opt.Event {
	e := opt.Event{Reason: string(opt.ObjectiveCanceled), Principal: in.Principal}
	if in.Text != "" {
		e.Status = a2a.AgentMessage(o.ContextID, o.RootID(), ":canceled", in.Text)
	}
	return e
}

// Leaving says that the run is about to continue as new: the plans that it began
// must report their end by signal.
type Leaving struct{}

// Rewound says that the journal has, or may have, events of this source that this run does
// not know: an operator has reset the workflow or restored Temporal from an older copy.
type Rewound struct {
	Epoch   int         // the latest that the journal has; 0 if it is not known
	Done    int64       // number of the latest event that is known to be recorded
	Pending []opt.Event // the events after it
}

// Forgotten says that the journal takes nothing more from this source: an objective was reset to
// before one of its plans, or either to before it was begun again.
type Forgotten struct{}

// Held says that an activity was sent back before it began, since a quota is used up. It begins again later.
type Held struct{ Key, Text string }

// Letter is a message of a client.
type Letter struct{ opt.Letter }

// Command is a change that a client asks for.
type Command struct{ opt.Command }

// Reported is a report of a plan to its objective.
type Reported struct {
	PlanID string     `json:"planId"`
	Report opt.Report `json:"report"`
}

// Directed is a directive of an objective to one of its plans.
type Directed struct {
	Directive Directive      `json:"directive"`
	Notes     []a2a.Message  `json:"notes,omitempty"`     // messages to the root task, from NotesFrom on
	NotesFrom int            `json:"notesFrom,omitempty"` // how many of them the plan already has
	Shapers   []string       `json:"shapers,omitempty"`   // principals who shaped the work, all of them
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
// a run of it has not ended.
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

// PlanLost says that the workflow of a plan seems to have ended its attempt, and that no report will
// come: an operator has ended it, or Temporal has lost it. Who says so may have looked before it has
// begun, so the objective has it checked.
type PlanLost struct {
	PlanID  string `json:"planId"`
	Attempt int    `json:"attempt"` // at the plan
}

// ObjectiveLost is the first input of an objective whose former workflow is gone, in the same
// way as the plan in [PlanLost]: its work ends.
type ObjectiveLost struct{}

// Checked says whether the workflow of a plan about which [PlanLost] has come is gone.
type Checked struct {
	Key  string
	Gone bool
}

// Made is the result of a planner.
type Made struct {
	Key     string
	Plans   []opt.PlanSpec
	Planner string
	Reason  string // for people
	Failure string // why there are no plans, for clients; "" if there are
	Usage   *opt.Usage
}

// Loaded is an objective as the journal has it, whose former attempt has ended.
type Loaded struct {
	Key  string
	Kept opt.Kept
}

// Ended is the end of an activity of a task.
type Ended struct {
	Key     string
	Outcome opt.Outcome
	Failed  *Failure // in place of Outcome: the attempt failed
}

// A Failure is why an attempt failed.
type Failure struct {
	Code     string // a code
	Message  string // for clients
	Canceled bool   // it ended because it was canceled
	TimedOut bool   // the host has ended it, since it took longer than it may
}

// Looked is a standing decision about a gate that is about to open; the zero value for none.
type Looked struct {
	Key string
	By  opt.StandingUse
}

// Callback is a callback for a task.
type Callback struct{ opt.Callback }

// Watched is the content of a heartbeat of an activity elsewhere.
type Watched struct {
	Key string
	opt.Beat
}

// Followed is the result of following a linked task.
type Followed struct {
	Key       string
	State     opt.TaskState // "" if it has not ended
	Code      string
	Message   string
	Artifacts []a2a.Artifact
}

// Elapsed says that a timer has elapsed.
type Elapsed struct{ Key string }

// Delivered says that the N-th message to a workflow was delivered, or that the
// workflow does not exist.
type Delivered struct {
	To    string
	N     int64
	Notes int // of the signal
	Gone  bool
}

// Turn is a message of a context to one of its objectives.
type Turn struct {
	Attempt int    `json:"attempt"` // at the objective
	N       int64  `json:"n"`
	Request int64  `json:"request,omitempty"` // number of the latest request that it has acted upon
	Held    bool   `json:"held,omitempty"`    // the objective may work
	Tenant  string `json:"tenant"`
	Roll    bool   `json:"roll,omitempty"` // the objective has to answer whether it works
}

// TurnRequest is a message of an objective to its context.
type TurnRequest struct {
	ObjectiveID string   `json:"objectiveId"`
	Attempt     int      `json:"attempt"` // of the objective
	N           int64    `json:"n"`
	Want        TurnWant `json:"want"`
	At          a2a.Time `json:"at,omitzero"`         // of its place, while it waits for its first turn
	Answering   bool     `json:"answering,omitempty"` // it answers rolls; false under earlier rules
	Answers     int64    `json:"answers,omitempty"`   // number of the latest roll that it has answered
	Works       bool     `json:"works,omitempty"`     // some of its work may be under way
}

// Asked says that the activity which sends a request to the context has ended.
type Asked struct {
	Key    string
	Failed bool
}

// Listed has the root tasks of the open objectives of a context.
type Listed struct {
	Key            string
	Begun, Waiting []string
	Failed         bool
}

// Enter asks a context for the first turn of an objective, on its behalf.
type Enter struct {
	ObjectiveID string   `json:"objectiveId"`
	Attempt     int      `json:"attempt,omitempty"`
	At          a2a.Time `json:"at,omitzero"`        // of its place: those with earlier ones come first
	Behind      []string `json:"behind,omitempty"`   // root tasks of objectives that are known to have begun
	Starting    []string `json:"starting,omitempty"` // root tasks of objectives that are about to begin
	Waiting     int      `json:"waiting,omitempty"`  // how many others are recorded as waiting
}

// A TurnWant is what an objective wants of its context.
type TurnWant string

// The wants of an objective.
const (
	WantTurn  TurnWant = "turn"  // it can continue
	WantRest  TurnWant = "rest"  // it cannot continue, and gives its turn back
	WantLeave TurnWant = "leave" // it has ended
)

func (Opened) input()        {}
func (Begin) input()         {}
func (Canceled) input()      {}
func (Leaving) input()       {}
func (Rewound) input()       {}
func (Forgotten) input()     {}
func (Letter) input()        {}
func (Command) input()       {}
func (Reported) input()      {}
func (Directed) input()      {}
func (ChildStarted) input()  {}
func (ChildRefused) input()  {}
func (ChildEnded) input()    {}
func (PlanLost) input()      {}
func (ObjectiveLost) input() {}
func (Checked) input()       {}
func (Made) input()          {}
func (Loaded) input()        {}
func (Ended) input()         {}
func (Held) input()          {}
func (Callback) input()      {}
func (Watched) input()       {}
func (Followed) input()      {}
func (Looked) input()        {}
func (Elapsed) input()       {}
func (Delivered) input()     {}
func (Turn) input()          {}
func (TurnRequest) input()   {}
func (Asked) input()         {}
func (Listed) input()        {}
func (Enter) input()         {}

// ErrInput is returned by [Check].
var ErrInput = errors.New("members that it needs are missing or unknown")

// Check returns ErrInput if a machine could not handle an input that a signal has brought:
// Temporal's users may send a signal by hand.
func Check(in Input) error {
	if in, ok := in.(interface{ complete() bool }); ok && !in.complete() {
		return ErrInput
	}
	return nil
}

func (in Letter) complete() bool {
	return in.ObjectiveID != "" && in.TaskID != "" && in.Message.MessageID != ""
}
func (in Command) complete() bool {
	return in.ID != "" && in.ObjectiveID != "" && slices.Contains(opt.CommandKinds, in.Kind) && (in.Kind != opt.CreatePlan || in.Plan != nil)
}
func (in Reported) complete() bool {
	r := in.Report
	waits := r.Waits == "" || r.Waits.Waiting()
	return in.PlanID != "" && r.N > 0 && slices.Contains(opt.PlanStatuses, r.Status) && waits && r.Notes >= 0 && !slices.Contains(r.Open, nil)
}
func (in Canceled) complete() bool { return in.Principal != "" }
func (in PlanLost) complete() bool { return in.PlanID != "" }
func (in Directed) complete() bool {
	c := in.Command
	moves := c == nil || Command{*c}.complete() && (c.Kind != opt.UpdatePlan || slices.Contains(opt.PlanStatuses, opt.PlanStatus(c.Status)))
	return in.Directive.N > 0 && in.NotesFrom >= 0 && in.Directive.Notes >= 0 && moves
}
func (in Turn) complete() bool { return in.N > 0 }
func (in TurnRequest) complete() bool {
	return in.ObjectiveID != "" && (in.N > 0 || in.Want == WantLeave) && slices.Contains([]TurnWant{WantTurn, WantRest, WantLeave}, in.Want)
}
func (in Enter) complete() bool    { return in.ObjectiveID != "" }
func (in Callback) complete() bool { return in.ID != "" && in.TaskID != "" }
