package sim

import (
	"encoding/json"

	"longhaul/opt/machine"
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
	callback                 // from the API to a plan: a callback for a task
)

// An op is a message that is sent and not delivered; it may be delivered at any
// time.
type op struct {
	kind   opKind
	to     string
	in     machine.Input
	from   *run
	signal machine.Signal
	child  machine.Child
	state  []byte
	call   *call // of the API
	repeat bool  // it was delivered before
}

// deliver delivers an op. With twice it stays and is delivered again later, which
// also models a message that others overtake.
func (w temporal) deliver(i int, twice bool) {
	o := w.ops[i]
	w.ops = append(w.ops[:i:i], w.ops[i+1:]...)
	switch o.kind {
	case signal:
		w.deliverSignal(o, twice)
	case startChild:
		w.deliverChild(o)
	case callback:
		w.clients().deliverCallback(o, twice)
	case childEnds:
		if !o.from.ended {
			w.arrive(o.from, o.in)
		}
	default:
		w.clients().deliverCall(o, twice)
	}
}

func (w temporal) deliverSignal(o op, twice bool) {
	to := w.open(o.to)
	switch {
	case to != nil:
		w.logf("%s hears %s from %s", w.name(o.to), w.say(o.in), w.name(o.from.id))
		w.arrive(to, o.in)
		if twice {
			again := o
			again.repeat, again.in = true, sent(o.in)
			w.put(again)
		}
	case !o.repeat:
		w.logf("%s is not there to hear %s from %s", w.name(o.to), w.say(o.in), w.name(o.from.id))
	}
	if !o.repeat && !o.from.ended {
		w.arrive(o.from, machine.Delivered{To: o.signal.To, N: o.signal.N, Gone: to == nil})
	}
}

func (w temporal) deliverChild(o op) {
	if o.from.ended {
		return
	}
	if w.open(o.to) != nil {
		w.logf("%s cannot begin: its former run is there", w.name(o.to))
		w.arrive(o.from, machine.ChildRefused{PlanID: o.child.PlanID, Attempt: o.child.Attempt})
		return
	}
	w.logf("%s begins", w.name(o.to))
	m := planHost{&machine.Plan{}}
	must(json.Unmarshal(o.state, m.state()))
	child := w.newRun(o.to, o.from.objective, m)
	child.parent, child.attempt, child.fresh = o.from, o.child.Attempt, true
	child.recorded, child.confirmed = m.State.N, m.State.N
	w.arrive(o.from, machine.ChildStarted{PlanID: o.child.PlanID, Attempt: o.child.Attempt, N: o.child.N})
}
