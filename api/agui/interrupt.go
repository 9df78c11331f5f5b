package agui

import (
	"encoding/json"
	"strings"

	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/api/gateform"
	"longhaul/api/wire"
	"longhaul/opt"
	"longhaul/opt/shown"
	optwire "longhaul/opt/wire"
)

// interruptOf returns a gate that the caller may answer as an interrupt. Its id has the digest of
// the object that it shows, so that a decision counts only for what its client has seen.
func interruptOf(i shown.Interrupt) object {
	g := &i.Gate
	_, _, isCall := functionOf(g)
	out := object{"id": g.ID, "reason": "confirmation", "message": g.Prompt(), "metadata": object{opt.KeyInterrupt: optwire.InterruptOf(i)}}
	if g.ObjectDigest != "" {
		out["id"] = g.ID + "#" + g.ObjectDigest
	}
	if !g.ExpiresAt.IsZero() {
		out["expiresAt"] = g.ExpiresAt
	}
	switch {
	case g.Kind == opt.Clarification:
		out["reason"], out["responseSchema"] = "input_required", questionsSchema(g)
		return out
	case g.Kind == opt.Credential:
		out["reason"] = "longhaul:authorization" // from elsewhere
	case isCall:
		out["reason"], out["toolCallId"] = "tool_call", g.ID
	}
	out["responseSchema"] = actionsSchema(g, isCall)
	return out
}

// questionsSchema describes the answers to a clarification: one member per question.
func questionsSchema(g *opt.Gate) object {
	members, ids := object{}, []string{}
	for _, q := range g.Questions {
		member := object{"description": q.Question}
		_ = json.Unmarshal(q.Schema, &member) // an unlimited answer
		members[q.ID] = member
		ids = append(ids, q.ID)
	}
	return object{"type": "object", "properties": members, "required": ids}
}

// actionsSchema describes a decision: approved as AG-UI has it, or one of the actions of the
// gate.
func actionsSchema(g *opt.Gate, isCall bool) object {
	text := object{"type": "string"}
	members := object{"approved": object{"type": "boolean"}, "action": object{"type": "string", "enum": g.Actions}, "feedback": text}
	if g.Allows(opt.EditAccept) {
		members["editedArtifactData"] = object{"description": "Replaces the object, for the action edit-accept."}
		if isCall {
			members["editedArgs"] = object{"type": "object", "description": "Replaces the arguments. Not merged."}
		}
	}
	if g.Allows(opt.Ask) {
		members["question"] = text
	}
	return object{"type": "object", "properties": members, "anyOf": []object{{"required": []string{"approved"}}, {"required": []string{"action"}}}}
}

// A reply is what a client sends to an interrupt.
type reply struct {
	ID      string `json:"interruptId"`
	Status  string `json:"status"`
	Payload any    `json:"payload"`
}

// The statuses of a reply.
const (
	resolved  = "resolved"
	cancelled = "cancelled"
)

// gateID returns the id of the gate that e answers.
func (e reply) gateID() string {
	id, _, _ := strings.Cut(e.ID, "#")
	return id
}

// answer returns the answer to a gate, as /v1/interrupts takes it.
func (e reply) answer(c *call.Call, g *opt.Gate) (gate.AnswerParams, error) {
	answer := object{}
	members, _ := e.Payload.(object)
	if approved, ok := e.Payload.(bool); ok {
		members = object{"approved": approved}
	}
	switch {
	case e.Status == cancelled:
		answer["action"] = opt.Reject
	case g.Kind == opt.Clarification:
		answer["answers"] = answersIn(g, e.Payload)
	case members != nil:
		answer = decisionIn(g, members)
	case e.Payload != nil && e.Payload != "":
		answer["text"] = e.Payload
	default:
		return gate.AnswerParams{}, call.InvalidField("resume.payload", "must be an object as the responseSchema of the interrupt describes it")
	}
	_, digest, _ := strings.Cut(e.ID, "#")
	if _, named := answer["objectDigest"]; digest != "" && !named && answer["text"] == nil {
		answer["objectDigest"] = digest
	}
	answer["id"] = g.ID
	return readParams(c, answer, wire.ReadAnswer)
}

// answersIn returns the answers of a payload to the questions of a gate. The answer to one
// question may be the whole payload.
func answersIn(g *opt.Gate, payload any) any {
	members, _ := payload.(object)
	if list, ok := members["answers"].([]any); ok {
		return list
	}
	if len(g.Questions) == 1 && payload != nil {
		if _, named := members[g.Questions[0].ID]; !named {
			members = object{g.Questions[0].ID: payload}
		}
	}
	return gateform.Answers(g, members)
}

// decisionIn returns the decision in a payload: an action of the gate, or approved as AG-UI has
// it, perhaps with other arguments of a call.
func decisionIn(g *opt.Gate, payload object) object {
	approved, ok := payload["approved"].(bool)
	if _, named := payload["action"]; named || !ok {
		return payload
	}
	out := object{"action": opt.Reject}
	for _, name := range []string{"feedback", "objectDigest"} {
		if v, ok := payload[name]; ok {
			out[name] = v
		}
	}
	if !approved {
		return out
	}
	out["action"] = opt.Accept
	var call object
	if args, ok := payload["editedArgs"]; ok && json.Unmarshal(g.Shown().ArtifactData, &call) == nil && call != nil {
		call["arguments"] = args
		out["action"], out["editedArtifactData"] = opt.EditAccept, call
	} else if edited, ok := payload["editedArtifactData"]; ok {
		out["action"], out["editedArtifactData"] = opt.EditAccept, edited
	}
	return out
}
