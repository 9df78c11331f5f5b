package drive

import (
	"maps"

	"longhaul/opt"
	"longhaul/opt/machine"
)

// A Driver carries out what a machine wants, in one run of its workflow. It does not wait
// between the inputs that have arrived and the work that follows from them.
type Driver struct {
	host    Host
	machine Machine
	rec     recorder
	leave   leave

	inbox      []machine.Input
	canceled   bool              // the machine has got the cancellation
	activities map[string]*call  // by key
	tries      map[string]Tries  // by key: activities that begin again, without a ride
	pauses     map[string]func() // of activities that wait to begin again, by key
	paused     map[string]int    // how often, by key
	timers     map[string]func()
	children   map[machine.Child]bool // begun, without N and After
	starting   int                    // children whose start Temporal has not confirmed yet
	signals    map[string]bool        // outstanding, by receiver
	ended      map[string]bool        // keys of activities
	elapsed    map[string]bool        // keys of timers: an attempt waits under the key of its activity
	rewinds    bool                   // another epoch is to begin
	reset      bool                   // likewise, before any input: an operator has reset the run
}

// A call is an activity that runs.
type call struct {
	cancel   func()
	canceled bool
}

// New returns the driver of a run.
func New(h Host, m Machine, s Source) *Driver {
	d := &Driver{
		host: h, machine: m, rec: recorder{objectiveID: s.ObjectiveID, source: s.Name, last: s.N, done: s.N, under: s.Under, rides: s.Rides},
		activities: map[string]*call{}, tries: map[string]Tries{}, timers: map[string]func(){},
		pauses: map[string]func(){}, paused: map[string]int{},
		children: map[machine.Child]bool{}, signals: map[string]bool{}, ended: map[string]bool{}, elapsed: map[string]bool{},
	}
	maps.Copy(d.tries, s.Tries)
	return d
}

// Pauses reports whether an activity waits to begin again.
func (d *Driver) Pauses(key string) bool { return d.pauses[key] != nil }

// Tries returns the tries at each activity that waits to begin again, for the next run: the state
// of the machine does not have them.
func (d *Driver) Tries() map[string]Tries {
	out := map[string]Tries{}
	for key, tries := range d.tries { // it pauses, or waits until an epoch is recorded
		if tries.Begun > 0 && d.activities[key] == nil && !d.ended[key] {
			out[key] = tries
		}
	}
	return out
}

// Put has the next step give an input to the machine.
func (d *Driver) Put(in machine.Input) { d.inbox = append(d.inbox, in) }

// Rewind has the next step begin another epoch: the journal may be ahead of workflows that
// were restored.
func (d *Driver) Rewind() { d.rewinds = true }

// Rest returns the events that are not known to be in the journal, which a run that ends
// gives to the one that reads its result.
func (d *Driver) Rest() []opt.Batch { return d.rec.batches() }

// Open gives the input of the run alone to the machine and records the events at once. A
// repeat of the first workflow task makes the same events, since its time is the start of
// the run. Those of a plan that has to set its rows back come after that.
func (d *Driver) Open() {
	d.rec.add(d.machine.Handle(d.host.Began(), machine.Opened{})...)
	if len(d.rec.pending) > 0 && !d.machine.Wants().Rewind {
		if batches := d.rec.batches(); d.host.RecordNow(batches) {
			d.rec.confirm(batches)
		}
	}
}

// Next is what a run does after a step.
type Next int

// What a run does after a step.
const (
	Wait     Next = iota // for something to arrive
	Continue             // as a new run
	Finish               // it is over
)

// Step carries out the wants of the machine, as far as that is possible now.
func (d *Driver) Step() Next {
	for {
		d.reset = d.host.Reset() || d.reset
		d.deliver()
		if d.reset { // before it takes in anything that has happened since
			if d.rec.writing {
				return Wait
			}
			d.rewind(0)
		}
		d.take()
		if !d.leave.now {
			d.handle(machine.Begin{})
		}
		w := d.machine.Wants()
		if d.rewinds || w.Rewind {
			if d.rec.writing { // the events may be recorded or not
				return Wait
			}
			d.rewind(0)
			continue
		}
		if d.rec.forget(w) {
			return Finish
		}
		if d.reconcile(w); len(d.inbox) > 0 {
			continue
		}
		d.host.Show(d.rec.repeats)
		switch {
		case w.Done != nil && d.mayEnd():
			return Finish
		case d.leave.now && !w.Bound && d.idle() && d.rec.recorded():
			return Continue
		case w.Done == nil && d.shouldLeave():
			d.beginLeaving()
			continue
		}
		d.rec.advance(d)
		d.limitLeaving()
		return Wait
	}
}

// deliver delivers all that has arrived.
func (d *Driver) deliver() {
	for d.host.Arrived() {
		d.host.Deliver()
	}
}

// take gives all inputs that have arrived to the machine.
func (d *Driver) take() {
	for {
		d.deliver()
		if d.host.Canceled() && !d.canceled {
			d.canceled = true
			d.Put(machine.Canceled{})
		}
		if len(d.inbox) == 0 {
			return
		}
		inbox := d.inbox
		d.inbox = nil
		for _, in := range inbox {
			d.handle(in)
		}
	}
}

func (d *Driver) handle(in machine.Input) {
	d.rec.add(d.machine.Handle(d.host.Now(), in)...)
}

// reconcile starts wanted work that does not run, and stops unwanted work. A run that is about
// to continue as new starts nothing.
func (d *Driver) reconcile(w machine.Wants) {
	d.stopUnwanted(w)
	for _, s := range w.Signals {
		if !d.signals[s.To] && d.rec.has(s.After) {
			d.send(s)
		}
	}
	if d.leave.now {
		return
	}
	d.startDue(w)
	for _, a := range w.Activities {
		if d.activities[a.Key] == nil && d.pauses[a.Key] == nil && !a.Stop && d.rec.has(a.After) {
			d.startActivity(a)
		}
	}
}

// idle reports whether no input has arrived, and nothing is outstanding whose result only this
// run gets. What waits to begin again can begin in the next run.
func (d *Driver) idle() bool {
	return len(d.inbox) == 0 && !d.host.Arrived() && len(d.activities) == 0 && len(d.signals) == 0 && d.starting == 0
}

// mayEnd reports whether the workflow may end: all its events are recorded, or are part of its
// result.
func (d *Driver) mayEnd() bool {
	return d.idle() && (d.rec.recorded() || d.rec.rides != nil && d.rec.rides() && !d.rec.rewound) && !d.rec.writing
}

// rewind begins another epoch, above one that the journal has.
func (d *Driver) rewind(epoch int) {
	r := &d.rec
	in := machine.Rewound{Epoch: epoch, Done: r.done, Pending: r.pending}
	if r.rewound { // again
		in.Done, in.Pending = r.pending[0].N, r.pending[1:]
	}
	d.rewinds, d.reset = false, false
	d.handle(in)
}
