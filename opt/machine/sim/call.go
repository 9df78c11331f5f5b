package sim

import (
	"cmp"
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// A call is the work of a replica of the API for a client: it takes a place in
// the queue of the context if the call begins work, signals the context, and then
// the workflow. A replica may die in between; then the client repeats the call.
type call struct {
	begunAt     int64
	objectiveID string
	contextID   string
	to          string // workflow id
	opening     *opt.Opening
	idleFor     int64
	letter      *opt.Letter
	command     *opt.Command
	ahead       ahead
	attempt     int
	queued      bool
}

// patience is how long a call may take, in milliseconds.
const patience = 3000

// takePlace takes a place in the queue of a context for a call that begins work, and returns since when
// it waits there.
func (cs clients) takePlace(c *call, contextID string) a2a.Time {
	c.ahead = cs.w.journal.reserve(contextID, c.objectiveID, c.attempt, cs.w.apiTime(0))
	c.queued = !c.ahead.since.IsZero()
	return c.ahead.since
}

// open opens an objective as the API does.
func (cs clients) open(o opt.Opening, idleFor int64) {
	id := o.Objective.ID
	call := &call{begunAt: cs.w.now, objectiveID: id, to: id, opening: &o, attempt: 1, idleFor: idleFor}
	if !o.Idle {
		o.Objective.QueuedAt = cs.takePlace(call, o.Objective.ContextID)
	}
	o.Objective.Loose = machine.Loose(cs.w.rules) // as the workflow shows it
	cs.w.logf("a client opens %s in %s with %d plans, idle %v, queued %v: %s", cs.w.name(id), o.Objective.ContextID, len(o.Plans), o.Idle, call.queued, plansText(o.Plans))
	cs.w.journal.record(opt.Batch{Source: id, ObjectiveID: id, Events: []opt.Event{o.Event()}})
	cs.send(call)
}

// sendLetter sends a letter that begins no work to the plan or the objective that it is for, and returns the
// id of its message.
func (cs clients) sendLetter(l *opt.Letter) string {
	cs.send(&call{begunAt: cs.w.now, objectiveID: l.ObjectiveID, to: cmp.Or(l.PlanID, l.ObjectiveID), letter: l})
	return l.Message.MessageID
}

func (cs clients) newCommandID() string {
	cs.w.n2++
	return fmt.Sprintf("c%d", cs.w.n2)
}

// send begins the steps of a call.
func (cs clients) send(c *call) {
	r := cs.w.journal.rows[c.objectiveID]
	if r == nil { // the call is repeated, and its objective was removed
		return
	}
	cs.w.calls, c.contextID = append(cs.w.calls, c), r.objective.ContextID
	if c.queued {
		in := machine.Enter{ObjectiveID: c.objectiveID, Attempt: c.attempt, At: c.ahead.since, Behind: c.ahead.begun, Starting: c.ahead.starting, Waiting: c.ahead.waiting}
		cs.w.put(op{kind: enter, to: contextWorkflow(c.contextID), in: in, call: c})
		return
	}
	cs.sendOn(c)
}

// sendOn begins the last step of a call.
func (cs clients) sendOn(c *call) {
	switch {
	case c.opening != nil:
		cs.w.put(op{kind: start, to: c.to, call: c})
	case c.letter != nil:
		cs.w.put(op{kind: letter, to: c.to, call: c})
	default:
		cs.w.put(op{kind: command, to: c.to, call: c})
	}
}

// deliverCall delivers a step of a call.
func (cs clients) deliverCall(o op, twice bool) {
	if twice {
		again := o
		again.repeat = true
		cs.w.put(again)
	}
	to, c := cs.w.open(o.to), o.call
	switch o.kind {
	case enter:
		to = cs.temporal.context(o.to, c.contextID)
		cs.w.logf("the API enters in %s: %s, behind %s", cs.w.name(o.to), cs.w.name(c.objectiveID), cs.w.names(slices.Concat(c.ahead.begun, c.ahead.starting)))
		to.signal(sent(o.in))
		if !o.repeat {
			cs.sendOn(c)
		}
	case start:
		if cs.w.latest[o.to] == nil {
			cs.w.logf("the workflow of %s begins", cs.w.name(o.to))
			r := cs.temporal.newRun(o.to, o.to, objectiveHost{machine.NewObjective(copied(*c.opening), c.idleFor, cs.w.rules)})
			r.fresh = true
		}
	case letter:
		if to != nil {
			cs.w.logf("a letter arrives at %s: %s", cs.w.name(o.to), c.letter.Message.MessageID)
			to.signal(sent(machine.Letter{Letter: *c.letter}))
		}
	case command:
		cs.deliverCommand(o, to)
	}
}

// deliverCommand delivers a command to its objective. If the objective has ended,
// a command that retries it begins a new run, which reads the journal.
func (cs clients) deliverCommand(o op, to *run) {
	c := *o.call.command
	if to == nil {
		r := cs.w.journal.rows[o.to]
		if _, answered := cs.w.journal.answers[c.ID]; r == nil || answered && !o.repeat || !r.closed || cs.w.latest[o.to] == nil || !retries(c) {
			cs.w.logf("%s is not there for command %s", cs.w.name(o.to), c.ID)
			return
		}
		if o.call.attempt <= r.objective.Attempt { // the API assumed that it is open: the call begins again
			if !o.repeat {
				cs.sendThis(c)
			}
			return
		}
		cs.w.logf("%s is retried in a new run", cs.w.name(o.to))
		to = cs.temporal.again(o.to)
		cs.w.facts.retries[c.ID] = o.to
	}
	cs.w.logf("command %s arrives at %s: %s", c.ID, cs.w.name(o.to), describe(c))
	to.signal(sent(machine.Command{Command: c}))
}

// retries reports whether a command is one that retries an objective.
func retries(c opt.Command) bool {
	to := opt.ObjectiveStatus(c.Status)
	return c.Kind == opt.UpdateObjective && (to == opt.ObjectiveSubmitted || to == opt.ObjectivePlanning)
}

// deliverCallback delivers a callback to a plan, if its workflow is there.
func (cs clients) deliverCallback(o op, twice bool) {
	if to := cs.w.open(o.to); to != nil {
		to.signal(sent(o.in))
	}
	if twice {
		again := o
		again.repeat, again.in = true, sent(o.in)
		cs.w.put(again)
	}
}

// sendThis sends a command as the API does.
func (cs clients) sendThis(cmd opt.Command) {
	r := cs.w.journal.rows[cmd.ObjectiveID]
	o := &r.objective
	call := &call{begunAt: cs.w.now, objectiveID: o.ID, to: o.ID, command: &cmd, attempt: o.Attempt}
	cmd.Attempt = 0
	if r.closed && machine.Admit(o, cmd) != nil {
		return // the API refuses it early
	}
	if r.closed {
		call.attempt++
		r.kept, cs.w.facts.asked[o.ID] = cs.w.now, cs.w.now
	}
	if mayBegin(cmd) {
		cmd.Attempt = call.attempt
	}
	if begins(cmd, o) {
		cmd.QueuedAt = cs.takePlace(call, o.ContextID)
	}
	cs.w.logf("a client sends command %s for %s: %s, queued %v", cmd.ID, cs.w.name(o.ID), describe(cmd), call.queued)
	cs.send(call)
}

// begins reports whether a command begins work on an objective that does none.
func begins(c opt.Command, o *opt.Objective) bool {
	return mayBegin(c) && (!o.Started || o.Status.Ended())
}

// mayBegin reports whether a command is one that may begin work.
func mayBegin(c opt.Command) bool {
	switch c.Kind {
	case opt.UpdateObjective:
		return c.Starts()
	case opt.UpdatePlan:
		return opt.PlanStatus(c.Status) == opt.PlanWorking
	}
	return c.Kind == opt.Replan || c.Kind == opt.CreatePlan && c.Start
}
