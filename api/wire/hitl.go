package wire

import (
	"slices"

	"longhaul/a2a"
	"longhaul/a2a/codec"
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
func readHITL(r *codec.Reader, m a2a.Message) *letter.GateDecision {
	if !m.Metadata.Has(a2a.ExtensionHITL) {
		return nil
	}
	o, ok := r.Object("message.metadata."+a2a.ExtensionHITL, m.Metadata[a2a.ExtensionHITL])
	if !ok {
		return nil
	}
	if !slices.Contains(m.Extensions, a2a.ExtensionHITL) {
		r.Wrong("message.extensions", "must contain "+a2a.ExtensionHITL+", which the metadata uses")
	}
	switch kind := o.Text("type"); kind {
	case hitlApproval:
		return readApproval(o)
	case hitlAnswers:
		return readTexts(o)
	}
	o.Wrong("type", "must be one of: "+hitlApproval+", "+hitlAnswers)
	return nil
}

// readApproval reads accept or reject. A response may decide several requests at once in
// the extension; here a message is for one gate, so that it takes effect as a whole.
func readApproval(o codec.Object) *letter.GateDecision {
	list := o.List("approvals")
	if len(list) != 1 {
		o.Wrong("approvals", "must contain one approval: send a message for each gate")
		return nil
	}
	approvals := o.Objects("approvals")
	if len(approvals) == 0 {
		return nil
	}
	a := approvals[0]
	a.Missing("approved")
	d := &letter.GateDecision{Field: a.Path(), Member: "approved", GateID: a.NeedText("id"), Action: opt.Reject, Feedback: a.Text("rejection_reason")}
	if a.Flag("approved", false) {
		d.Action = opt.Accept
	}
	if d.Action == opt.Accept && d.Feedback != "" {
		a.Wrong("rejection_reason", "contradicts approved")
	}
	return d
}

// readTexts reads answers to questions, in their order.
func readTexts(o codec.Object) *letter.GateDecision {
	d := &letter.GateDecision{Field: o.Path(), GateID: o.NeedText("id"), Texts: [][]string{}}
	o.Missing("answers")
	for _, a := range o.Objects("answers") {
		texts := a.Texts("answer")
		if len(texts) == 0 {
			a.Wrong("answer", "must contain at least one text")
		}
		d.Texts = append(d.Texts, texts)
	}
	return d
}
