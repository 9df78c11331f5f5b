package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/api/letter"
	"longhaul/opt"
)

// readDecision returns the decision in m, nil if there is none. More than one, or
// one that is malformed, is a fault. The author and the time of a decision are
// not read: the server sets them.
func readDecision(m a2a.Message) (*letter.GateDecision, *call.Fault) {
	r := &codec.Reader{}
	found := readHITL(r, m)
	for i, p := range m.Parts {
		if p.Data == nil || p.Data[0] != '{' {
			continue
		}
		o, _ := r.Object(fmt.Sprintf("message.parts[%d].data", i), p.Data)
		if !o.Has("action") && !o.Has("decision") && !o.Has("answers") {
			continue
		}
		if found != nil {
			o.WrongObject("is a second decision; send one")
			break
		}
		found = readGateDecision(o)
	}
	return found, faultOf(r)
}

// readGateDecision reads the members of a decision.
func readGateDecision(o codec.Object) *letter.GateDecision {
	d := &letter.GateDecision{Field: o.Path(), GateID: o.Text("interruptId"), Feedback: o.Text("feedback"), ObjectDigest: o.Text("objectDigest")}
	if o.Has("answers") {
		d.Answers = readAnswers(o)
		if o.Has("action") || o.Has("decision") {
			o.WrongObject("must have either an action or answers")
		}
		return d
	}
	if !o.Has("action") {
		d.Action = legacyAction(o, d.Feedback)
		return d
	}
	d.Action = opt.Action(o.Text("action")) // the service knows which ones the gate offers
	if d.Action == "edit" {                 // as gates of OpenWOP offer it
		d.Action = opt.EditAccept
	}
	switch d.Action {
	case opt.EditAccept:
		d.Edited = o.Find("editedArtifactData")
	case opt.Ask:
		d.Question = o.Text("question")
	case opt.Refine:
		d.Refine = readRefinement(o)
	}
	return d
}

// readRefinement reads the refinement; nil if the message has none.
func readRefinement(o codec.Object) *opt.Refinement {
	r, ok := o.Child("refineFeedback")
	if !ok {
		return nil
	}
	return &opt.Refinement{
		Scope:       cmp.Or(codec.OneOf(r, "scope", "whole", "section", "items"), "whole"),
		SectionPath: r.Find("sectionPath"), Text: r.Text("text"), ItemIDs: r.Texts("itemIds"), Tags: r.Texts("tags"),
	}
}

// legacyAction reads the words of the first version of the gate: approved, or rejected,
// which with feedback means refine.
func legacyAction(o codec.Object, feedback string) opt.Action {
	switch o.Text("decision") {
	case "approved":
		return opt.Accept
	case "rejected":
		if feedback != "" {
			return opt.Refine
		}
		return opt.Reject
	}
	o.Wrong("decision", "must be one of: approved, rejected")
	return ""
}

func readAnswers(o codec.Object) []opt.Answer {
	list := o.List("answers")
	if len(list) == 0 {
		o.Wrong("answers", "must contain at least one answer")
	}
	var out []opt.Answer
	for _, a := range o.Objects("answers") {
		answer := opt.Answer{ID: a.NeedText("id"), Answer: a.Members()["answer"]}
		if answer.Answer == nil {
			a.Wrong("answer", "is required")
		}
		out = append(out, answer)
	}
	return out
}

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
