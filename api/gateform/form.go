// Package gateform has what all pages with forms for gates share: which forms a gate
// gets ([New]), how they ask its questions, what the page says about its deadline and
// its outcome, the answer that a form holds ([Read]), and the headers of the pages
// ([SetHeaders]). It writes no HTML.
package gateform

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/api/letter"
	"longhaul/api/message"
	"longhaul/opt"
)

// MostEdited is the size in bytes up to which an object can be changed in a form.
const MostEdited = 256 << 10

// A Form says which forms a gate gets.
type Form struct {
	Questions []Question // of a clarification

	Accepts, Rejects, Refines, Asks bool

	Authorizes bool // the task waits for an authorization elsewhere: words go to the one who needs it

	Edits     bool
	EditsJSON bool   // Edited is JSON, not text
	Edited    string // the text to change
}

// New returns the forms of g with its object, which is complete.
func New(g *opt.Gate, object []a2a.Part) Form {
	f := Form{Accepts: g.Allows(opt.Accept), Rejects: g.Allows(opt.Reject), Refines: g.Allows(opt.Refine), Asks: g.Allows(opt.Ask)}
	f.Authorizes = g.Kind == opt.Credential && f.Accepts
	if len(object) == 1 && g.Allows(opt.EditAccept) {
		switch p := object[0]; {
		case p.Text != nil:
			f.Edited, f.Edits = *p.Text, true
		case len(p.Data) > 0:
			f.Edited, f.Edits = a2a.DataText(p.Data), true
			f.EditsJSON = p.Data[0] != '"'
		}
		if len(f.Edited) > MostEdited {
			f.Edited, f.Edits = "", false
		}
	}
	if g.Kind == opt.Clarification {
		for _, q := range g.Questions {
			f.Questions = append(f.Questions, NewQuestion(q))
		}
	}
	return f
}

// Any reports whether there is a form.
func (f Form) Any() bool {
	return len(f.Questions) > 0 || f.Accepts || f.Rejects || f.Refines || f.Asks || f.Edits
}

// mostQuestions is how many answers a form may have.
const mostQuestions = 100

// Say is the action of a form whose words decide nothing.
const Say = "say"

// Read returns the answer in a form to a gate whose object has a digest. Its message has
// no id.
func Read(form url.Values, gateID, objectDigest string) (gate.AnswerParams, error) {
	action := form.Get("action")
	if action == Say {
		words := a2a.Message{Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(text(form, "words"))}}
		return gate.AnswerParams{ID: gateID, Message: message.SendParams{Message: words}}, nil
	}
	d := &letter.GateDecision{GateID: gateID, ObjectDigest: objectDigest}
	data := map[string]any{"interruptId": gateID}
	need := func(name, what string) (string, error) {
		text := text(form, name)
		if strings.TrimSpace(text) == "" {
			return "", call.Invalid(call.Violation{Field: name, Description: what + " is empty"})
		}
		return text, nil
	}
	var err error
	switch opt.Action(action) {
	case "answer":
		d.Texts, err = answers(form, need)
		data["answers"] = d.Texts
	case opt.Accept, opt.Reject:
		d.Action, d.Feedback = opt.Action(action), strings.TrimSpace(text(form, "feedback"))
	case opt.Refine:
		d.Action = opt.Refine
		d.Feedback, err = need("feedback", "what should be better")
	case opt.EditAccept:
		var text string
		d.Action = opt.EditAccept
		if text, err = need("edited", "the changed text"); err == nil {
			d.Edited, err = editedJSON(text, form.Get("edited-as") == "json")
		}
		data["editedArtifactData"] = d.Edited
	case opt.Ask:
		d.Action = opt.Ask
		d.Question, err = need("question", "the question")
		data["question"] = d.Question
	default:
		err = call.Invalid(call.Violation{Field: "action", Description: "the form names no decision"})
	}
	if err != nil {
		return gate.AnswerParams{}, err
	}
	for name, value := range map[string]string{"action": string(d.Action), "feedback": d.Feedback, "objectDigest": d.ObjectDigest} {
		if value != "" {
			data[name] = value
		}
	}
	m := a2a.Message{Role: a2a.RoleUser, Parts: []a2a.Part{a2a.DataPart(data)}}
	return gate.AnswerParams{ID: gateID, Message: message.SendParams{Message: m, Decision: d}}, nil
}

// text returns a field without the carriage returns with which forms end lines.
func text(form url.Values, name string) string {
	return strings.ReplaceAll(form.Get(name), "\r\n", "\n")
}

// editedJSON returns a changed text as JSON.
func editedJSON(text string, isJSON bool) (json.RawMessage, error) {
	if !isJSON {
		return a2a.DataPart(text).Data, nil
	}
	if !json.Valid([]byte(text)) {
		return nil, call.Invalid(call.Violation{Field: "edited", Description: "the changed text is not valid JSON"})
	}
	return json.RawMessage(strings.TrimSpace(text)), nil
}

// answers returns the answers in a form, in the order of the questions.
func answers(form url.Values, need func(name, what string) (string, error)) (list [][]string, err error) {
	for i := range mostQuestions {
		name := "answer-" + strconv.Itoa(i)
		if !form.Has(name) {
			break
		}
		text, err := need(name, fmt.Sprintf("answer %d", i+1))
		if err != nil {
			return nil, err
		}
		list = append(list, []string{text})
	}
	if len(list) == 0 {
		return nil, call.Invalid(call.Violation{Field: "answer-0", Description: "the form has no answers"})
	}
	return list, nil
}
