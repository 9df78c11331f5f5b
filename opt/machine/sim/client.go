package sim

import (
	"encoding/json"
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

// send begins the steps of a call.
func (w clients) send(c *call) {
	r := w.journal.rows[c.objectiveID]
	if r == nil { // the call is repeated, and its objective was removed
		return
	}
	w.calls, c.contextID = append(w.calls, c), r.objective.ContextID
	if c.queued {
		in := machine.Enter{ObjectiveID: c.objectiveID, Attempt: c.attempt, At: c.ahead.since, Behind: c.ahead.begun, Starting: c.ahead.starting}
		w.put(op{kind: enter, to: contextWorkflow(c.contextID), in: in, call: c})
		return
	}
	w.sendOn(c)
}

// sendOn begins the last step of a call.
func (w clients) sendOn(c *call) {
	switch {
	case c.opening != nil:
		w.put(op{kind: start, to: c.to, call: c})
	case c.letter != nil:
		w.put(op{kind: letter, to: c.to, call: c})
	default:
		w.put(op{kind: command, to: c.to, call: c})
	}
}

// deliverCall delivers a step of a call.
func (w clients) deliverCall(o op, twice bool) {
	if twice {
		again := o
		again.repeat = true
		w.put(again)
	}
	to, c := w.temporal().open(o.to), o.call
	switch o.kind {
	case enter:
		if to == nil {
			w.forget(o.to) // it begins again
			to = w.newRun(o.to, "", contextHost{machine.NewContext(tenant, c.contextID, w.rules)})
		}
		w.logf("the API enters in %s: %s, behind %s", w.name(o.to), w.name(c.objectiveID), w.names(slices.Concat(c.ahead.begun, c.ahead.starting)))
		w.temporal().signal(to, sent(o.in))
		if !o.repeat {
			w.sendOn(c)
		}
	case start:
		if w.latest[o.to] == nil {
			w.logf("the workflow of %s begins", w.name(o.to))
			r := w.newRun(o.to, o.to, objectiveHost{machine.NewObjective(copied(*c.opening), c.idleFor, w.rules)})
			r.fresh = true
		}
	case letter:
		if to != nil {
			w.logf("a letter arrives at %s: %s", w.name(o.to), c.letter.Message.MessageID)
			w.temporal().signal(to, sent(machine.Letter{Letter: *c.letter}))
		}
	case command:
		w.deliverCommand(o, to)
	}
}

// deliverCommand delivers a command to its objective. If the objective has ended,
// a command that retries it begins a new run, which reads the journal.
func (w clients) deliverCommand(o op, to *run) {
	c := *o.call.command
	if to == nil {
		r := w.journal.rows[o.to]
		if _, answered := w.journal.answers[c.ID]; r == nil || answered && !o.repeat || !r.closed || w.latest[o.to] == nil || !retries(c) {
			w.logf("%s is not there for command %s", w.name(o.to), c.ID)
			return
		}
		if o.call.attempt <= r.objective.Attempt { // the API assumed that it is open: the call begins again
			if !o.repeat {
				w.sendThis(c)
			}
			return
		}
		w.logf("%s is retried in a new run", w.name(o.to))
		to = w.temporal().again(o.to)
		w.facts.retries[c.ID] = o.to
	}
	w.logf("command %s arrives at %s: %s", c.ID, w.name(o.to), describe(c))
	w.temporal().signal(to, sent(machine.Command{Command: c}))
}

// retries reports whether a command is one that retries an objective.
func retries(c opt.Command) bool {
	to := opt.ObjectiveStatus(c.Status)
	return c.Kind == opt.UpdateObjective && (to == opt.ObjectiveSubmitted || to == opt.ObjectivePlanning)
}

// act makes a random call of a client.
func (w clients) act(c *choice) {
	if len(w.journal.order) == 0 {
		w.openObjective(c)
		return
	}
	switch k := c.pick(16); {
	case k < 2 && len(w.journal.order) < 4:
		w.openObjective(c)
	case k < 4:
		w.note(c)
	case k < 7:
		w.decide(c)
	case k == 8:
		w.sendCallback(c)
	case k == 7 && len(w.calls) > 0:
		again := *w.calls[c.pick(len(w.calls))]
		again.begunAt = w.now
		w.logf("a client repeats a call")
		w.send(&again)
	default:
		w.sendCommand(c)
	}
}

// openObjective has a client open an objective.
func (w clients) openObjective(c *choice) {
	w.n++
	contextID := fmt.Sprintf("ctx-%d", c.pick(2)+1)
	if c.pick(3) < 2 {
		contextID = "ctx-1"
	}
	id := opt.NewObjectiveID([16]byte{byte(w.n)})
	o := opt.Opening{Objective: opt.Objective{
		ID: id, ContextID: contextID, Tenant: tenant, Principal: "alice", Name: fmt.Sprintf("Objective %d", w.n),
		Status: opt.ObjectiveSubmitted, CreatedAt: w.at(), UpdatedAt: w.at(), Revision: 1, Attempt: 1, Root: opt.TaskSubmitted,
	}}
	kind := c.pick(6)
	o.Idle = kind >= 4
	if kind != 5 { // objectives/create has no message
		o.Message = w.message(id, id)
	}
	if kind != 3 {
		o.Plans = w.plans(c, 3)
	}
	call := &call{begunAt: w.now, objectiveID: id, to: id, opening: &o, attempt: 1}
	if !o.Idle {
		call.ahead = w.journal.reserve(contextID, id, 1, w.apiTime(0))
		o.Objective.QueuedAt = call.ahead.since
		call.queued = !o.Objective.QueuedAt.IsZero()
	} else {
		call.idleFor = []int64{3600, 0}[c.pick(2)]
	}
	o.Objective.Loose = machine.Loose(w.rules) // as the workflow shows it
	w.logf("a client opens %s in %s with %d plans, idle %v, queued %v: %s", w.name(id), contextID, len(o.Plans), o.Idle, call.queued, plansText(o.Plans))
	w.record(opt.Batch{Source: id, ObjectiveID: id, Events: []opt.Event{o.Event()}})
	w.send(call)
}

func (w clients) message(objectiveID, taskID string) *a2a.Message {
	w.messages++
	id := fmt.Sprintf("m%d", w.messages)
	return &a2a.Message{MessageID: id, TaskID: taskID, Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("text " + id)}}
}

