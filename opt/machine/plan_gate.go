package machine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// openGate makes t wait at a gate: the one that its executor asks for, which makes the object
// again, or its own one, with results of the tasks before it. Checks, the decision in the original of a fork
// or a standing decision may decide in its place; by is the result of the search for the latter, nil before
// that. An authorization is asked for in any case: the work elsewhere that waits for it has been paid for.
func (m *Plan) openGate(t *opt.Task, asked *opt.Gate, by *opt.StandingUse) {
	s := &m.State
	gate := s.atOpening(&s.Plan, t, s.opening(t, asked, m.now))
	gate.Original = t.Original(gate.ObjectDigest)
	checked := opt.Ask
	if asked == nil {
		checked = s.results().check(t, &gate)
	}
	switch stands := s.results().mayStand(t, gate); {
	case checked != opt.Ask:
		m.byChecks(t, gate, opt.Reply{GateID: gate.ID, Action: checked, Feedback: rejections(gate.Checks), DecidedBy: opt.ByChecks, At: m.now})
	case keeps(s, t, &gate):
		m.pass(t, gate, opt.Reply{Action: opt.Accept, DecidedBy: opt.ByOriginal}, opt.Decision{Kept: gate.Original})
	case by == nil && (stands || asked == nil && countsQuestions(s)):
		m.job(t).lookUp(asked)
	case stands && gate.DecidedBy(*by, shapers(s)...):
		m.pass(t, gate, opt.Reply{Action: by.Action, Feedback: by.Feedback, DecidedBy: opt.ByStanding}, opt.Decision{Standing: by})
	case gate.Kind != opt.Credential && m.job(t).holds(&Work{Round: t.Gates + 1, Attempt: 1, Opens: true, Asked: asked}):
	default:
		opening := opt.Event{Gate: &gate, Status: gate.Message(s.ContextID, t.A2AID())}
		if s.Rules >= rulesBudget {
			opening.Usage, opening.Budgets = &opt.Usage{Questions: 1}, spending{s}.shown()
			s.use(t.ID, *opening.Usage)
		}
		if asked == nil && len(gate.Checks) > 0 {
			opening.Decision = s.found(t, gate, opt.Reply{GateID: gate.ID, DecidedBy: opt.ByChecks, At: m.now}, opt.Noted)
		}
		m.job(t).move(gate.State(), opening)
	}
}

// Checks of an object are tasks like others, between those that made it and the gate. When the gate
// is about to open, their findings may decide in place of people, as far as its playbook says so:
// only about what they have seen, and only until people were asked. So may standing decisions, where
// the findings leave it to people.

// byChecks carries out what checks have decided at a gate, which does not open: t, which only asks, is
// completed, or the tasks that made its object make it again.
func (m *Plan) byChecks(t *opt.Task, gate opt.Gate, reply opt.Reply) {
	j, s := m.job(t), &m.State
	record := s.found(t, gate, reply, opt.Accepted)
	if reply.Action == opt.Accept {
		s.approveShown(t, m.now)
		j.complete(nil, nil, opt.Event{Status: j.say(":checked", "Accepted by checks: "+names(gate.Checks)+"."), Decision: record})
		return
	}
	message := a2a.Message{
		MessageID: t.A2AID() + ":checks-" + gate.Checks[0].TaskID, ContextID: s.ContextID, TaskID: t.A2AID(), Role: a2a.RoleUser,
		Parts: []a2a.Part{a2a.TextPart(reply.Feedback)},
	}
	m.apply(reopening(&s.Plan, t, gate.Sources, reply, message))
	j.move(opt.TaskWorking, opt.Event{Reason: opt.SentBack, Decision: record})
}

