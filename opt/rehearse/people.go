package rehearse

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// crew returns the people who may be asked at a gate: those of the assumptions, or else one for each
// principal and as many of each group as it takes.
func (w *world) crew(g opt.Gate) []Person {
	if w.People != nil {
		return w.People
	}
	need, r := 1, g.Responders
	if r.Several() {
		need = r.Accepts
	}
	if r == nil || len(r.Principals)+len(r.Groups) == 0 {
		return members("anyone", nil, need)
	}
	var out []Person
	for _, name := range r.Principals {
		out = append(out, Person{Name: name})
	}
	for _, group := range r.Groups {
		out = append(out, members("one of "+group, []string{group}, need)...)
	}
	return out
}

func members(name string, groups []string, n int) (out []Person) {
	for i := range n {
		p := Person{Name: name, Groups: groups}
		if i > 0 {
			p.Name = fmt.Sprintf("%s (%d)", name, i+1)
		}
		out = append(out, p)
	}
	return out
}

// may reports whether a person may answer at a gate.
func (w *world) may(p Person, g opt.Gate) bool {
	return g.Responders.Allow(p.Name, p.Groups, w.Requester) || g.DeputyFor(p.Name, p.Groups, w.seats(p), w.Requester) != nil
}

// seats returns the places of absent people in which a person may decide.
func (w *world) seats(p Person) (list []opt.Seat) {
	for _, name := range p.For {
		seat := opt.Seat{AbsenceID: "of " + name, Principal: name}
		if i := slices.IndexFunc(w.People, func(x Person) bool { return x.Name == name }); i >= 0 {
			seat.Groups = w.People[i].Groups
		}
		list = append(list, seat)
	}
	return list
}

// standing returns the standing decision of as many people as a gate asks; the zero value if they could not
// have made it, or if its condition does not see the object.
func (w *world) standing(q opt.StandingQuestion) opt.StandingUse {
	if _, _, whole := opt.Contents(q.Gate.Object); !whole {
		return opt.StandingUse{}
	}
	use := opt.StandingUse{ID: "assumed", Use: 1, Action: opt.Accept, ObjectDigest: q.Gate.ObjectDigest}
	for _, p := range w.crew(q.Gate) {
		if q.Gate.Responders.MayStand(p.Name, p.Groups, q.Requesters...) {
			use.By = append(use.By, opt.Vote{DecidedBy: p.Name, Groups: p.Groups, Action: use.Action})
		}
		if q.Gate.DecidedBy(use, q.Requesters...) {
			return use
		}
	}
	return opt.StandingUse{}
}

// who returns who may answer at a gate, as the report may name them.
func (w *world) who(r *opt.Responders) *opt.Responders {
	if !w.Unnamed || r == nil || len(r.Principals) == 0 {
		return r
	}
	unnamed := *r
	unnamed.Principals = []string{unnamedPerson}
	return &unnamed
}

// name returns the name of one who may answer at a gate, as the report may have it.
func (w *world) name(principal string, r *opt.Responders) string {
	if w.Unnamed && r != nil && slices.Contains(r.Principals, principal) {
		return unnamedPerson
	}
	return principal
}

// unnamedPerson is in place of names.
const unnamedPerson = "a person who is named"

// ask has all who may answer at a gate now do so after their time, unless they were asked before.
func (w *world) ask(g opt.Gate) {
	for _, p := range w.crew(g) {
		key := g.ID + " " + p.Name
		if w.asked[key] || p.Silent || !w.may(p, g) {
			continue
		}
		w.asked[key] = true
		w.after(w.answersAfter(p, g), func() { w.answer(p, g.ID) })
	}
}

// answersAfter draws when a person answers at a gate. Past runs say when all have answered.
func (w *world) answersAfter(p Person, g opt.Gate) time.Duration {
	ref, _ := opt.ParseID(g.TaskID)
	t := w.tasks[ref.TaskID]
	past, found := w.past[PlaceOf(t.ID)]
	switch {
	case len(p.After) > 0:
		return p.After.At(w.draw())
	case len(w.Tasks[t.Name].Takes) > 0:
		return w.Tasks[t.Name].Takes.At(w.draw())
	case !found:
		return usualAnswer
	}
	return past.Takes.At(0.5) // there is one, or the likely one is wanted
}

// answer sends the answer of a person at a gate, if that is still open.
func (w *world) answer(p Person, gateID string) {
	g, open := w.gates[gateID]
	ref, _ := opt.ParseID(g.TaskID)
	plan := w.run(ref.PlanID)
	if !open || plan == nil {
		return
	}
	letter := machine.Letter{Letter: opt.Letter{
		ObjectiveID: ref.ObjectiveID, PlanID: ref.PlanID, TaskID: g.TaskID, Principal: p.Name, Groups: p.Groups, Seats: w.seats(p),
		Message: a2a.Message{MessageID: "answer " + g.ID + " " + p.Name, TaskID: g.TaskID, Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("As it is assumed.")}},
		Reply:   new(p.reply(g)),
	}}
	plan.arrive(func() { plan.driver.Put(letter) })
}

// reply returns the answer of p at a gate.
func (p Person) reply(g opt.Gate) opt.Reply {
	reply := opt.Reply{GateID: g.ID, ObjectDigest: g.ObjectDigest}
	if g.Kind != opt.Approval {
		for _, q := range g.Questions {
			answer := json.RawMessage(`"…"`)
			if choices := q.Choices(); len(choices) > 0 {
				answer = choices[0]
			}
			reply.Answers = append(reply.Answers, opt.Answer{ID: q.ID, Answer: answer})
		}
		return reply
	}
	reply.Action = opt.Accept
	if again := p.Action == opt.Refine && g.Again() != ""; g.Allows(p.Action) && !again {
		reply.Action = p.Action
	}
	switch reply.Action {
	case opt.Refine:
		reply.Refine = &opt.Refinement{Scope: "whole", Text: "As it is assumed."}
	case opt.EditAccept:
		reply.Edited = g.Object
	}
	return reply
}
