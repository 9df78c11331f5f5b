package machine

import (
	"encoding/json"
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

// results are what the tasks of a plan work with: the artifacts of those before them, and for the
// first ones those of the plans before.
type results struct {
	plan      *opt.Plan
	inputs    []a2a.Artifact
	reordered bool // by a client
}

// of lists the artifacts of the tasks before t, or of the plans before its
// plan, and of the tasks that its input names.
func (r results) of(t *opt.Task) []opt.Result {
	before := r.plan.Inputs(t)
	if len(before) == 0 && len(r.inputs) > 0 {
		return []opt.Result{{Artifacts: r.inputs}}
	}
	for _, id := range t.Uses {
		if b := r.plan.Task(id); b != nil && !slices.Contains(before, b) {
			before = append(before, b)
		}
	}
	var out []opt.Result
	for _, b := range before {
		if e := r.editOf(b); e != nil {
			if !slices.Contains(before, e) {
				out = append(out, opt.Result{TaskID: b.ID, Name: b.Name, Artifacts: e.Artifacts})
			}
			continue
		}
		if len(b.Artifacts) > 0 {
			out = append(out, opt.Result{TaskID: b.ID, Name: b.Name, Artifacts: b.Artifacts})
		}
	}
	return out
}

// formed returns the gate of t, which is only a gate, with results of the tasks
// before it. It offers refine only if all tasks that made the object can make it
// again.
func (r results) formed(t *opt.Task) opt.Gate {
	gate := *t.Ask
	form := gate.Form
	gate.Form = nil
	if form != nil {
		r.fill(&gate, t, *form)
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
func (r results) fill(gate *opt.Gate, t *opt.Task, form opt.GateForm) {
	if len(form.Title) > 0 {
		gate.Title = cut(strings.Join(strings.Fields(r.text(t, form.Title)), " "), maxTitle)
	}
	if len(form.Description) > 0 {
		gate.Description = cut(r.text(t, form.Description), maxDescription)
	}
	var artifacts []a2a.Artifact
	again := true
	for _, made := range r.named(t, form.Object...) {
		artifacts = append(artifacts, made.Artifacts...)
		b := r.plan.Task(made.TaskID)
		again = again && b != nil && b.Link == "" && !b.ByHand
		gate.Sources = append(gate.Sources, made.TaskID)
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
func (r results) named(t *opt.Task, names ...string) []opt.Result {
	var out []opt.Result
	for _, made := range r.of(t) {
		is := func(name string) bool {
			return name == opt.AllResults || made.TaskID != "" && r.placed(name) == made.TaskID
		}
		if slices.ContainsFunc(names, is) {
			out = append(out, made)
		}
	}
	return out
}

// placed returns the id of the task with a name such as "task-2".
func (r results) placed(name string) string {
	for _, t := range r.plan.Tasks {
		if opt.TaskPlace(t.Index) == name {
			return t.ID
		}
	}
	return ""
}

// text returns the text of pieces, with the results that they name.
func (r results) text(t *opt.Task, pieces []opt.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Literal)
		if p.Results == "" {
			continue
		}
		var texts []string
		for _, made := range r.named(t, p.Results) {
			if p.Answer != "" {
				texts = append(texts, a2a.DataText(made.Answer(p.Answer)))
				continue
			}
			for _, a := range made.Artifacts {
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

// remarked returns a message with its remark as text, for executors that read nothing else, in
// the place of the decision, which they get as a reply.
func remarked(message a2a.Message, reply opt.Reply) a2a.Message {
	message.Parts = slices.DeleteFunc(slices.Clone(message.Parts), isDecision)
	if remark := reply.Remark(); remark != "" && message.Text() != remark {
		message.Parts = append(message.Parts, a2a.TextPart(remark))
	}
	return message
}

// isDecision reports whether a part of a message is a decision at a gate.
func isDecision(p a2a.Part) bool {
	var d map[string]json.RawMessage
	return p.Data != nil && json.Unmarshal(p.Data, &d) == nil && (d["action"] != nil || d["decision"] != nil)
}

// editOf returns the gate at which a person has put something else in the place of
// the results of b, nil if there is none.
func (r results) editOf(b *opt.Task) *opt.Task {
	for _, t := range r.plan.Tasks {
		if t.Ask == nil || t.Ask.Kind != opt.Approval || t.State != opt.TaskCompleted || len(t.Artifacts) == 0 || t.Ask.Form == nil {
			continue
		}
		names := t.Ask.Form.Object
		made := slices.Contains(names, opt.AllResults) && slices.Contains(r.plan.Inputs(t), b)
		if made || slices.ContainsFunc(names, func(name string) bool { return r.placed(name) == b.ID }) {
			return t
		}
	}
	return nil
}

// editedArtifact is what a person has put in the place of the object of t.
func editedArtifact(t *opt.Task, reply opt.Reply) a2a.Artifact {
	return a2a.Artifact{ArtifactID: opt.ArtifactID(t.ID, "edited"), Name: t.Name, Parts: reply.Edited}
}

// finding returns what the task at a place has found about the object of t. It must come before t.
func (r results) finding(t *opt.Task, place string) opt.Finding {
	c := r.plan.Task(r.placed(place))
	if c == nil || !slices.Contains(r.plan.Before(t), c) {
		return opt.Finding{Check: place, Verdict: opt.Ask, Reason: "There is no such check any more."}
	}
	f := c.Finding()
	f.Requested = t.Ask.Form.Checks.Requested
	return f
}

// sentBack returns how often checks have sent back what tasks made.
func (r results) sentBack(sources []string) (most int) {
	for _, id := range sources {
		n := 0
		for _, reply := range r.plan.Task(id).Refined {
			if reply.DecidedBy == opt.ByChecks {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// formOf returns what t says about its gate, the zero value if its executor asks.
func formOf(t *opt.Task) opt.GateForm {
	if t.Ask == nil || t.Ask.Form == nil {
		return opt.GateForm{}
	}
	return *t.Ask.Form
}

// lacks reports whether a task whose results an approval is about has made nothing, such as one that a
// client has ended: checks would have seen the results of others in its place.
func (r results) lacks(t *opt.Task, gate opt.Gate) bool {
	unseen := func(p a2a.Part) bool { return p.Text == nil }
	form := formOf(t)
	if form.Checks != nil && form.Checks.Texts && slices.ContainsFunc(gate.Object, unseen) {
		return true
	}
	return len(gate.Object) == 0 || slices.ContainsFunc(form.Object, func(place string) bool {
		b := r.plan.Task(r.placed(place))
		return place != opt.AllResults && (b == nil || len(b.Artifacts) == 0)
	})
}

// byClient reports whether a client has ended a task, or has it done elsewhere.
func byClient(t *opt.Task) bool { return t.ByHand || t.Link != "" }

// changed reports whether a client has a part in what a gate is about, which no check has seen: notes
// that the approval would cover, an object made by hand or elsewhere, or checks that do not come after
// the tasks that made it.
func (r results) changed(t *opt.Task, gate opt.Gate) bool {
	checked := func(b *opt.Task) bool {
		return !slices.ContainsFunc(formOf(t).Checks.Places(), func(place string) bool {
			return !slices.Contains(r.plan.Inputs(r.plan.Task(r.placed(place))), b)
		})
	}
	if r.lacks(t, gate) || slices.ContainsFunc(r.plan.Before(t), byClient) {
		return true
	}
	for _, b := range r.plan.Inputs(t) {
		if byClient(b) || r.editOf(b) != nil || !checked(b) {
			return true
		}
	}
	byOthers := func(e opt.Exchange) bool { return e.AskedBy != opt.ByChecks }
	return gate.Omitted > 0 || slices.ContainsFunc(gate.Exchanges, byOthers)
}

// check has the checks of the object of an approval judge it: accept, refine or, for people, ask. The
// gate gets their findings.
func (r results) check(t *opt.Task, gate *opt.Gate) opt.Action {
	if t.Ask == nil || t.Ask.Form == nil || t.Ask.Form.Checks == nil {
		return opt.Ask
	}
	checks := t.Ask.Form.Checks
	for _, place := range checks.Places() {
		gate.Checks = append(gate.Checks, r.finding(t, place))
	}
	action := checks.Decide(func(place string) opt.Finding { return r.finding(t, place) })
	if action == opt.Reject && gate.Allows(opt.Refine) && r.sentBack(gate.Sources) < checks.Rounds {
		action = opt.Refine
	}
	if decides := action == opt.Accept || action == opt.Refine; !decides || r.forPeople(t, *gate) {
		return opt.Ask
	}
	return action
}

// mayStand reports whether a standing decision may decide about a gate that is about to open at t: a
// check that has rejected the object, or has not checked it, leaves it to people.
func (r results) mayStand(t *opt.Task, gate opt.Gate) bool {
	left := func(f opt.Finding) bool { return f.Verdict == opt.Reject || f.Digest == "" }
	return gate.Standing != "" && !slices.ContainsFunc(gate.Checks, left) && !r.forPeople(t, gate)
}

// forPeople reports whether only people may decide about a gate: they were asked about the object
// before, it was tried again, or a client has a part in it or in what comes before it.
func (r results) forPeople(t *opt.Task, gate opt.Gate) bool {
	return t.Ask != nil && t.Gates > 0 || r.plan.Run > 1 || r.reordered || r.changed(t, gate)
}
