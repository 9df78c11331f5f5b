package machine

import (
	"encoding/json"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// openGate makes t wait at a gate. The gate's id is made from the number of gates
// before it, so it is the same on every replay.
func (m *Plan) openGate(t *opt.Task, gate opt.Gate) {
	gate = gate.Opened(m.now, m.State.Plan.Limits.GateTimeout)
	gate.ID, gate.TaskID = opt.GateIDIn(m.State.Epoch, t.A2AID(), t.Gates+1), t.A2AID()
	gate.ObjectDigest = gate.Digest()
	gate = m.notes().atOpening(t, gate)
	m.tasks().moveTask(t, gate.State(), opt.Event{Gate: &gate, Status: gate.Message(m.State.ContextID, t.A2AID())})
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
		Kind: opt.MessageAdded, At: m.now, PlanID: m.State.Plan.ID, TaskID: l.TaskID, ForTask: l.ForTask,
		Message: &l.Message, Principal: l.Principal, Key: l.Key,
	}
	if l.Reply == nil {
		m.notes().note(l, e)
		return
	}
	target := l.TaskID
	if l.ForTask != "" {
		target = l.ForTask
	}
	t := m.State.Plan.Task(target)
	reply := *l.Reply
	reply.DecidedBy, reply.At, reply.MessageID = l.Principal, m.now, l.Message.MessageID
	e.Verdict = m.judge(t, reply, l.Groups)
	if t != nil && t.Gate != nil {
		reply.Groups = t.Gate.Responders.Among(l.Groups)
	}
	e.Decision = m.decided(target, reply, e.Verdict, opt.Decision{ReplyDigest: opt.PartsDigest(l.Message.Parts)})
	e.Reply = m.judged(t, reply, e.Verdict)
	m.record(e)
	if e.Verdict != opt.Accepted {
		return
	}
	if reply.Action == opt.Ask {
		m.exchange(t, l, reply.Question)
		return
	}
	if !t.Gate.Decides(reply.Action) {
		m.vote(t, reply)
		return
	}
	m.notes().approve(t, reply)
	accepted := e
	accepted.TaskID = t.A2AID()
	m.tasks().applyUnrecorded(accepted)
	m.decide(t, reply, l.Message)
}

// judged returns a reply as executors get it: an accepted one names the digest of the object
// alone, without the notes that have come since.
func (m *Plan) judged(t *opt.Task, reply opt.Reply, v opt.Verdict) *opt.Reply {
	if v == opt.Accepted && reply.ObjectDigest != "" {
		reply.ObjectDigest = t.Gate.Digest()
	}
	return &reply
}

// decided returns the record of a verdict on a reply to the A2A task with an id: the
// next one in the chain of the plan. d has the members that reply does not have. It
// is called once for each reply, before the gate changes, and its result goes into an
// event that is recorded.
//
// A run that began under earlier rules has no chain, since its first records would be
// missing.
func (m *Plan) decided(taskID string, reply opt.Reply, v opt.Verdict, d opt.Decision) *opt.Decision {
	s := &m.State
	if s.Rules < rulesChain {
		return nil
	}
	d.ObjectiveID, d.PlanID, d.Attempt, d.TaskID, d.GateID = s.Plan.ObjectiveID, s.Plan.ID, max(s.Plan.Run, 1), taskID, reply.GateID
	d.Action, d.Verdict, d.DecidedBy, d.Groups, d.DecidedAt = reply.Action, v, reply.DecidedBy, reply.Groups, reply.At
	d.MessageID, d.SeenDigest, d.Epoch = reply.MessageID, reply.ObjectDigest, s.Epoch
	if t := s.Plan.Task(taskID); t != nil && t.Gate != nil && t.Gate.ID == reply.GateID {
		d.Kind, d.ObjectDigest = t.Gate.Kind, t.Gate.ObjectDigest
		d.Closed = v == opt.Accepted && reply.Action != opt.Ask && (reply.MessageID == "" || t.Gate.Decides(reply.Action))
	}
	return s.Chain.Add(d)
}

// expired is decided for the open gate of t, which is about to close because its time
// is over. action is "" unless the gate is an approval.
func (m *Plan) expired(t *opt.Task, action opt.Action) *opt.Decision {
	return m.decided(t.A2AID(), opt.Reply{GateID: t.Gate.ID, Action: action, DecidedBy: opt.ByTimer, At: m.now}, opt.Accepted, opt.Decision{})
}

