package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/activities"
	"longhaul/internal/schema"
	"longhaul/opt"
)

// A question is a question of the agent at a gate of the task.
type question struct {
	Round  int          `json:"round"`            // of the gate
	Status string       `json:"status"`           // digest of the status that asks
	Kind   opt.GateKind `json:"kind"`             // of the gate
	Gate   string       `json:"gate,omitempty"`   // id of the gate at the agent; "" for an agent without gates
	Digest string       `json:"digest,omitempty"` // of the object that is decided on there
}

// maxQuestions is how many questions of an agent a gate has at most.
const maxQuestions = 20

// remoteGate is what we use of a gate of another agent, so that its other members may have any form.
type remoteGate struct {
	Kind         opt.GateKind   `json:"kind"`
	ID           string         `json:"interruptId"`
	Title        string         `json:"title"`
	Description  string         `json:"description"`
	Actions      []opt.Action   `json:"actions"`
	Questions    []opt.Question `json:"questions"`
	ObjectDigest string         `json:"objectDigest"`

	object []a2a.Part // the parts behind it in its message
}

// gateIn returns the gate of another agent that its status message has, a data part of the OPT
// extension; nil if there is none.
func gateIn(s a2a.TaskStatus) *remoteGate {
	if s.Message == nil {
		return nil
	}
	for i, p := range s.Message.Parts {
		g := remoteGate{object: s.Message.Parts[i+1:]}
		if p.Data != nil && json.Unmarshal(p.Data, &g) == nil && g.ID != "" && g.canBeAnswered() {
			return &g
		}
	}
	return nil
}

// canBeAnswered reports whether a gate of this server can ask what g asks.
func (g remoteGate) canBeAnswered() bool {
	switch g.Kind {
	case opt.Approval, opt.Credential:
		return slices.Contains(g.Actions, opt.Accept)
	case opt.Clarification:
		return len(g.Questions) > 0 && len(g.Questions) <= maxQuestions
	}
	return false
}

// openGate opens a gate for a remote task that waits for a person, after the artifacts that
// the task does not have yet. asks is false right after an answer, while the agent still
// shows the question that was answered.
//
// While the gate is for an authorization the remote task is watched, since it may get that
// elsewhere and continue by itself.
func (h *handoff) openGate(t codec.TaskRead, changed []a2a.Artifact) (o activities.Outcome, asks bool) {
	m := &h.memo
	switch authorizes := t.Status.State == a2a.AuthRequired; {
	case m.State == m.Answered && m.Polls < askAgainAfterPolls:
		return o, false
	case m.Asked != nil && authorizes && m.Asked.Status == m.State:
		return h.watch(nil, changed), true
	}
	m.Asked = nil
	if len(changed) > 0 {
		o := h.park(0, h.status(t))
		o.Artifacts = changed
		return o, true
	}
	q, gate := h.question(t.Status)
	if h.agent.OnLost != Fail {
		m.noteAsk(opt.GateIDIn(h.work.Epoch, h.work.TaskID, h.work.Round), strings.TrimPrefix(gate.Prompt(), h.askPrefix()))
	}
	if m.Problem != "" {
		gate.Description = strings.TrimSpace("The agent did not take the last answer: " + m.Problem + "\n" + gate.Description)
	}
	m.Asked, m.Answered = q, ""
	if q.Kind == opt.Credential {
		return h.watch(&gate, nil), true
	}
	waits := activities.Keeping(activities.WaitFor(gate), h.memo)
	waits.OnCancel = true
	return waits, true
}

// question returns the question in the status of a remote task that waits for a person, and the gate for it.
func (h *handoff) question(s a2a.TaskStatus) (*question, opt.Gate) {
	q := &question{Round: h.work.Round, Status: h.memo.State, Kind: opt.Clarification}
	switch g := gateIn(s); {
	case s.State == a2a.AuthRequired:
		if q.Kind = opt.Credential; g != nil && g.Kind == opt.Credential {
			q.Gate = g.ID
		}
		return q, opt.Gate{
			Kind: opt.Credential, Title: fmt.Sprintf("Agent %s needs an authorization", h.agent.name), Description: prompt(s),
			Actions: []opt.Action{opt.Accept, opt.Reject},
		}
	case g != nil && g.Kind != opt.Credential:
		q.Kind, q.Gate, q.Digest = g.Kind, g.ID, g.ObjectDigest
		return q, h.gate(g, s)
	}
	return q, h.plainGate(s)
}

// watch returns the outcome of a task that waits at a gate, which it opens if it is not nil,
// while the remote task is looked at from time to time.
func (h *handoff) watch(gate *opt.Gate, changed []a2a.Artifact) activities.Outcome {
	o := h.park(h.nextPoll(), "")
	o.Gate, o.Artifacts = gate, changed
	return o
}

