package answerpage

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"

	"longhaul/a2a"
	"longhaul/api/service"
	"longhaul/opt"
)

// A content is the data of a page.
type content struct {
	Title, Text string
	Gate        *gate // nil for a page without forms
	Style       template.CSS
}

// A gate is an open gate as the page shows it.
type gate struct {
	Objective, RequestedBy, Task, Principal, Expires, Description string

	Next []string // what happens without an answer

	Object    []object
	Exchanges []opt.Exchange
	Questions []question

	Accepts, Rejects, Refines, Asks bool

	Edits  bool
	Edited string // the text to change
}

// An object is a part of the object of the gate.
type object struct {
	Name, Text string
	HasText    bool
}

func newContent(open service.OpenInterrupt, link opt.AnswerLink) content {
	g := open.Gate
	out := &gate{
		Objective: open.Objective, RequestedBy: open.Principal, Task: cmp.Or(open.TaskName, open.TaskID), Principal: link.Principal, Expires: clock(link.Expires),
		Next: unanswered(&g), Description: g.Description, Exchanges: g.Exchanges,
		Accepts: g.Allows(opt.Accept), Rejects: g.Allows(opt.Reject), Refines: g.Allows(opt.Refine), Asks: g.Allows(opt.Ask),
	}
	for _, p := range open.Object {
		out.Object = append(out.Object, newObject(p))
	}
	if len(open.Object) == 1 && open.Object[0].Text != nil && len(*open.Object[0].Text) <= mostEdited && g.Allows(opt.EditAccept) {
		out.Edits, out.Edited = true, *open.Object[0].Text
	}
	if g.Kind == opt.Clarification {
		for _, q := range g.Questions {
			out.Questions = append(out.Questions, newQuestion(q))
		}
	}
	c := content{Title: cmp.Or(g.Title, "A task waits for an answer") + g.Again(), Gate: out}
	if len(out.Questions) == 0 && len(g.Actions) == 0 {
		c.Text = "It cannot be answered here."
	}
	return c
}

// Sizes of texts in bytes: of the parts of an object that are shown, and of one that
// can be changed in a form.
const (
	mostText   = 1 << 20
	mostEdited = 256 << 10
)

// newObject returns a part as text. Files, and text that is too large, are only named.
func newObject(p a2a.Part) object {
	o := object{Name: strings.TrimSpace(p.Filename + " " + p.MediaType)}
	switch {
	case p.Text != nil:
		o.Text, o.HasText = *p.Text, true
	case p.Data != nil:
		o.Text, o.HasText = a2a.DataText(p.Data), true
	case p.URL != nil:
		o.Text, o.HasText = *p.URL, true
	default:
		o.Name = fmt.Sprintf("%s (a file of %d bytes, which is not shown here)", cmp.Or(o.Name, "File"), len(p.Raw))
	}
	if len(o.Text) > mostText {
		o.Name = fmt.Sprintf("%s (%d bytes, too large to be shown here)", cmp.Or(o.Name, "Text"), len(o.Text))
		o.Text, o.HasText = "", false
	}
	return o
}

// usedBefore is the member that a fault names if the id of a message was used for
// another one.
const usedBefore = "message.messageId"

// mostQuestions is how many answers a form may have.
const mostQuestions = 100

// read returns the answer in a form. All decisions by one link have the same message
// id, so that only the first one counts.
func read(form url.Values, link opt.AnswerLink) (service.AnswerParams, error) {
	action := form.Get("action")
	d := &service.GateDecision{GateID: link.GateID, ObjectDigest: link.ObjectDigest}
	said := map[string]any{"interruptId": link.GateID}
	need := func(name, what string) (string, error) {
		text := strings.ReplaceAll(form.Get(name), "\r\n", "\n") // as forms write the ends of lines
		if strings.TrimSpace(text) == "" {
			return "", service.Invalid(service.Violation{Field: name, Description: what + " is empty"})
		}
		return text, nil
	}
	var err error
	switch opt.Action(action) {
	case "answer":
		d.Texts, err = answers(form, need)
		said["answers"] = d.Texts
	case opt.Accept, opt.Reject:
		d.Action, d.Feedback = opt.Action(action), strings.ReplaceAll(strings.TrimSpace(form.Get("feedback")), "\r\n", "\n")
	case opt.Refine:
		d.Action = opt.Refine
		d.Feedback, err = need("feedback", "what is to be better")
	case opt.EditAccept:
		var text string
		d.Action = opt.EditAccept
		text, err = need("edited", "the changed text")
		d.Edited = a2a.DataPart(text).Data
		said["editedArtifactData"] = text
	case opt.Ask:
		d.Action = opt.Ask
		d.Question, err = need("question", "the question")
		said["question"] = d.Question
	default:
		err = service.Invalid(service.Violation{Field: "action", Description: "the form names no decision"})
	}
	if err != nil {
		return service.AnswerParams{}, err
	}
	for name, value := range map[string]string{"action": string(d.Action), "feedback": d.Feedback, "objectDigest": d.ObjectDigest} {
		if value != "" {
			said[name] = value
		}
	}
	m := a2a.Message{Role: a2a.RoleUser, MessageID: messageID(link, d), Parts: []a2a.Part{a2a.DataPart(said)}}
	return service.AnswerParams{ID: link.GateID, Message: service.SendParams{Message: m, Decision: d, Once: true}}, nil
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
		return nil, service.Invalid(service.Violation{Field: "answer-0", Description: "the form has no answers"})
	}
	return list, nil
}

// messageID returns the id of an answer: the same for all decisions by a link. A
// question decides nothing, so each has its own.
func messageID(link opt.AnswerLink, d *service.GateDecision) string {
	h := sha256.New()
	for _, s := range []string{link.Tenant, link.Principal, link.GateID, link.ID, d.Question} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return "answer-link-" + hex.EncodeToString(h.Sum(nil)[:16])
}
