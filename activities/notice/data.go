package notice

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"
	"time"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
	"longhaul/opt/outbox"
	"longhaul/opt/shown"
)

// Data is what templates show. Its JSON form is the default body of webhooks.
type Data struct {
	Notice     outbox.NoticeKind `json:"notice"`
	DeliveryID string            `json:"deliveryId"`
	At         a2a.Time          `json:"timestamp"`
	Tenant     string            `json:"tenant"`

	ObjectiveID string `json:"objectiveId"`
	Objective   string `json:"objectiveName,omitempty"`
	ContextID   string `json:"contextId"`
	TaskID      string `json:"taskId"`
	Task        string `json:"taskName,omitempty"`
	RequestedBy string `json:"requestedBy,omitempty"`

	Interrupt *opt.Gate `json:"interrupt"` // as clients see it
	AnswerURL string    `json:"answerUrl,omitempty"`

	Decided *opt.Decided `json:"decided,omitempty"` // how the gate was closed
}

func newData(n outbox.Notice, deliveryID string) Data {
	return Data{
		Notice: n.Kind, DeliveryID: deliveryID, At: n.Since, Tenant: n.Tenant,
		ObjectiveID: n.ObjectiveID, Objective: n.Objective, ContextID: n.ContextID, TaskID: n.TaskID, Task: n.TaskName, RequestedBy: n.Principal,
		Interrupt: n.Gate.Shown(), Decided: n.Decided,
	}
}

// visible returns d as templates show it to people, with all its texts as [a2a.Visible] has them.
func (d Data) visible() Data {
	var all any
	raw, _ := json.Marshal(d) // all of its types have a form in JSON
	_ = a2a.Decode(raw, &all)
	raw, _ = json.Marshal(activities.MapTexts(all, a2a.Visible))
	shown := Data{Interrupt: &opt.Gate{}}
	_ = json.Unmarshal(raw, &shown)
	shown.Interrupt.ArtifactData = d.Interrupt.ArtifactData // in its order; Object shows it
	return shown
}

// headlines begin the titles of notices, by kind.
var headlines = map[outbox.NoticeKind]string{
	outbox.NoticeKind(opt.Remind): "Reminder: ", outbox.NoticeKind(opt.Escalate): "Escalated: ", outbox.NoticeKind(opt.Reassign): "Reassigned: ",
	outbox.NoticeKind(opt.Expire): "Expired: ", outbox.Changed: "Changed: ", outbox.Decided: "Closed: ",
}

// Headline returns the notice in one line.
func (d Data) Headline() string { return headlines[d.Notice] + d.title() }

// title returns what the gate asks, in one line.
func (d Data) title() string {
	title := strings.Join(strings.Fields(d.Interrupt.Title), " ")
	title = cmp.Or(title, d.Task+" waits for an answer")
	return title + d.Interrupt.Again()
}

// Object returns the object of the gate as text, "" if it is large or has several
// parts.
func (d Data) Object() string { return a2a.Visible(a2a.DataText(d.Interrupt.ArtifactData)) }

// Messages returns how many notes and questions there are at the gate.
func (d Data) Messages() int { return d.Interrupt.Omitted + len(d.Interrupt.Exchanges) }

// Next returns what happens if the gate stays open, and when; "" if nothing does.
func (d Data) Next() string {
	next, ok := d.Interrupt.NextStep()
	if !ok || d.Notice.Closes() {
		return ""
	}
	kind := string(next.Kind)
	if next.Action != "" {
		kind += " (" + string(next.Action) + ")"
	}
	return fmt.Sprintf("%s at %s", kind, next.At.Time().UTC().Format("2006-01-02 15:04 MST"))
}

// functions are for templates, beside the predefined ones.
var functions = template.FuncMap{
	"json": func(v any) (string, error) { // not escaped for HTML
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		err := enc.Encode(v)
		return a2a.Visible(strings.TrimSuffix(b.String(), "\n")), err
	},
	"cut": func(most int, text string) string { return shortened(text, most) },
}

// executeTemplate returns the text that t makes of d.
func executeTemplate(t *template.Template, d Data) (string, error) {
	var b strings.Builder
	err := t.Execute(&b, d)
	return b.String(), err
}

// examples returns notices of all kinds, with which templates are tried.
func examples() []Data {
	at := a2a.At(time.Date(2026, 3, 1, 9, 30, 4, 0, time.UTC))
	gates := []opt.Gate{
		{
			Kind: opt.Approval, ID: "task-example-1-0:1", TaskID: "task-example-1-0", Title: `Approve the "outline"?`, Description: "It decides\nthe text.",
			ArtifactType: "text/plain", ArtifactData: a2a.DataPart("# Lighthouses\n\t<1> \"Why?\"").Data, Actions: []opt.Action{opt.Accept, opt.Reject},
			RequestedAt: at, ObjectDigest: "sha256:0f",
			Ladder: []opt.Step{{Kind: opt.Remind, After: 3600}, {Kind: opt.Expire, After: 7200}},
		},
		{
			Kind: opt.Clarification, ID: "task-example-1-1:1", TaskID: "task-example-1-1",
			Questions: []opt.Question{{ID: "audience", Question: "Who reads it?"}}, RequestedAt: at,
		},
		{Kind: opt.Credential, ID: "task-example-1-2:1", TaskID: "task-example-1-2", Title: "Connect the calendar", RequestedAt: at},
	}
	var list []Data
	for _, kind := range outbox.NoticeKinds() {
		for _, g := range gates {
			n := outbox.Notice{Kind: kind, Tenant: "default", Interrupt: shown.Interrupt{
				Gate: g, Since: at, TaskID: g.TaskID, TaskName: "Approve", ObjectiveID: "obj-example", Objective: `Write about "lighthouses"`, ContextID: "obj-example",
				Principal: "ann",
			}}
			d := newData(n, g.TaskID+"/notice:example/12")
			if !kind.Closes() && g.Kind != opt.Credential {
				d.AnswerURL = "https://agent.example.com/answer/example"
			}
			list = append(list, d)
		}
	}
	return list
}