// plans draws specs of plans.
func (w clients) plans(c *choice, most int) []opt.PlanSpec {
	n := c.pick(most) + 1
	if most == 3 && c.chance(8) {
		n = 0
	}
	shape := c.pick(256)
	var out []opt.PlanSpec
	for i := range n {
		w.specs++
		p := opt.PlanSpec{Name: fmt.Sprintf("plan %d", w.specs), Tasks: w.tasks(c)}
		if i > 0 && shape&1 == 1 {
			p.Dependencies = [][]string{{fmt.Sprintf("plan-%d", (shape>>1)%i)}, nil, {}}[(shape/3+i)%3]
		}
		if shape>>4&3 == 3 {
			p.Metadata = a2a.Metadata{}.With(opt.KeyOptional, true)
		}
		out = append(out, p)
	}
	return out
}

// tasks draws specs of tasks from two numbers: how many and of which kinds.
func (w clients) tasks(c *choice) []opt.TaskSpec {
	shape := c.pick(256)
	var out []opt.TaskSpec
	for i := range shape%4 + 1 {
		if shape%16 == 15 {
			break // a plan without tasks
		}
		w.specs++
		t := opt.TaskSpec{Name: fmt.Sprintf("task %d", w.specs)}
		switch (shape>>2 + i*3) % 8 {
		case 5:
			t.Ask = &opt.Gate{Kind: opt.Approval, Title: "Continue?", Actions: []opt.Action{opt.Accept, opt.Reject}}
			if i > 0 {
				t.Ask = aboutResults("Good?", opt.AllResults)
				t.Ask.Responders = []*opt.Responders{nil, {NotRequester: true}, {Principals: []string{"alice", "bob"}, Accepts: 2}}[shape%3]
			}
			t.Ask.Ladder = ladders[shape/3%len(ladders)]
		case 6:
			t.Attempts = 1
		case 7:
			t.Metadata = a2a.Metadata{}.With(opt.KeyOptional, true)
		}
		if i > 0 && shape>>6 == 3 {
			t.Dependencies = [][]string{{fmt.Sprintf("task-%d", i/2)}, nil, {}}[(shape/5+i)%3]
		}
		out = append(out, t)
	}
	return out
}

func (w clients) anyRow(c *choice) *row {
	j := w.journal
	return j.rows[j.order[c.pick(len(j.order))]]
}

