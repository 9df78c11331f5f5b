package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/fork"
	"longhaul/opt/machine"
)

// The clients send what people and programs ask for, through the API.
type clients struct {
	w        *world
	temporal temporal // where their workflows begin
}

// act makes a random call of a client.
func (cs clients) act(c *choice) {
	if len(cs.w.journal.order) == 0 {
		cs.openObjective(c)
		return
	}
	switch k := c.pick(16); {
	case k < 2 && len(cs.w.journal.order) < 4:
		cs.openObjective(c)
	case k == 15 && cs.w.forks && len(cs.w.journal.order) < 6:
		cs.fork(cs.anyRow(c), c)
	case k < 4:
		cs.note(c)
	case k < 7:
		cs.decide(c)
	case k == 8:
		cs.sendCallback(c)
	case k == 7 && len(cs.w.calls) > 0:
		again := *cs.w.calls[c.pick(len(cs.w.calls))]
		again.begunAt = cs.w.now
		cs.w.logf("a client repeats a call")
		cs.send(&again)
	default:
		cs.sendCommand(c)
	}
}

// openObjective has a client open an objective.
func (cs clients) openObjective(c *choice) {
	contextID := fmt.Sprintf("ctx-%d", c.pick(2)+1)
	if c.pick(3) < 2 {
		contextID = "ctx-1"
	}
	o := cs.newOpening(contextID)
	kind := c.pick(6)
	o.Idle = kind >= 4
	if kind != 5 { // objectives/create has no message
		o.Message = cs.message(o.Objective.ID, o.Objective.ID)
		limited(cs.w, o.Message)
	}
	if kind != 3 {
		o.Plans = budgeted(cs.w, drawPlans(cs.w, c, 3))
	}
	idleFor := int64(0)
	if o.Idle {
		idleFor = []int64{3600, 0}[c.pick(2)]
	}
	cs.open(o, idleFor)
}

// newOpening returns an opening of the next objective.
func (cs clients) newOpening(contextID string) opt.Opening {
	cs.w.n++
	return opt.Opening{Objective: opt.Objective{
		ID: opt.NewObjectiveID([16]byte{byte(cs.w.n)}), ContextID: contextID, Tenant: tenant, Principal: "alice", Name: fmt.Sprintf("Objective %d", cs.w.n),
		Limits: opt.Limits{CountsQuestions: cs.w.n%3 == 0},
		Status: opt.ObjectiveSubmitted, CreatedAt: cs.w.at(), UpdatedAt: cs.w.at(), Revision: 1, Attempt: 1, Root: opt.TaskSubmitted,
	}}
}

func (cs clients) message(objectiveID, taskID string) *a2a.Message {
	cs.w.messages++
	id := fmt.Sprintf("m%d", cs.w.messages)
	return &a2a.Message{MessageID: id, TaskID: taskID, Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("text " + id)}}
}

// note has a client send a message to a root task or a plan task.
func (cs clients) note(c *choice) {
	o := &cs.anyRow(c).objective
	l := &opt.Letter{ObjectiveID: o.ID, TaskID: o.RootID()}
	call := &call{begunAt: cs.w.now, objectiveID: o.ID, to: o.ID, letter: l, attempt: o.Attempt}
	p := anyPlan(c, o)
	switch kind := c.pick(4); {
	case kind == 3 && p != nil && len(p.Tasks) > 0:
		l.PlanID, l.TaskID, call.to = p.ID, p.Tasks[c.pick(len(p.Tasks))].A2AID(), p.ID
	case !o.Started && !o.Status.Ended(): // it begins the work
		l.Begins = kind == 2
		l.QueuedAt = cs.takePlace(call, o.ContextID)
	}
	l.Principal = principals[c.pick(len(principals))]
	l.Message = *cs.message(o.ID, l.TaskID)
	cs.w.logf("%s sends %s to %s, begins %v", l.Principal, l.Message.MessageID, cs.w.name(l.TaskID), l.Begins)
	cs.send(call)
}

// decide has a client answer a gate that the journal shows as open.
func (cs clients) decide(c *choice) {
	open := slices.DeleteFunc(cs.w.journal.tasks(), func(t *opt.Task) bool { return t.Gate == nil })
	if len(open) == 0 {
		cs.sendCommand(c)
		return
	}
	g := open[c.pick(len(open))].Gate
	action := []opt.Action{opt.Accept, opt.Accept, opt.Reject, opt.Refine, opt.EditAccept, opt.Ask}[c.pick(6)]
	if c.pick(4) > 0 {
		cs.answerGate(g, action, principals[c.pick(3)])
		return
	}
	deputy := []string{principals[0], "dora"}[c.pick(2)]
	seat := opt.Seat{AbsenceID: "abs", Principal: principals[c.pick(3)], MadeBy: []string{"", "", principals[0]}[c.pick(3)]}
	cs.answerGate(g, action, deputy, seat)
}

