package wire

import (
	"cmp"
	"fmt"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/letter"
	"longhaul/opt"
)

// readDecision returns the decision in m, nil if there is none. More than one, or
// one that is malformed, is a fault. The author and the time of a decision are
// not read: the server sets them.
func readDecision(m a2a.Message) (*letter.GateDecision, *call.Fault) {
	r := &Reader{}
	found := readHITL(r, m)
	for i, p := range m.Parts {
		if p.Data == nil || p.Data[0] != '{' {
			continue
		}
		o, _ := r.object(fmt.Sprintf("message.parts[%d].data", i), p.Data)
		if o.find("action") == nil && o.find("decision") == nil && o.find("answers") == nil {
			continue
		}
		if found != nil {
			o.wrongObject("is a second decision; send one")
			break
		}
		found = decision{o}.read()
	}
	return found, r.Fault()
}

// A decision is an object that is read as one.
type decision struct{ object }

func (o decision) read() *letter.GateDecision {
	d := &letter.GateDecision{Field: o.path, GateID: o.text("interruptId"), Feedback: o.text("feedback"), ObjectDigest: o.text("objectDigest")}
	if o.find("answers") != nil {
		d.Answers = o.answers()
		if o.find("action") != nil || o.find("decision") != nil {
			o.wrongObject("must have either an action or answers")
		}
		return d
	}
	if o.find("action") == nil {
		d.Action = o.legacy(d.Feedback)
		return d
	}
	d.Action = opt.Action(o.text("action")) // the service knows which ones the gate offers
	if d.Action == "edit" {                 // as gates of OpenWOP offer it
		d.Action = opt.EditAccept
	}
	switch d.Action {
	case opt.EditAccept:
		d.Edited = o.find("editedArtifactData")
	case opt.Ask:
		d.Question = o.text("question")
	case opt.Refine:
		d.Refine = o.refinement()
	}
	return d
}

// refinement reads the refinement; nil if the message has none.
func (o decision) refinement() *opt.Refinement {
	r, ok := o.child("refineFeedback")
	if !ok {
		return nil
	}
	return &opt.Refinement{
		Scope:       cmp.Or(oneOf(r.fields, "scope", "whole", "section", "items"), "whole"),
		SectionPath: r.find("sectionPath"), Text: r.text("text"), ItemIDs: r.texts("itemIds"), Tags: r.texts("tags"),
	}
}

// legacy reads the words of the first version of the gate: approved, or rejected,
// which with feedback means refine.
func (o decision) legacy(feedback string) opt.Action {
	switch o.text("decision") {
	case "approved":
		return opt.Accept
	case "rejected":
		if feedback != "" {
			return opt.Refine
		}
		return opt.Reject
	}
	o.wrong("decision", "must be one of: approved, rejected")
	return ""
}

func (o decision) answers() []opt.Answer {
	list := o.list("answers")
	if len(list) == 0 {
		o.wrong("answers", "must contain at least one answer")
	}
	var out []opt.Answer
	for _, a := range o.objects("answers", list) {
		answer := opt.Answer{ID: a.needText("id"), Answer: a.m["answer"]}
		if answer.Answer == nil {
			a.wrong("answer", "is required")
		}
		out = append(out, answer)
	}
	return out
}