// pass carries out a reply to a gate at which no one is asked. d says where it comes from. The gate is in
// the history of t as those that were open.
func (m *Plan) pass(t *opt.Task, gate opt.Gate, reply opt.Reply, d opt.Decision) {
	s := &m.State
	reply.GateID, reply.At, reply.ObjectDigest = gate.ID, m.now, gate.ObjectDigest
	d.Kind, d.ObjectDigest, d.Closed, d.Checks = gate.Kind, gate.ObjectDigest, true, gate.Checks
	record := s.decided(t.A2AID(), reply, opt.Accepted, d)
	if reply.Action == opt.Accept {
		s.approveShown(t, m.now)
	}
	shown := gate.Message(s.ContextID, t.A2AID())
	shown.Parts[0] = a2a.TextPart(record.Outcome() + "\n" + gate.Prompt())
	m.job(t).move(opt.TaskWorking, opt.Event{Reply: &reply, Verdict: opt.Accepted, Decision: record, Status: shown})
	m.applyUnrecorded(opt.Event{Kind: opt.MessageAdded, TaskID: t.A2AID(), Reply: &reply, Verdict: opt.Accepted})
	m.decide(t, reply, a2a.Message{})
}

// reopening has the tasks that made the object of t make it again, with the remarks on it.
func reopening(p *opt.Plan, t *opt.Task, sources []string, reply opt.Reply, message a2a.Message) opt.Event {
	return opt.Event{Kind: opt.TasksReopened, Tasks: opt.Reopened(p, t, sources, reply, authored(message, reply.DecidedBy))}
}

// onLetter judges a message. The first valid decision at a gate counts; a
// repeated letter changes nothing.
func (m *Plan) onLetter(l opt.Letter) {
	key := l.ID()
	if m.State.Seen[key] {
		return
	}
	m.State.Seen[key] = true
	e := opt.Event{
		Kind: opt.MessageAdded, TaskID: l.TaskID, ForTask: l.ForTask,
		Message: &l.Message, Principal: l.Principal, Key: l.Key,
	}
	if l.Reply == nil {
		m.note(l, e)
		return
	}
	target := l.TaskID
	if l.ForTask != "" {
		target = l.ForTask
	}
	t := m.State.Plan.Task(target)
	reply := *l.Reply
	reply.DecidedBy, reply.At, reply.MessageID = l.Principal, m.now, l.Message.MessageID
	groups := seated(&m.State, t, &reply, l)
	e.Verdict = m.State.judge(t, reply, groups)
	if t != nil && t.Gate != nil {
		reply.Groups = t.Gate.Responders.Among(groups)
	}
	e.Decision = m.State.decided(target, reply, e.Verdict, opt.Decision{ReplyDigest: opt.PartsDigest(l.Message.Parts)})
	e.Reply = judged(t, reply, e.Verdict)
	m.record(e)
	if e.Verdict != opt.Accepted {
		return
	}
	if reply.Action == opt.Ask {
		m.job(t).extend(t.Gate.With(opt.Exchange{Question: reply.Question, MessageID: l.Message.MessageID, AskedBy: l.Principal, AskedAt: m.now}))
		return
	}
	if !t.Gate.Decides(reply.Action) {
		m.job(t).renew(voted(*t.Gate, reply), "")
		return
	}
	if t.Gate.Budget {
		answerBudget(m, t, reply, opt.Event{})
		return
	}
	m.State.approve(&m.State.Plan, t, reply)
	accepted := e
	accepted.TaskID = t.A2AID()
	m.applyUnrecorded(accepted)
	m.decide(t, reply, l.Message)
}

