package machine

import (
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// Checks of an object are tasks like others, between those that made it and the gate. When the gate
// is about to open, their findings may decide in place of people, as far as its playbook says so:
// only about what they have seen, and only until people were asked.

// check judges the object of an approval that is about to open at t by its checks. If people have
// to decide, the event that opens the gate gets the record of the findings.
func (m *Plan) check(t *opt.Task, gate *opt.Gate, opening *opt.Event) (settled bool) {
	if t.Ask == nil || t.Ask.Form == nil || t.Ask.Form.Checks == nil {
		return false
	}
	checks, r := t.Ask.Form.Checks, m.State.results()
	for _, place := range checks.Places() {
		gate.Checks = append(gate.Checks, r.finding(t, place))
	}
	action := checks.Decide(func(place string) opt.Finding { return r.finding(t, place) })
	if action == opt.Reject && gate.Allows(opt.Refine) && r.sentBack(gate.Sources) < checks.Rounds {
		action = opt.Refine
	}
	if decides := action == opt.Accept || action == opt.Refine; !decides || t.Gates > 0 || r.changed(t, *gate) {
		action = opt.Ask
	}
	reply := opt.Reply{GateID: gate.ID, Action: action, Feedback: rejections(gate.Checks), DecidedBy: opt.ByChecks, At: m.now}
	switch action {
	case opt.Accept:
		m.passByChecks(t, *gate, reply)
	case opt.Refine:
		m.refineByChecks(t, *gate, reply)
	default:
		reply.Action = ""
		opening.Decision = m.State.found(t, *gate, reply, opt.Noted)
		return false
	}
	return true
}

// found is decided for the findings about the object of a gate, which is not open.
func (s *PlanState) found(t *opt.Task, gate opt.Gate, reply opt.Reply, v opt.Verdict) *opt.Decision {
	if v == opt.Accepted {
		reply.GateID = "" // no gate opens
	}
	return s.decided(t.A2AID(), reply, v, opt.Decision{
		Kind: gate.Kind, ObjectDigest: gate.ObjectDigest, Closed: v == opt.Accepted, Checks: gate.Checks,
	})
}

// passByChecks completes t, which only asks: no one has to.
func (m *Plan) passByChecks(t *opt.Task, gate opt.Gate, reply opt.Reply) {
	j, s := m.job(t), &m.State
	s.Approved = made(s.Approved)
	s.Approved[t.ID], s.Accepted = s.Shows[t.ID], m.now
	delete(s.Shows, t.ID)
	j.complete(nil, nil, opt.Event{Status: j.say(":checked", "Accepted by checks: "+names(gate.Checks)+"."), Decision: s.found(t, gate, reply, opt.Accepted)})
}

// refineByChecks sends the object of t back to the tasks that made it.
func (m *Plan) refineByChecks(t *opt.Task, gate opt.Gate, reply opt.Reply) {
	message := a2a.Message{
		MessageID: t.A2AID() + ":checks-" + gate.Checks[0].TaskID, ContextID: m.State.ContextID, TaskID: t.A2AID(), Role: a2a.RoleUser,
		Parts: []a2a.Part{a2a.TextPart(reply.Feedback)},
	}
	again := opt.Reopened(&m.State.Plan, t, gate.Sources, reply, authored(message, opt.ByChecks))
	m.apply(opt.Event{Kind: opt.TasksReopened, Tasks: again})
	m.job(t).move(opt.TaskWorking, opt.Event{Reason: opt.SentBack, Decision: m.State.found(t, gate, reply, opt.Accepted)})
}

// finding returns what the task at a place has found about the object of t. It must come before t.
func (r results) finding(t *opt.Task, place string) opt.Finding {
	c := r.plan.Task(r.placed(place))
	if c == nil || !slices.Contains(r.plan.Before(t), c) {
		return opt.Finding{Check: place, Verdict: opt.Ask, Reason: "There is no such check any more."}
	}
	return c.Finding()
}

// sentBack returns how often checks have sent back what tasks made.
func (r results) sentBack(sources []string) (most int) {
	for _, id := range sources {
		n := 0
		for _, reply := range r.plan.Task(id).Refined {
			if reply.DecidedBy == opt.ByChecks {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// changed reports whether a client has a part in what a gate is about, which no check has seen: notes
// that the approval would cover, an object made by hand or elsewhere, or checks that do not come after
// the tasks that made it.
func (r results) changed(t *opt.Task, gate opt.Gate) bool {
	checked := func(b *opt.Task) bool {
		return !slices.ContainsFunc(t.Ask.Form.Checks.Places(), func(place string) bool {
			return !slices.Contains(r.plan.Inputs(r.plan.Task(r.placed(place))), b)
		})
	}
	for _, b := range r.plan.Inputs(t) {
		if b.ByHand || b.Link != "" || r.editOf(b) != nil || !checked(b) {
			return true
		}
	}
	byOthers := func(e opt.Exchange) bool { return e.AskedBy != opt.ByChecks }
	return gate.Omitted > 0 || slices.ContainsFunc(gate.Exchanges, byOthers)
}

// rejections returns the reasons of the checks that have rejected an object, for those who make it.
func rejections(found []opt.Finding) string {
	var lines []string
	for _, f := range found {
		if f.Verdict == opt.Reject {
			lines = append(lines, f.Check+": "+f.Reason)
		}
	}
	return strings.Join(lines, "\n")
}

// names lists the checks that have found something.
func names(found []opt.Finding) string {
	var list []string
	for _, f := range found {
		list = append(list, f.Check)
	}
	return strings.Join(list, ", ")
}
