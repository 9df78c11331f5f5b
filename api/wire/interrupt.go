package wire

import (
	"encoding/json"
	"maps"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/opt"
)

// ReadAnswer reads an answer to a gate: the members of a decision as a message has
// them in a data part, or a text.
func ReadAnswer(r *Reader) gate.AnswerParams {
	o := r.params()
	p := gate.AnswerParams{ID: o.NeedText("id")}
	m := a2a.Message{Role: a2a.RoleUser, MessageID: o.ID("messageId")}
	if named := o.Text("interruptId"); named != "" && named != p.ID {
		o.Wrong("interruptId", "is not the one in the path")
	}
	if text := o.Text("text"); text != "" {
		m.Parts = append(m.Parts, a2a.TextPart(text))
	}
	if o.Has("action") || o.Has("decision") || o.Has("answers") {
		p.Message.Decision = readGateDecision(o)
		p.Message.Decision.GateID = p.ID
		m.Parts = append(m.Parts, a2a.Part{Data: decisionData(o, p.ID)})
	}
	if len(m.Parts) == 0 {
		o.Wrong("action", "is required, or answers to a clarification, or text")
	}
	p.Message.Message = m
	taskID, _ := opt.TaskOfGate(p.ID)
	r.answer = &call.Answering{TaskID: taskID, GateID: p.ID}
	return p
}

// decisionData returns the members of o, a decision, as the data of a part.
func decisionData(o codec.Object, gateID string) json.RawMessage {
	data := maps.Clone(o.Members())
	for _, other := range []string{"id", "messageId", "message_id", "text", "interrupt_id"} {
		delete(data, other)
	}
	data["interruptId"], _ = json.Marshal(gateID) // a string has a JSON form
	out, _ := json.Marshal(data)                  // so have members that were read
	return out
}