// decide continues after an accepted decision: the task runs its next round, or
// is completed if it is only a gate. With refine, the tasks that made the object make it again, and
// t opens its gate again after them.
func (m *Plan) decide(t *opt.Task, reply opt.Reply, message a2a.Message) {
	j := m.job(t)
	if t.Ask == nil {
		j.answered()
		j.move(opt.TaskWorking, opt.Event{Round: t.Gates + 1, Attempt: 1})
		return
	}
	if reply.Action == opt.Refine {
		m.apply(reopening(&m.State.Plan, t, t.Gate.Sources, reply, remarked(message, reply)))
		j.move(opt.TaskWorking, opt.Event{Reason: opt.SentBack})
		return
	}
	j.move(opt.TaskWorking, opt.Event{})
	switch {
	case reply.Action == opt.EditAccept:
		j.complete([]a2a.Artifact{editedArtifact(t, reply)}, nil, opt.Event{})
	case reply.Action == opt.Reject:
		j.end(opt.TaskFailed, "approval_rejected", strings.TrimSpace("The approval was rejected. "+reply.Feedback), opt.Event{})
	case len(reply.Answers) > 0:
		j.complete([]a2a.Artifact{answersArtifact(t, reply)}, nil, opt.Event{})
	default:
		j.complete(nil, nil, opt.Event{})
	}
}

// takeStep takes the step of a gate that has the timer with a key. It reports whether there is
// one.
func (m *Plan) takeStep(key string) bool {
	for _, t := range m.State.Plan.Waiting() {
		next, ok := t.Gate.NextStep()
		if !(ok && stepKey(t.Gate) == key) {
			continue
		}
		if next.Kind == opt.Expire {
			m.expire(t, next.Action)
		} else {
			m.job(t).renew(t.Gate.Stepped(m.now, clocked(&m.State, t)), next.Kind)
		}
		return true
	}
	return false
}

// clocked returns the gate at which t waits as it was before it opened, nil if no working time counts there:
// gates of executors are gone by then.
func clocked(s *PlanState, t *opt.Task) *opt.Gate {
	if s.Rules < rulesClocks || t.Gate.Budget {
		return nil
	}
	return t.Ask
}

// expire closes t's gate without an answer. An approval is decided by an action, "" at other gates:
// the executor gets it as a reply, a task that is only a gate is completed or fails.
// Every other task fails.
func (m *Plan) expire(t *opt.Task, action opt.Action) {
	j, s := m.job(t), &m.State
	after := opt.Span(time.Duration(t.Gate.Ladder[t.Gate.Taken].After) * time.Second)
	reply := opt.Reply{GateID: t.Gate.ID, Action: action, DecidedBy: opt.ByTimer, At: m.now}
	closing := opt.Event{Step: opt.Expire, Decision: s.decided(t.A2AID(), reply, opt.Accepted, opt.Decision{})}
	reply.Feedback = opt.ReasonTimeout
	if t.Gate.Budget {
		answerBudget(m, t, reply, closing)
		return
	}
	s.approve(&s.Plan, t, reply)
	switch {
	case t.Ask == nil && t.Gate.Kind == opt.Approval:
		m.applyUnrecorded(opt.Event{Kind: opt.MessageAdded, TaskID: t.A2AID(), Reply: &reply, Verdict: opt.Accepted})
		j.answered()
		closing.Round, closing.Attempt = t.Gates+1, 1
		j.move(opt.TaskWorking, closing)
	case action == opt.Accept:
		j.move(opt.TaskWorking, closing)
		said := j.say(":status", fmt.Sprintf("No answer came within %s. The approval counts as accepted.", after))
		j.complete(nil, nil, opt.Event{Reason: opt.ReasonTimeout, Status: said})
	default:
		j.end(opt.TaskFailed, opt.ReasonTimeout, fmt.Sprintf("No answer came within %s.", after), closing)
	}
}

