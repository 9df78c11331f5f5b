package wire

import (
	"slices"

	"longhaul/a2a"
	"longhaul/api/letter"
	"longhaul/opt"
)

// The types of responses in the extension [a2a.ExtensionHITL].
const (
	hitlApproval = "tool_approval_response"
	hitlAnswers  = "ask_user_response"
)

// readHITL returns the decision that m has in the extension [a2a.ExtensionHITL], nil
// if there is none. Its ids are those of gates. "Clients must require both" the URI in
// the extensions of a message and the payload in its metadata: a payload without the
// URI is reported, since its sender would believe to have decided otherwise.
func readHITL(r *Reader, m a2a.Message) *letter.GateDecision {
	if !m.Metadata.Has(a2a.ExtensionHITL) {
		return nil
	}
	raw, ok := r.object("message.metadata."+a2a.ExtensionHITL, m.Metadata[a2a.ExtensionHITL])
	if !ok {
		return nil
	}
	if !slices.Contains(m.Extensions, a2a.ExtensionHITL) {
		r.wrong("message.extensions", "must contain "+a2a.ExtensionHITL+", which the metadata uses")
	}
	o := hitl{raw}
	switch kind := o.text("type"); kind {
	case hitlApproval:
		return o.approval()
	case hitlAnswers:
		return o.answers()
	}
	o.wrong("type", "must be one of: "+hitlApproval+", "+hitlAnswers)
	return nil
}

// A hitl is an object that is read as a response of the extension.
type hitl struct{ object }

// approval reads accept or reject. A response may decide several requests at once in
// the extension; here a message is for one gate, so that it takes effect as a whole.
func (o hitl) approval() *letter.GateDecision {
	list := o.list("approvals")
	if len(list) != 1 {
		o.wrong("approvals", "must contain one approval: send a message for each gate")
		return nil
	}
	approvals := o.objects("approvals", list)
	if len(approvals) == 0 {
		return nil
	}
	a := approvals[0]
	a.missing("approved")
	d := &letter.GateDecision{Field: a.path, Member: "approved", GateID: a.needText("id"), Action: opt.Reject, Feedback: a.text("rejection_reason")}
	if a.flag("approved", false) {
		d.Action = opt.Accept
	}
	if d.Action == opt.Accept && d.Feedback != "" {
		a.wrong("rejection_reason", "contradicts approved")
	}
	return d
}

// answers reads answers to questions, in their order.
func (o hitl) answers() *letter.GateDecision {
	d := &letter.GateDecision{Field: o.path, GateID: o.needText("id"), Texts: [][]string{}}
	o.missing("answers")
	for _, a := range o.objects("answers", o.list("answers")) {
		texts := a.texts("answer")
		if len(texts) == 0 {
			a.wrong("answer", "must contain at least one text")
		}
		d.Texts = append(d.Texts, texts)
	}
	return d
}
