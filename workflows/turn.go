package workflows

import (
	"go.temporal.io/sdk/workflow"

	"longhaul/opt"
)

// Where an objective stands in the queue of its context. One that nobody waits
// for, or that waits for nobody, is alone, and works when it likes.
const (
	turnAlone   = ""
	turnWaiting = "waiting" // it has not begun, and waits until it may
	turnHeld    = "held"    // it may work
	turnFree    = "free"    // it cannot go on, and has given the turn back
	turnAsked   = "asked"   // it can go on, and waits until it may
)

// mayWork reports whether the objective may begin anything.
func (r *objectiveRun) mayWork() bool {
	return r.state.Turn == turnAlone || r.state.Turn == turnHeld
}

// askFirst makes an objective ask for a turn that was made before others came to
// its context, and begins now.
func (r *objectiveRun) askFirst() {
	if r.in.Polite && r.state.Turn == turnAlone && !r.state.Begin {
		r.state.Turn = turnFree
	}
}

// join hears that others want the context. The plans ask from now on before they
// go on after a rest. An objective that waits is not what the context takes it for:
// it asks again, as one that rests gives back what it does not have.
func (r *objectiveRun) join(j Join) {
	if j.Tenant != r.o.Tenant {
		return
	}
	if r.state.Turn != turnAlone {
		r.state.Unclear = r.state.Turn != turnHeld
		return
	}
	r.state.Turn = turnFree
	if j.Held {
		r.state.Turn = turnHeld
	}
	for _, p := range r.o.Plans {
		if !p.Status.Ended() {
			r.state.Orders = append(r.state.Orders, PlanOrder{p.ID, Order{Do: shareOrder}})
		}
	}
}

// turn hears that the objective may work. One that has given its turn back hears it
// too late.
func (r *objectiveRun) turn(struct{}) {
	if r.state.Turn != turnFree {
		r.state.Turn, r.state.Unclear = turnHeld, false
	}
}

// takeTurn works on with the turn, gives it back while nothing can go on, and
// asks for it again. It reports whether that changed anything.
func (r *objectiveRun) takeTurn() bool {
	if r.state.Begin && r.mayWork() && r.o.Stopping == "" {
		r.begin()
		return true
	}
	before := r.state.Turn
	r.clear()
	switch r.state.Turn {
	case turnHeld:
		if r.resting() {
			r.tellContext(releaseSlot, turnFree)
		}
	case turnFree:
		if !r.resting() {
			r.tellContext(askSlot, turnAsked)
		}
	}
	if r.mayWork() {
		r.letGo()
	}
	return r.state.Turn != before
}

// clear tells the context where the objective stands, which takes it for one that
// works.
func (r *objectiveRun) clear() {
	unclear := r.state.Unclear
	r.state.Unclear = false
	switch {
	case !unclear:
	case r.state.Turn == turnFree:
		r.tellContext(releaseSlot, turnFree)
	case r.state.Turn == turnWaiting, r.state.Turn == turnAsked:
		r.tellContext(askSlot, r.state.Turn)
	}
}

// resting reports whether nothing can go on: every plan that was started has
// ended, or says that it rests.
func (r *objectiveRun) resting() bool {
	if r.state.Begin || r.planning || r.o.Stopping != "" {
		return false
	}
	for _, p := range r.o.Plans {
		if p.Started && !p.Status.Ended() && (p.Report == nil || !p.Report.Rests) {
			return false
		}
	}
	return !r.o.Started || r.o.Status == opt.ObjectiveBlocked
}

// letGo tells the plans that ask to go on.
func (r *objectiveRun) letGo() {
	for _, p := range r.o.Plans {
		if p.Report != nil && p.Report.Asks && !p.Status.Ended() {
			p.Report.Asks = false
			r.tell(p, Order{Do: goOrder})
		}
	}
}

// tellContext says what the objective does with its turn, once that shows. If
// nobody is there to hear it, an operator has ended the context's workflow: then
// the objective is alone.
func (r *objectiveRun) tellContext(do, turn string) {
	r.state.Turn = turn
	r.rec.flush(r.ctx)
	slot := Slot{ObjectiveID: r.o.ID, Do: do}
	signal := workflow.SignalExternalWorkflow(r.ctx, contextWorkflowID(r.o.Tenant, r.o.ContextID), "", SlotSignal, slot)
	if err := signal.Get(r.ctx, nil); err != nil {
		workflow.GetLogger(r.ctx).Warn("Nobody gives turns in the context", "contextId", r.o.ContextID, "error", err)
		r.state.Turn = turnAlone
	}
}

// leave gives the turn, or the place in the queue, to others for good.
func (r *objectiveRun) leave() {
	if r.state.Turn != turnAlone {
		r.tellContext(leaveSlot, turnAlone)
	}
}
