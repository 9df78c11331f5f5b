package answerpage

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/url"
	"strings"

	"longhaul/a2a"
	"longhaul/api/gate"
	"longhaul/api/gateform"
	"longhaul/api/letter"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

// A content is the data of a page.
type content struct {
	Title, Text string
	Gate        *openGate // nil for a page without forms
	Style       template.CSS
}

// An openGate is an open gate as the page shows it.
type openGate struct {
	Objective, RequestedBy, Task, Principal, Expires, Description string

	Next     []string // what happens without an answer
	Original string   // of a fork: the decision in the original about the same object

	Object    []object
	Unshown   int    // messages that are covered by an accept and of which the page does not show all
	Hidden    bool   // not all of Object or of the messages is shown, so it cannot be accepted here
	Console   string // path of the gate in the console, if Hidden; "" for none
	Exchanges []opt.Exchange
	gateform.Form
}

// An object is a part of the object of the gate.
type object struct {
	Name, Text string
	HasText    bool
}

// newContent returns the page of an open gate. console is as in [Config].
func newContent(open gate.OpenInterrupt, link outbox.AnswerLink, console string) content {
	g := open.Gate
	out := &openGate{
		Objective: open.Objective, RequestedBy: open.Principal, Task: cmp.Or(open.TaskName, open.TaskID), Principal: link.Principal, Expires: gateform.Clock(link.Expires),
		Next: gateform.Unanswered(&g), Original: g.Original.String(), Description: g.About(), Exchanges: g.Exchanges, Form: gateform.New(&g, g.Object),
	}
	if open.For != "" {
		out.Principal += ", as the deputy of " + open.For
	}
	if g.Kind == opt.Approval {
		out.Unshown = g.Unshown()
	}
	out.Hidden = out.Unshown > 0
	for _, p := range g.Object {
		o := newObject(p)
		out.Object, out.Hidden = append(out.Object, o), out.Hidden || !o.HasText
	}
	if out.Hidden {
		if out.Accepts, out.Edits = false, false; console != "" {
			out.Console = console + url.PathEscape(g.ID)
		}
	}
	c := content{Title: cmp.Or(g.Title, "A task waits for an answer") + g.Again(), Gate: out}
	if len(out.Questions) == 0 && len(g.Actions) == 0 {
		c.Text = "It cannot be answered here."
	}
	return c
}

// mostText is the size in bytes up to which a part of an object is shown.
const mostText = 1 << 20

// newObject returns a part as text. Files, and text that is too large, are only named.
func newObject(p a2a.Part) object {
	o := object{Name: strings.TrimSpace(p.Filename + " " + p.MediaType)}
	if o.Text, o.HasText = p.Content(); !o.HasText {
		o.Name = fmt.Sprintf("%s (a file of %d bytes, which is not shown here)", cmp.Or(o.Name, "File"), len(p.Raw))
	}
	if len(o.Text) > mostText {
		o.Name = fmt.Sprintf("%s (%d bytes, too large to be shown here)", cmp.Or(o.Name, "Text"), len(o.Text))
		o.Text, o.HasText = "", false
	}
	return o
}

// reusedIDField is the field that a fault names if the id of a message was used for another
// message.
const reusedIDField = "message.messageId"

// read returns the answer in a form. All decisions by one link have the same message
// id, so that only the first one counts.
func read(form url.Values, link outbox.AnswerLink) (gate.AnswerParams, error) {
	p, err := gateform.Read(form, link.GateID, link.ObjectDigest)
	if err == nil {
		p.Message.Message.MessageID, p.Message.Once = messageID(link, p.Message.Decision), true
	}
	return p, err
}

// asks reports whether d is a question. Words without a decision are none.
func asks(d *letter.GateDecision) bool { return d != nil && d.Action == opt.Ask }

// messageID returns the id of an answer: the same for all decisions by a link. d is nil for words,
// which have the id of a decision. A
// question decides nothing, so each has its own.
func messageID(link outbox.AnswerLink, d *letter.GateDecision) string {
	h, question := sha256.New(), ""
	if asks(d) {
		question = d.Question
	}
	for _, s := range []string{link.Tenant, link.Principal, link.GateID, link.ID, question} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return "answer-link-" + hex.EncodeToString(h.Sum(nil)[:16])
}
