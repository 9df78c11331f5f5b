package agui

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/api/wire"
	"longhaul/opt"
	"longhaul/opt/shown"
	optwire "longhaul/opt/wire"
)

// An interrupt is a gate that the caller may answer.
type interrupt struct {
	ID      string         `json:"id"`
	Reason  string         `json:"reason"`
	Message string         `json:"message,omitempty"`
	CallID  string         `json:"toolCallId,omitempty"`
	Schema  object         `json:"responseSchema,omitempty"`
	Expires string         `json:"expiresAt,omitempty"`
	More    map[string]any `json:"metadata"`
}

type object = map[string]any

// The reasons of interrupts.
const (
	reasonCall      = "tool_call"
	reasonInput     = "input_required"
	reasonConfirm   = "confirmation"
	reasonElsewhere = "longhaul:authorization" // of a gate that waits for an authorization from elsewhere
)

// interruptOf returns a gate as an interrupt. Its id has the digest of the object that it shows,
// so that a decision counts only for what its client has seen.
func interruptOf(i shown.Interrupt) interrupt {
	g := &i.Gate
	out := interrupt{
		ID: g.ID, Reason: reasonConfirm, Message: g.Prompt(), Expires: g.ExpiresAt.String(),
		More: map[string]any{opt.KeyInterrupt: optwire.InterruptOf(i)},
	}
	if g.ObjectDigest != "" {
		out.ID += "#" + g.ObjectDigest
	}
	_, isCall := functionOf(g)
	switch {
	case g.Kind == opt.Clarification:
		out.Reason, out.Schema = reasonInput, questionsSchema(g)
		return out
	case g.Kind == opt.Credential:
		out.Reason = reasonElsewhere
	case isCall:
		out.Reason, out.CallID = reasonCall, g.ID
	}
	out.Schema = actionsSchema(g, isCall)
	return out
}

// questionsSchema describes the answers to a clarification: one member per question.
func questionsSchema(g *opt.Gate) object {
	members, ids := object{}, []string{}
	for _, q := range g.Questions {
		member := object{}
		_ = json.Unmarshal(q.Schema, &member) // an unlimited answer
		if _, ok := member["description"]; !ok {
			member["description"] = q.Question
		}
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

// answerTo returns the answer in a resume to a gate, as /v1/interrupts takes it.
func answerTo(c *call.Call, e resume, g *opt.Gate, digest string) (gate.AnswerParams, error) {
	answer := object{}
	switch text, payload, err := payloadOf(e); {
	case err != nil:
		return gate.AnswerParams{}, err
	case e.Status == "cancelled":
		answer["action"] = opt.Reject
	case g.Kind == opt.Clarification:
		answer["answers"] = answersIn(g, e.Payload, payload)
	case payload != nil:
		answer = decisionIn(g, payload)
	case text != "":
		answer["text"] = text
	default:
		return gate.AnswerParams{}, call.InvalidField("resume.payload", "must be an object as the responseSchema of the interrupt describes it")
	}
	if _, named := answer["objectDigest"]; digest != "" && !named && answer["text"] == nil {
		answer["objectDigest"] = digest
	}
	answer["id"] = g.ID
	return readParams(c, answer, wire.ReadAnswer)
}

// payloadOf returns a payload as a text or as an object.
func payloadOf(e resume) (text string, payload object, err error) {
	var value any
	if len(e.Payload) > 0 {
		if err := decode(e.Payload, &value); err != nil {
			return "", nil, fmt.Errorf("read a payload: %w", err) // it was part of JSON
		}
	}
	switch v := value.(type) {
	case string:
		text = v
	case bool:
		payload = object{"approved": v}
	case object:
		payload = v
	}
	return text, payload, nil
}

// answersIn returns the answers of a payload to the questions of a gate. The answer to one
// question may be the whole payload.
func answersIn(g *opt.Gate, raw json.RawMessage, payload object) any {
	if list, ok := payload["answers"].([]any); ok {
		return list
	}
	if len(g.Questions) == 1 {
		if _, named := payload[g.Questions[0].ID]; !named && raw != nil {
			return []object{{"id": g.Questions[0].ID, "answer": raw}}
		}
	}
	list := []object{}
	for _, name := range slices.Sorted(maps.Keys(payload)) { // a repeat is the same message
		list = append(list, object{"id": name, "answer": payload[name]})
	}
	return list
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

// gateOf returns the id of the gate of an interrupt, and the digest of what it has shown.
func gateOf(interruptID string) (id, digest string) {
	id, digest, _ = strings.Cut(interruptID, "#")
	return id, digest
}