// askPrefix names the agent before its words, unless it is the only one that clients talk to.
func (h *handoff) askPrefix() string {
	if h.input.Whole {
		return ""
	}
	return "Agent " + h.agent.name + " asks: "
}

// dataOf returns the first data in a status message, for people to see.
func dataOf(s a2a.TaskStatus) json.RawMessage {
	if s.Message != nil {
		for _, p := range s.Message.Parts {
			if p.Data != nil && len(p.Data) <= maxPrompt {
				return p.Data
			}
		}
	}
	return nil
}

// plainGate returns the gate for a question in words, with the data that is beside it.
func (h *handoff) plainGate(s a2a.TaskStatus) opt.Gate {
	gate := opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "answer", Question: h.askPrefix() + prompt(s)}}}
	if h.input.Whole && s.Message != nil {
		gate.Object = a2a.BesideText(s.Message.Parts)
		return gate
	}
	gate.ArtifactData = dataOf(s)
	return gate
}

// gate returns a gate of the task for one of the agent. An approval offers accept and
// reject alone: the other actions need the object as the agent stores it.
func (h *handoff) gate(g *remoteGate, s a2a.TaskStatus) opt.Gate {
	if g.Kind == opt.Approval {
		out := opt.Gate{Kind: opt.Approval, Title: h.askPrefix() + cleanLine(g.Title, maxLine), Description: cleanLines(g.Description, maxPrompt), Actions: []opt.Action{opt.Accept}}
		if slices.Contains(g.Actions, opt.Reject) {
			out.Actions = append(out.Actions, opt.Reject)
		}
		out.Object = g.object
		return out
	}
	out := opt.Gate{Kind: opt.Clarification, Description: cleanLines(g.Description, maxPrompt)}
	for i, q := range g.Questions {
		if !opt.IsPlainID(q.ID) || slices.ContainsFunc(out.Questions, func(other opt.Question) bool { return other.ID == q.ID }) {
			return opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "answer", Question: h.askPrefix() + prompt(s)}}}
		}
		asked := opt.Question{ID: q.ID, Question: cleanLines(q.Question, 2*maxLine)}
		if i == 0 {
			asked.Question = h.askPrefix() + asked.Question
		}
		if _, err := schema.Parse(q.Schema); q.Schema != nil && err == nil {
			asked.Schema = q.Schema
		}
		out.Questions = append(out.Questions, asked)
	}
	return out
}

// answer sends the answer of a person to the agent. It sends nothing if the agent no
// longer asks the question: then the agent has the answer already, or asks another one.
func (h *handoff) answer(ctx context.Context) (activities.Outcome, error) {
	m, r, q := &h.memo, h.remote(), *h.memo.Asked
	reply, ok := h.reply(q.Round)
	switch {
	case !ok || reply.DecidedBy == opt.ByTimer:
		h.abandonRemote(ctx)
		return h.end(activities.Failed(CodeNoAnswer, fmt.Sprintf("The question of agent %s was not answered.", h.agent.name))), nil
	case q.Kind == opt.Credential && reply.Action == opt.Reject:
		h.abandonRemote(ctx)
		return h.end(activities.Failed(CodeNoAnswer, strings.TrimSpace(fmt.Sprintf("The authorization that agent %s needs was refused. %s", h.agent.name, cleanLine(reply.Feedback, maxLine))))), nil
	}
	task, err := r.get(ctx, m.TaskID)
	if err != nil {
		return activities.Outcome{}, err
	}
	if statusDigest(task) != q.Status {
		m.Asked = nil
		return h.park(0, ""), nil
	}
	_, err = r.send(ctx, h.messages().answer(q, reply), h.input.Accept)
	return h.afterAnswer(q, reply, err)
}

// afterAnswer returns the outcome of a leg that has sent an answer, with the error of that.
func (h *handoff) afterAnswer(q question, reply opt.Reply, err error) (activities.Outcome, error) {
	m := &h.memo
	m.Asked, m.Problem = nil, ""
	t, ok := errors.AsType[*callError](err)
	if !ok {
		t = &callError{}
	}
	switch {
	case t.kind == refused && t.code == codeParams:
		m.Problem = t.text
		return h.park(0, ""), nil
	case t.code != 0 && q.Kind == opt.Credential: // some agents take no message while they wait for an authorization
		m.Problem = t.text
	case err != nil && t.kind != refused:
		m.Asked = &q
		return activities.Outcome{}, err
	}
	m.Polls, m.Down = 0, nil
	if q.Kind != opt.Credential || reply.Action != "" { // words authorize nothing
		m.Answered = q.Status
	}
	return h.park(0, fmt.Sprintf("Agent %s has the answer.", h.agent.name)), nil
}

// reply returns the reply to the gate of a round.
func (h *handoff) reply(round int) (opt.Reply, bool) {
	return replyTo(h.work.Replies, opt.GateIDIn(h.work.Epoch, h.work.TaskID, round))
}