// answerBudget continues after a decision about the budget at the gate of t, or after the time for one. closing goes
// into the event that closes the gate. The wait for the answer does not count as time that was used.
func answerBudget(m *Plan, t *opt.Task, reply opt.Reply, closing opt.Event) {
	j, object, asked := m.job(t), t.Gate.Object, t.Gate
	switch reply.Action {
	case opt.Accept:
	case opt.EditAccept:
		object = reply.Edited
	default:
		text := strings.TrimSpace("The budget is spent. " + reply.Remark())
		j.move(opt.TaskWorking, closing)
		j.overspent(text)
		for _, p := range (spending{&m.State}).purses(m.now) {
			for _, other := range heldIn(m.jobs()) {
				if other.task.Gate == nil && asked.OfPlan == (p.of == ofPlan) && p.holds(other.work().needs(), opt.Usage{}) { // t has asked for it
					other.overspent(text)
				}
			}
		}
		return
	}
	j.release(closing)
	var raised opt.SpendLimit
	if len(object) != 1 || json.Unmarshal(object[0].Data, &raised) != nil {
		return // the gate opens again
	}
	to, b := spending{&m.State}.raised(asked)
	if raised = b.RaisedTo(raised); raised.Time > b.Time {
		raised.Time += (m.now.Millis() - asked.RequestedAt.Millis()) / 1000
	}
	*to = to.Highest(raised.Within(b.Most))
}

// note adds a message to the conversation of the task that it names, or of the
// root task and so of every later task.
func (m *Plan) note(l opt.Letter, e opt.Event) {
	e.Verdict = opt.Noted
	target := l.TaskID
	if l.ForTask != "" {
		target = l.ForTask
	}
	t := m.State.Plan.Task(target)
	switch {
	case t == nil:
		m.State.Notes = append(m.State.Notes, authored(l.Message, l.Principal))
	case t.State.Ended() || m.State.Plan.Status.Ended():
		e.Verdict = opt.TooLate
	default:
		m.applyUnrecorded(e)
	}
	m.record(e)
	if e.Verdict == opt.Noted {
		m.showNote(t, l)
	}
}

// showNote shows a note at the open approvals, and to the tasks that wait for one. A comment is shown
// at its own alone: it reaches no other task.
func (m *Plan) showNote(to *opt.Task, l opt.Letter) {
	if !l.Comment {
		m.State.shapedBy(l.Principal)
	}
	for _, t := range m.State.Plan.Tasks {
		if w := m.State.Work[t.ID]; w != nil && !l.Comment && (to == nil || t == to) {
			w.hear()
		}
		if t.Gate != nil && t.Gate.Kind == opt.Approval && (t == to || !l.Comment) {
			m.job(t).extend(t.Gate.WithNote(exchanged(l, m.now)))
		}
	}
}

// onNotes takes in messages to the root task that a directive has brought, and shows them at
// the open approvals. again is whether the plan may have them from an earlier run of the objective.
func (m *Plan) onNotes(notes []a2a.Message, again bool) {
	s := &m.State
	s.Heard += len(notes)
	for _, message := range notes {
		author, _ := message.Metadata.String(opt.KeyAuthor)
		if again && opt.HasNote(s.Notes, message) {
			continue
		}
		s.Notes = append(s.Notes, message)
		m.showNote(nil, opt.Letter{Message: message, Principal: author})
	}
}

// judged returns a reply as executors get it: an accepted one names the digest of the object
// alone, without the notes that have come since.
func judged(t *opt.Task, reply opt.Reply, v opt.Verdict) *opt.Reply {
	if v == opt.Accepted && reply.ObjectDigest != "" {
		reply.ObjectDigest = t.Gate.Digest()
	}
	return &reply
}

// voted returns a gate with a decision that does not decide alone.
func voted(gate opt.Gate, reply opt.Reply) opt.Gate {
	gate.Votes = append(slices.Clone(gate.Votes), opt.Vote{Action: reply.Action, DecidedBy: reply.DecidedBy, Groups: reply.Groups, For: reply.For, ObjectDigest: reply.ObjectDigest})
	return gate
}

func answersArtifact(t *opt.Task, reply opt.Reply) a2a.Artifact {
	data := map[string]json.RawMessage{}
	for _, a := range reply.Answers {
		data[a.ID] = a.Answer
	}
	return a2a.Artifact{ArtifactID: opt.AnswersID(t.ID), Name: t.Name, Parts: append([]a2a.Part{a2a.DataPart(data)}, reply.Attached...)}
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