// closedByHand is decided for the open gate of t, which is about to close because a client
// moves t to a state.
func (m *Plan) closedByHand(t *opt.Task, to opt.TaskState, principal string) *opt.Decision {
	var action opt.Action
	switch {
	case t.Gate.Kind != opt.Approval:
	case stops(to):
		action = opt.Reject
	default:
		action = opt.Accept
	}
	reply := opt.Reply{GateID: t.Gate.ID, Action: action, DecidedBy: principal, At: m.now}
	m.notes().approve(t, reply)
	return m.decided(t.A2AID(), reply, opt.Accepted, opt.Decision{ByHand: true})
}

// exchange adds what a client says to the gate of t, which stays open.
func (m *Plan) exchange(t *opt.Task, l opt.Letter, text string) {
	m.notes().extend(t, t.Gate.With(opt.Exchange{Question: text, MessageID: l.Message.MessageID, AskedBy: l.Principal, AskedAt: m.now}))
}

// judge returns the verdict on a reply of a principal that belongs to groups, as the API vouches
// for them when the reply comes. The plan judges, and not the API, so that a refusal is an event
// like every other verdict.
func (m *Plan) judge(t *opt.Task, reply opt.Reply, groups []string) opt.Verdict {
	switch {
	case t == nil || t.Gate == nil || t.Gate.ID != reply.GateID:
		return opt.NotWaiting
	case reply.Action != opt.Ask && !t.Gate.Responders.Allow(reply.DecidedBy, groups, slices.Concat(m.State.Shapers, []string{m.State.Requester})...):
		return opt.NotAllowed
	case t.Gate.Kind == opt.Credential && reply.Action == "" && reply.Feedback != "" && len(t.Gate.Actions) > 0: // words
	case t.Gate.Kind != opt.Clarification && !t.Gate.Allows(reply.Action), t.Gate.Kind == opt.Clarification && len(reply.Answers) == 0:
		return opt.NotOffered
	case reply.ObjectDigest != "" && reply.ObjectDigest != t.Gate.ObjectDigest:
		return opt.OtherThing
	case reply.Action != opt.Ask && t.Gate.Voted(reply.DecidedBy):
		return opt.HasVoted
	}
	return opt.Accepted
}

// vote adds a decision to the gate of t that does not decide alone.
func (m *Plan) vote(t *opt.Task, reply opt.Reply) {
	gate := *t.Gate
	gate.Votes = append(slices.Clone(gate.Votes), opt.Vote{Action: reply.Action, DecidedBy: reply.DecidedBy, Groups: reply.Groups, ObjectDigest: reply.ObjectDigest})
	m.renew(t, gate)
}

// renew shows t's gate, which stays open, with other members.
func (m *Plan) renew(t *opt.Task, gate opt.Gate) {
	m.tasks().moveTask(t, t.State, opt.Event{Reason: t.Reason, Gate: &gate, Status: gate.Message(m.State.ContextID, t.A2AID())})
}

// decide continues after an accepted decision: the task runs its next round, or
// is completed if it is only a gate.
func (m *Plan) decide(t *opt.Task, reply opt.Reply, message a2a.Message) {
	if t.Ask == nil {
		m.tasks().nextRound(t)
		m.tasks().moveTask(t, opt.TaskWorking, opt.Event{Round: t.Gates + 1, Attempt: 1})
		return
	}
	if reply.Action == opt.Refine {
		m.tasks().sendBack(t, reply, message)
		return
	}
	m.tasks().moveTask(t, opt.TaskWorking, opt.Event{})
	switch {
	case reply.Action == opt.EditAccept:
		m.tasks().complete(t, []a2a.Artifact{editedArtifact(t, reply)}, nil, opt.Event{})
	case reply.Action == opt.Reject:
		m.tasks().end(t, opt.TaskFailed, "approval_rejected", strings.TrimSpace("The approval was rejected. "+reply.Feedback), opt.Event{})
	case len(reply.Answers) > 0:
		m.tasks().complete(t, []a2a.Artifact{answersArtifact(t, reply.Answers)}, nil, opt.Event{})
	default:
		m.tasks().complete(t, nil, nil, opt.Event{})
	}
}

func answersArtifact(t *opt.Task, answers []opt.Answer) a2a.Artifact {
	data := map[string]json.RawMessage{}
	for _, a := range answers {
		data[a.ID] = a.Answer
	}
	return a2a.Artifact{ArtifactID: opt.ArtifactID(t.ID, "answers"), Name: t.Name, Parts: []a2a.Part{a2a.DataPart(data)}}
}