// note has a client send a message to a root task or a plan task.
func (w clients) note(c *choice) {
	o := &w.anyRow(c).objective
	l := &opt.Letter{ObjectiveID: o.ID, TaskID: o.RootID()}
	call := &call{begunAt: w.now, objectiveID: o.ID, to: o.ID, letter: l, attempt: o.Attempt}
	p := anyPlan(c, o)
	switch kind := c.pick(4); {
	case kind == 3 && p != nil && len(p.Tasks) > 0:
		l.PlanID, l.TaskID, call.to = p.ID, p.Tasks[c.pick(len(p.Tasks))].A2AID(), p.ID
	case !o.Started && !o.Status.Ended(): // it begins the work
		l.Begins = kind == 2
		call.ahead = w.journal.reserve(o.ContextID, o.ID, o.Attempt, w.apiTime(0))
		l.QueuedAt = call.ahead.since
		call.queued = !l.QueuedAt.IsZero()
	}
	l.Principal = principals[c.pick(len(principals))]
	l.Message = *w.message(o.ID, l.TaskID)
	w.logf("%s sends %s to %s, begins %v", l.Principal, l.Message.MessageID, w.name(l.TaskID), l.Begins)
	w.send(call)
}

// decide has a client answer a gate that the journal shows as open.
func (w clients) decide(c *choice) {
	var open []*opt.Gate
	var plans []*opt.Plan
	for _, id := range w.journal.order {
		for _, p := range w.journal.rows[id].objective.Plans {
			for _, t := range p.Waiting() {
				open, plans = append(open, t.Gate), append(plans, p)
			}
		}
	}
	if len(open) == 0 {
		w.sendCommand(c)
		return
	}
	i := c.pick(len(open))
	w.answerGate(plans[i], open[i], []opt.Action{opt.Accept, opt.Accept, opt.Reject, opt.Refine, opt.EditAccept, opt.Ask}[c.pick(6)], principals[c.pick(3)])
}

// principals are the senders of decisions. The first asks for all objectives.
var principals = []string{"alice", "bob", "carol"}

// ladders are the ladders of gates: with steps after a second, a minute and an hour.
var ladders = [][]opt.Step{
	nil,
	{{Kind: opt.Remind, After: 1}, {Kind: opt.Escalate, After: 60, To: &opt.Responders{Principals: []string{"carol"}}}, {Kind: opt.Expire, After: 3600}},
	{{Kind: opt.Reassign, After: 60, To: &opt.Responders{Principals: []string{"bob", "carol"}}}, {Kind: opt.Remind, After: 3600}},
	{{Kind: opt.Remind, After: 60}, {Kind: opt.Expire, After: 61, Action: opt.Accept}},
	{{Kind: opt.Expire, After: 3600}},
}

// aboutResults returns a gate about the results of tasks.
func aboutResults(title string, names ...string) *opt.Gate {
	return &opt.Gate{
		Kind: opt.Approval, Title: title, Actions: []opt.Action{opt.Accept, opt.Reject, opt.Refine, opt.EditAccept, opt.Ask},
		Form: &opt.GateForm{Object: names, Title: []opt.Piece{{Literal: title + " "}, {Results: opt.AllResults}}},
	}
}

// answerGate has a client with one of three names answer at a gate.
func (w clients) answerGate(p *opt.Plan, g *opt.Gate, action opt.Action, who string) {
	l := &opt.Letter{ObjectiveID: p.ObjectiveID, PlanID: p.ID, TaskID: g.TaskID, Message: *w.message(p.ObjectiveID, g.TaskID), Principal: who}
	l.Reply = &opt.Reply{GateID: g.ID, Action: action, ObjectDigest: g.ObjectDigest}
	switch action {
	case opt.Refine:
		l.Reply.Refine = &opt.Refinement{Scope: "whole", Text: "better"}
	case opt.Ask:
		l.Reply.Question = "Why?"
	case opt.EditAccept:
		l.Reply.Edited = []a2a.Part{a2a.TextPart("edited")}
	}
	if g.Kind == opt.Clarification {
		l.Reply = &opt.Reply{GateID: g.ID, Answers: []opt.Answer{{ID: "q", Answer: json.RawMessage(`"a"`)}}}
	}
	w.logf("%s answers %s with %s", who, w.name(g.ID), action)
	w.send(&call{begunAt: w.now, objectiveID: p.ObjectiveID, to: p.ID, letter: l})
}

func anyPlan(c *choice, o *opt.Objective) *opt.Plan {
	if len(o.Plans) == 0 {
		return nil
	}
	return o.Plans[c.pick(len(o.Plans))]
}
