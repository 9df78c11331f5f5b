// Package drive carries out the wants of a machine. A [Driver] gives all inputs that have arrived
// to its machine, asks it for its wants, starts missing work, stops unwanted work, and
// has the events recorded before anything is sent or begun that depends on them. It is pure, as
// the machines are: a [Host] does the work, in Temporal (package workflows) or in the simulation
// (package sim), so the simulation plays the driver that runs.
//
// Each file calls those below it:
//
//	driver.go    one step: inputs, wants, and when a run ends or continues as new
//	leave.go     when a long run continues as a new one
//	work.go      activities, children, timers and signals
//	recorder.go  inputs for the machine, and its events until the journal has them
package drive

import (
	"time"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// A Machine decides what happens: one of those in package machine.
type Machine interface {
	Handle(now a2a.Time, in machine.Input) []opt.Event
	Wants() machine.Wants
}

// A Host is one run of a workflow. No method waits, except RecordNow. A function that a method
// takes is called by a later Deliver, at most once: perhaps never after a cancellation.
type Host interface {
	Began() a2a.Time // the time of the first workflow task
	Now() a2a.Time
	Arrived() bool  // whether there is something to deliver
	Deliver()       // calls the function that waits for a thing that has arrived, or Put
	Canceled() bool // the workflow was asked to stop
	Reset() bool    // an operator has reset the workflow to an earlier point; true once for each time
	Size() Size

	// Run begins an activity, which records ride before it does anything else, after tries at it.
	Run(a machine.Activity, ride []opt.Batch, tries Tries, ended func(End)) (cancel func())
	// Begin begins the workflow of a plan. A plan that fails without a result has no report.
	Begin(c machine.Child, begun func(ok bool), ended func(report *opt.Report, ride []opt.Batch))
	// Send sends the latest message to another workflow.
	Send(s machine.Signal, sent func(Receipt))
	Sleep(t machine.Timer, elapsed func()) (cancel func())

	// Record writes events, and then sends the message that waits for them.
	Record(r Recording, done func(Recorded))
	// RecordNow does the same within the workflow task, if journal and receiver answer at once. A
	// refusal is an error like others.
	RecordNow(r Recording) Recorded

	Show(repeats bool) // the state in Temporal's UI, and whether the journal does not take the events
	Warn(text string, keysAndValues ...any)
}

// An End is how a run of an activity has ended.
type End struct {
	Input    machine.Input
	Returned bool // what rode in it is in the journal, unless its outcome was refused
	Again    bool // it has to begin again as the same attempt: no worker has taken it, or it was lost or sent back
	Tries    Tries
	Pause    Pause  // before it begins again
	Held     string // why it was sent back, for clients; "" if they need not know
}

// Tries are those that were made at one attempt of an activity.
type Tries struct {
	Begun int `json:"begun"`          // may have begun; their number is part of the next one's
	Lost  int `json:"lost,omitempty"` // of them: their workers were lost, which may happen so often only
}

// Lose adds n tries whose workers were lost.
func (t Tries) Lose(n int) Tries { return Tries{Begun: t.Begun + n, Lost: t.Lost + n} }

// A Pause says how long an activity waits before it begins again. Each pause is twice as long as
// the one before, since each makes the history longer.
type Pause struct{ First, Longest time.Duration }

// A Recording is what Record writes and sends. Without Again, one try is made. With it, and without
// a message, it is tried until the journal answers.
type Recording struct {
	Batches []opt.Batch
	Again   bool
	Report  *machine.Signal // nil for none
}

// A Recorded is how a recording has ended.
type Recorded struct {
	Refused *opt.RewoundError // for good
	Err     error             // it may have failed
	Sent    Receipt           // of the message: Taken or Gone; any other may be lost
}

// A Receipt says how a signal was received.
type Receipt string

// The receipts.
const (
	Taken   Receipt = "taken"
	Gone    Receipt = "gone"    // the workflow is not there
	Refused Receipt = "refused" // although the workflow may be there
)

// A Size is the size of the history of a run.
type Size struct {
	Events  int
	Long    bool // the run should continue as a new one when it can
	TooLong bool // it must, even if that holds up work
}

// A Source is where the events of a machine belong, and what its run has from the one before. That
// of a context has no events.
type Source struct {
	ObjectiveID string
	Name        string
	N           int64                 // of the latest event that is in the journal
	Under       func() int            // of a plan: the latest epoch of its objective that it knows; nil for others
	Rides       func(done int64) bool // whether the events after that one go with the result of the workflow; nil for never
	Reports     bool                  // what records its events sends a message that waits for them, too
	Patient     bool                  // but not one that a task which begins beside it may make needless
	Tries       map[string]Tries      // [Driver.Tries] of the run before
}

// signalPause is how long a driver waits after Temporal has refused one of its signals.
const signalPause = 2 * time.Second