// answerGate has a client answer at a gate, or as the deputy in seats.
func (cs clients) answerGate(g *opt.Gate, action opt.Action, who string, seats ...opt.Seat) {
	l := cs.letterTo(g.TaskID, who)
	l.Seats = seats
	l.Reply = &opt.Reply{GateID: g.ID, Action: action, ObjectDigest: g.ObjectDigest}
	switch action {
	case opt.Refine:
		l.Reply.Refine = &opt.Refinement{Scope: "whole", Text: "better"}
	case opt.Ask:
		l.Reply.Question = "Why?"
	case opt.EditAccept:
		l.Reply.Edited = []a2a.Part{a2a.TextPart("edited")}
		if g.Budget {
			l.Reply.Edited = []a2a.Part{a2a.DataPart(opt.SpendLimit{Tokens: 5, Questions: 4})}
		}
	}
	if g.Kind == opt.Clarification {
		l.Reply = &opt.Reply{GateID: g.ID, Answers: []opt.Answer{{ID: "q", Answer: json.RawMessage(`"a"`)}}}
	}
	cs.w.logf("%s answers %s with %s", who, cs.w.name(g.ID), action)
	cs.sendLetter(l)
}

// letterTo returns a new letter to a task of a plan.
func (cs clients) letterTo(taskID, who string) *opt.Letter {
	ref, _ := opt.ParseID(taskID)
	return &opt.Letter{ObjectiveID: ref.ObjectiveID, PlanID: ref.PlanID, TaskID: taskID, Message: *cs.message(ref.ObjectiveID, taskID), Principal: who}
}

// sendCallback sends a random callback for a task that the journal shows as working.
func (cs clients) sendCallback(c *choice) {
	working := slices.DeleteFunc(cs.w.journal.tasks(), func(t *opt.Task) bool {
		return t.State != opt.TaskWorking && t.State != opt.TaskAuthRequired && (t.Gate == nil || !t.Gate.Budget)
	})
	if len(working) == 0 {
		cs.sendCommand(c)
		return
	}
	t := working[c.pick(len(working))]
	cs.w.n2++
	in := opt.Callback{ID: fmt.Sprintf("callback-%d", cs.w.n2), TaskID: t.A2AID(), Round: t.Gates + 1}
	switch c.pick(4) {
	case 0:
		in.Text = "Half of it is done."
	case 1:
		in.Chunk = &opt.Chunk{Artifact: a2a.Artifact{ArtifactID: "sent", Parts: []a2a.Part{a2a.TextPart("sent")}}}
	case 2:
		in.Outcome = &opt.Outcome{State: opt.TaskCompleted}
	}
	cs.w.logf("a callback for %s: %s", cs.w.name(in.TaskID), in.ID)
	cs.callBack(in)
}

// callBack sends a callback.
func (cs clients) callBack(c opt.Callback) {
	ref, _ := opt.ParseID(c.TaskID)
	cs.w.put(op{kind: callback, to: ref.PlanID, in: machine.Callback{Callback: c}})
}

// drawChange draws what a fork changes.
func (cs clients) drawChange(c *choice, o *opt.Objective) fork.Change {
	change := fork.Change{Repeat: c.pick(3) > 0}
	if p := anyPlan(c, o); p != nil && len(p.Tasks) > 0 && c.chance(3) {
		change.Tasks = []fork.TaskChange{{ID: p.Tasks[c.pick(len(p.Tasks))].ID, Name: fmt.Sprint("changed ", cs.w.n)}}
	}
	return change
}

// fork has a client make another objective of one, from one of its events. The original stays as it is.
func (cs clients) fork(r *row, c *choice) {
	events := cs.w.journal.eventsOf(r.objective.ID)
	n := len(events) - c.pick(len(events))
	change := cs.drawChange(c, &r.objective)
	o := cs.newOpening("").Objective
	o.ContextID = o.ID // of its own, as the API gives it
	o.Name, o.Principal = "", principals[c.pick(len(principals))]
	before := encoded(r.objective)
	opening, err := fork.At(events, n).Fork(o, change)
	if !slices.Equal(before, encoded(r.objective)) {
		cs.w.fail("forks", "a fork has changed %s", cs.w.name(r.objective.ID))
	}
	cs.w.logf("a client forks %s at its event %d of %d, again %v, changes %v: %v", cs.w.name(r.objective.ID), n, len(events), change.Repeat, change.Tasks, err)
	begun := new(fork.BegunError)
	switch {
	case errors.As(err, &begun):
		hasBegun(cs.w, events[:n], begun.Tasks)
	case err != nil && len(change.Tasks) == 0:
		cs.w.fail("forks", "%s cannot be forked: %v", cs.w.name(r.objective.ID), err)
	case err == nil:
		takesOver(cs.w, opening, forked{r.objective.ID, events, n, change})
		if n == len(events) && len(change.Tasks) == 0 && !cs.w.histories {
			takesAll(cs.w, &r.objective, opening)
		}
		cs.open(opening, 0)
	}
}
