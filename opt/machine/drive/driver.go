package drive

import (
	"longhaul/opt"
	"longhaul/opt/machine"
)

// A Driver carries out what a machine wants, in one run of its workflow. It does not wait
// between the inputs that have arrived and the work that follows from them.
type Driver struct {
	host     Host
	rec      *recorder
	work     *work
	leave    leave
	canceled bool // the machine has got the cancellation
}

// New returns the driver of a run.
func New(h Host, m Machine, s Source) *Driver {
	r := &recorder{host: h, machine: m, objectiveID: s.ObjectiveID, source: s.Name, last: s.N, done: s.N, under: s.Under, rides: s.Rides, reports: s.Reports}
	w := newWork(h, r, s)
	return &Driver{host: h, rec: r, work: w, leave: leave{host: h, work: w}}
}

// Pauses reports whether an activity waits to begin again.
func (d *Driver) Pauses(key string) bool { return d.work.pauses[key] != nil }

// Tries returns the tries at each activity that waits to begin again, for the next run: the state
// of the machine does not have them.
func (d *Driver) Tries() map[string]Tries { return d.work.resumable() }

// Put has the next step give an input to the machine.
func (d *Driver) Put(in machine.Input) { d.rec.put(in) }

// Rewind has the next step begin another epoch: the journal may be ahead of workflows that
// were restored.
func (d *Driver) Rewind() { d.rec.rewinds = true }

// Rest returns the events that are not known to be in the journal, which a run that ends
// gives to the one that reads its result.
func (d *Driver) Rest() []opt.Batch { return d.rec.batches() }

// Open gives the input of the run alone to the machine and records the events at once. A
// repeat of the first workflow task makes the same events, since its time is the start of
// the run, and the same message that waits for them. Those of a plan that has to set its rows back
// come after that. Those of a plan that is about to begin a task ride in its activity.
func (d *Driver) Open() {
	d.rec.add(d.rec.machine.Handle(d.host.Began(), machine.Opened{})...)
	if w := d.rec.machine.Wants(); len(d.rec.pending) > 0 && !w.Rewind && !w.Soon {
		d.work.recordNow(w)
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
		d.rec.reset = d.host.Reset() || d.rec.reset
		d.deliver()
		if d.rec.reset { // before it takes in anything that has happened since
			if d.rec.writing {
				return Wait
			}
			d.rec.rewind(0)
		}
		d.take()
		if !d.leave.now {
			d.rec.handle(machine.Begin{Unrecorded: d.rec.rewound})
		}
		w := d.rec.machine.Wants()
		if d.rec.rewinds || w.Rewind {
			if d.rec.writing { // the events may be recorded or not
				return Wait
			}
			d.rec.rewind(0)
			continue
		}
		if d.rec.forget(w) {
			return Finish
		}
		d.work.reconcile(w, d.leave.now)
		if len(d.rec.inbox) > 0 {
			continue
		}
		if next, known := d.next(w); known {
			return next
		}
	}
}

// next returns what a run does that has carried out all wants. It is not known if the run has now
// begun to leave: its machine gets that as an input first.
func (d *Driver) next(w machine.Wants) (next Next, known bool) {
	d.host.Show(d.rec.repeats)
	switch {
	case w.Done != nil && d.mayEnd():
		return Finish, true
	case d.leave.now && !w.Bound && d.idle() && d.rec.recorded():
		return Continue, true
	case w.Done == nil && d.leave.should():
		d.leave.begin()
		return Wait, false
	}
	d.work.record(w)
	d.leave.limit()
	return Wait, true
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
			d.rec.put(machine.Canceled{})
		}
		if len(d.rec.inbox) == 0 {
			return
		}
		d.rec.handleInbox()
	}
}

// idle reports whether no input has arrived, and nothing is outstanding whose result only this
// run gets.
func (d *Driver) idle() bool {
	return len(d.rec.inbox) == 0 && !d.host.Arrived() && d.work.idle()
}

// mayEnd reports whether the workflow may end: all its events are recorded, or are part of its
// result.
func (d *Driver) mayEnd() bool {
	return d.idle() && (d.rec.recorded() || d.rec.rides != nil && d.rec.rides(d.rec.done) && !d.rec.rewound) && !d.rec.writing
}
