package machine

import (
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// Limits of the texts of a gate that is made from results, in bytes. A text that
// is cut ends with "…". The object of the gate is never cut.
const (
	maxTitle       = 512
	maxDescription = 16 << 10
)

// formed returns the gate of t, which is only a gate, with results of the tasks
// before it. It offers refine only if all tasks that made the object can make it
// again.
func (m tasks) formed(t *opt.Task) opt.Gate {
	gate := *t.Ask
	form := gate.Form
	gate.Form = nil
	if form != nil {
		m.fill(&gate, t, *form)
	}
	without := func(a opt.Action) {
		gate.Actions = slices.DeleteFunc(slices.Clone(gate.Actions), func(b opt.Action) bool { return a == b })
	}
	if len(gate.Sources) == 0 {
		without(opt.Refine)
	}
	if len(gate.Object) == 0 && gate.ArtifactData == nil || gate.Responders.Several() { // others would accept something else
		without(opt.EditAccept)
	}
	return gate
}

// fill puts results of the tasks before t into its gate.
func (m tasks) fill(gate *opt.Gate, t *opt.Task, form opt.GateForm) {
	if len(form.Title) > 0 {
		gate.Title = cut(strings.Join(strings.Fields(m.text(t, form.Title)), " "), maxTitle)
	}
	if len(form.Description) > 0 {
		gate.Description = cut(m.text(t, form.Description), maxDescription)
	}
	var artifacts []a2a.Artifact
	again := true
	for _, r := range m.named(t, form.Object...) {
		artifacts = append(artifacts, r.Artifacts...)
		b := m.State.Plan.Task(r.TaskID)
		again = again && b != nil && b.Link == "" && !b.ByHand
		gate.Sources = append(gate.Sources, r.TaskID)
	}
	if !again {
		gate.Sources = nil
	}
	for _, a := range artifacts {
		gate.Object = append(gate.Object, a.Parts...)
	}
	if len(artifacts) == 1 {
		gate.ArtifactID = artifacts[0].ArtifactID
	}
}

// named returns the results that t names, as in [opt.Piece].
func (m tasks) named(t *opt.Task, names ...string) []opt.Result {
	var out []opt.Result
	for _, r := range m.results(t) {
		is := func(name string) bool { return name == opt.AllResults || r.TaskID != "" && m.placed(name) == r.TaskID }
		if slices.ContainsFunc(names, is) {
			out = append(out, r)
		}
	}
	return out
}

// placed returns the id of the task with a name such as "task-2".
func (m tasks) placed(name string) string {
	for _, t := range m.State.Plan.Tasks {
		if opt.TaskPlace(t.Index) == name {
			return t.ID
		}
	}
	return ""
}

// text returns the text of pieces, with the results that they name.
func (m tasks) text(t *opt.Task, pieces []opt.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Literal)
		if p.Results == "" {
			continue
		}
		var texts []string
		for _, r := range m.named(t, p.Results) {
			for _, a := range r.Artifacts {
				texts = append(texts, inline(a.Parts)...)
			}
		}
		b.WriteString(strings.Join(texts, "\n"))
	}
	return b.String()
}

// inline lists the texts of parts; "…" for one that is so large that it is stored
// elsewhere.
func inline(parts []a2a.Part) []string {
	var out []string
	for _, p := range parts {
		switch {
		case p.Text != nil && *p.Text != "":
			out = append(out, *p.Text)
		case p.Ref != nil && p.Ref.Member == "text":
			out = append(out, "…")
		}
	}
	return out
}

// cut shortens s to n bytes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-len("…")], "") + "…"
}

// sendBack has the tasks that made the object of t's gate make it again. t opens
// its gate again after them.
func (m tasks) sendBack(t *opt.Task, reply opt.Reply, message a2a.Message) {
	again := opt.Reopened(&m.State.Plan, t, t.Gate.Sources, reply, remarked(message, reply))
	m.apply(opt.Event{Kind: opt.TasksReopened, Tasks: again})
	m.moveTask(t, opt.TaskWorking, opt.Event{Reason: opt.SentBack})
}

// remarked returns a message with its remark as text, for executors that read
// nothing else.
func remarked(message a2a.Message, reply opt.Reply) a2a.Message {
	if remark := reply.Remark(); remark != "" && message.Text() != remark {
		message.Parts = append(slices.Clone(message.Parts), a2a.TextPart(remark))
	}
	return message
}

// editOf returns the gate at which a person has put something else in the place of
// the results of b, nil if there is none.
func (m tasks) editOf(b *opt.Task) *opt.Task {
	for _, t := range m.State.Plan.Tasks {
		if t.Ask == nil || t.Ask.Kind != opt.Approval || t.State != opt.TaskCompleted || len(t.Artifacts) == 0 || t.Ask.Form == nil {
			continue
		}
		names := t.Ask.Form.Object
		made := slices.Contains(names, opt.AllResults) && slices.Contains(m.State.Plan.Inputs(t), b)
		if made || slices.ContainsFunc(names, func(name string) bool { return m.placed(name) == b.ID }) {
			return t
		}
	}
	return nil
}

// editedArtifact is what a person has put in the place of the object of t.
func editedArtifact(t *opt.Task, reply opt.Reply) a2a.Artifact {
	return a2a.Artifact{ArtifactID: opt.ArtifactID(t.ID, "edited"), Name: t.Name, Parts: reply.Edited}
}
