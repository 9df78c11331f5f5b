package sim

import (
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

const tenant = "t"

// epoch is the first time of a world, in milliseconds.
const epoch = 1_000_000_000_000

// A world is all that there is in a schedule: runs of workflows, messages on their way, the
// journal, and the facts that the invariants compare with. It decides nothing: a [director],
// [temporal], the [workers], the [clients] and an operator act in it.
type world struct {
	now       int64
	runs      []*run          // open, in the order in which their workflows first began
	latest    map[string]*run // by workflow id, open or not
	ops       []op
	calls     []*call
	journal   *journal
	used      map[string]bool // keys of activities and timers, by workflow
	histories bool            // histories are kept, and may be reset
	replays   bool            // they are replayed as well
	forks     bool            // clients make forks
	rules     int             // version of the rules of new runs
	skew      int64           // how far the clock of the API is ahead
	entered   map[string]*run // of contexts that know an objective, as the reconciler has it
	facts     facts           // the records of the invariants

	n, n2, messages, specs int // names given so far

	verbose bool
	script  []string
}

func newWorld(verbose bool) *world {
	w := &world{now: epoch, latest: map[string]*run{}, used: map[string]bool{}, rules: machine.Rules, entered: map[string]*run{}, facts: newFacts(), verbose: verbose}
	w.journal = &journal{w: w, tables: newTables(), stored: func(opt.Batch, opt.Event) {}}
	return w
}

func (w *world) put(o op) { w.ops = append(w.ops, o) }

func (w *world) at() a2a.Time { return a2a.AtMillis(w.now) }

// apiTime returns the time after ms milliseconds, by the clock of the API.
func (w *world) apiTime(ms int64) a2a.Time { return a2a.AtMillis(w.now + w.skew + ms) }

// advance advances the time, but not beyond the patience of running calls.
func (w *world) advance(to int64) {
	for _, o := range w.ops {
		if o.call != nil && !o.repeat {
			to = min(to, o.call.begunAt+patience)
		}
	}
	w.now = max(w.now, to)
}

// forget notes that the keys of a workflow may be used again: it begins again.
func (w *world) forget(id string) {
	forget(w.used, id+" ")
}

// retrying reports whether an undelivered command may retry an objective.
func (w *world) retrying(id string) bool {
	if r := w.open(id); r != nil {
		s := &r.m.(objectiveHost).o.State
		if len(r.arrived) > 0 || s.Current != nil || len(s.Commands) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(w.ops, func(o op) bool { return o.call != nil && o.call.objectiveID == id })
}

// open returns the run of a workflow, nil if there is none.
func (w *world) open(id string) *run {
	for _, r := range w.runs {
		if r.id == id {
			return r
		}
	}
	return nil
}

// planState returns the latest state of a plan, nil if it has none or an operator has ended it.
func (w *world) planState(id string) *machine.PlanState {
	if r := w.latest[id]; r != nil && !r.terminated {
		return &r.m.(planHost).p.State
	}
	return nil
}

// unended returns the state of the run of a plan, nil if there is none or its objective shows p as over.
func (w *world) unended(r *run, p *opt.Plan) *machine.PlanState {
	if r == nil || p.Over() {
		return nil
	}
	return &r.m.(planHost).p.State
}

func (w *world) remove(id string) {
	w.runs = slices.DeleteFunc(w.runs, func(r *run) bool { return r.id == id })
}

// An opKind is the kind of an op.
type opKind int

const (
	signal     opKind = iota // from one workflow to another
	startChild               // of an objective
	childEnds                // its result is sent to the run that began it
	letter                   // from the API to a workflow
	command                  // from the API to an objective; one that retries begins a run
	enter                    // from the API to a context, whose workflow begins if it does not run
	start                    // from the API: an objective's workflow begins
	lost                     // from the reconciler: an operator has ended the workflow of an objective or a plan
	callback                 // from the API to a plan: a callback for a task
	lateRecord               // of a worker that was taken for lost: it writes after all
)

// An op is a message that is sent and not delivered; it may be delivered at any
// time.
type op struct {
	kind    opKind
	to      string
	in      machine.Input
	from    *run
	answer  int // the call of from that gets the answer
	signal  machine.Signal
	child   machine.Child
	result  int // the call of from that gets the result of the child
	state   []byte
	resets  int // how often the objective that begins a child was reset before
	end     planEnd
	batches []opt.Batch
	report  *op    // of a recording: the message that follows
	kept    bool   // likewise: Temporal has the events in the result of a workflow
	call    *call  // of the API
	context string // to which a request goes
	repeat  bool   // it was delivered before, or comes late
}
