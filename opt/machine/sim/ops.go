package sim

import (
	"encoding/json"

	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/drive"
)

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
	call    *call // of the API
	repeat  bool  // it was delivered before, or comes late
}

// deliver delivers an op. With twice it stays and is delivered again later, which
// also models a message that others overtake. With refused, Temporal does not take a signal.
func (w temporal) deliver(i int, twice, refused bool) {
	o := w.ops[i]
	w.ops = append(w.ops[:i:i], w.ops[i+1:]...)
	switch o.kind {
	case signal:
		if refused && !o.repeat && o.from.restores { // its run waits until it is taken
			w.put(o)
			return
		}
		if refused && !o.repeat {
			w.answer(o.from, o.answer, drive.Refused)
			return
		}
		w.deliverSignal(o, twice)
	case lateRecord:
		if !w.early(o.batches) {
			w.recordAll(o.batches)
		}
	case startChild:
		w.deliverChild(o)
	case lost:
		w.deliverLost(o)
	case callback:
		w.clients().deliverCallback(o, twice)
	case childEnds:
		w.answer(o.from, o.answer, o.end)
	default:
		w.clients().deliverCall(o, twice)
	}
}

func (w temporal) deliverSignal(o op, twice bool) {
	to := w.open(o.to)
	switch {
	case to != nil:
		w.logf("%s hears %s from %s", w.name(o.to), w.say(o.in), w.name(o.from.id))
		w.signal(to, o.in)
		if twice {
			again := o
			again.repeat, again.in = true, sent(o.in)
			w.put(again)
		}
	case !o.repeat:
		w.logf("%s is not there to hear %s from %s", w.name(o.to), w.say(o.in), w.name(o.from.id))
	}
	switch {
	case o.repeat:
	case to == nil:
		w.answer(o.from, o.answer, drive.Gone)
	default:
		w.answer(o.from, o.answer, drive.Taken)
	}
}

func (w temporal) deliverChild(o op) {
	if o.from.ended {
		return
	}
	if w.open(o.to) != nil {
		w.logf("%s cannot begin: its former run is there", w.name(o.to))
		w.answer(o.from, o.answer, false)
		return
	}
	w.logf("%s begins", w.name(o.to))
	m := planHost{&machine.Plan{}}
	must(json.Unmarshal(o.state, m.state()))
	w.checks().begins(&m.State, o.resets)
	child := w.newRun(o.to, o.from.objective, m)
	child.parent, child.result, child.attempt, child.fresh = o.from, o.result, o.child.Attempt, true
	w.answer(o.from, o.answer, true)
}
