package console

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"unicode"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/message"
	"longhaul/opt"
	"longhaul/opt/rehearse"
)

// maxRequest is the longest text of a new objective in bytes.
const maxRequest = 100_000

// A startForm is the data of the page for new objectives. Its key is the id of the message: sent again,
// it begins nothing new.
type startForm struct {
	filledForm
	sent message.SendParams
	Seen string // digest of the plans that are shown; "" for none

	Skills  []card.Skill
	Preview *message.Preview // nil before it was asked for
	Tree    *tree

	Rehearsed bool             // it was asked for
	Rehearsal *rehearse.Report // nil if the plan is not known
}

// Plans returns the plans of the preview, none for an answer and for work whose plan is not known.
func (f startForm) Plans() []*opt.Plan {
	if f.Preview == nil || f.Preview.Objective == nil {
		return nil
	}
	return f.Preview.Objective.Plans
}

func showStart(v *visit) (view, error) {
	return v.startView(startForm{filledForm: newFilledForm(v.r.URL.Query())}), nil
}

// newKey returns a new id of a message, or a new key of a form.
func newKey() string { return "console-" + rand.Text() }

func (v *visit) startView(f startForm) view {
	f.Skills = v.cfg.Service.Cards.Skills(v.call)
	return view{Template: "start", Title: "New objective", Data: f}
}

// startForm reads the form of a request with its message. The name is a suggestion of the metadata, too, which
// playbooks use.
func (v *visit) startForm() (f startForm, err error) {
	f.filledForm = filledForm{v.r.PostForm, v.field("message")}
	if !strings.HasPrefix(f.Key, "console-") || len(f.Key) > call.MaxID {
		f.Key = newKey()
	}
	text, name, context, skill := v.field("text"), v.trimmed("name"), v.trimmed("context"), v.field("skill")
	var wrong violations
	wrong.add(strings.TrimSpace(text) == "", "The text", "is missing: describe the work")
	wrong.add(len(text) > maxRequest, "The text", "is longer than 100,000 bytes")
	wrong.add(len([]rune(name)) > maxName || strings.ContainsFunc(name, unicode.IsControl), "The name", "is longer than 200 characters, or has control characters")
	wrong.add(len(context) > call.MaxID || strings.ContainsFunc(context, unicode.IsControl), "The context", "is not an id")
	m := a2a.Message{MessageID: f.Key, ContextID: context, Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(text)}}
	m.Metadata = m.Metadata.WithIf(skill != "", opt.KeySkill, skill).WithIf(name != "", opt.KeySuggestedName, name)
	f.sent = message.SendParams{Message: m, Hints: message.Hints{SuggestedName: name}, Once: true, ReturnAtOnce: true}
	return f, wrong.err()
}

// maxName is the longest name of an objective in characters.
const maxName = 200

// previewStart shows the plan of a new objective before it begins.
func previewStart(v *visit) (view, error) {
	read := v.preview
	if v.r.PostForm.Has("change") { // back from the preview
		read = v.startForm
	}
	return v.startRefused(read())
}

func rehearseStart(v *visit) (view, error) {
	f, err := v.preview()
	if err == nil {
		f.Rehearsed = true
		f.Rehearsal, err = v.cfg.Service.Rehearsals.RehearseObjective(v.r.Context(), v.call, f.sent)
	}
	return v.startRefused(f, err)
}

// startRefused returns the page with a form that may have been refused, and keeps its input. Its message keeps its id,
// so that the form can be sent again, unless another request has used the id.
func (v *visit) startRefused(f startForm, err error) (view, error) {
	if err == nil {
		return v.startView(f), nil
	}
	fault := v.cfg.Service.Guard(v.call, func() error { return err })
	p := problemOf(fault)
	text := p.Title + ". " + p.Text
	switch {
	case errors.Is(err, opt.ErrConflict):
		f.Key, p.Status = newKey(), http.StatusConflict
		text = "This form was sent before with another request, which has begun an objective: the list of objectives shows it. " +
			"This request has begun nothing. Start it if you want both."
	case fault.Kind == call.Unavailable && f.Preview != nil && !f.Rehearsed: // it was sent
		text = "It is not known whether the objective has begun. Start it again in a moment: it begins once at most."
	case fault.Kind == call.Unavailable:
		text = "The plan cannot be shown for the moment. This try has begun nothing: try again in a moment."
	}
	out := v.startView(f)
	out.Status, out.Problem = p.Status, text
	return out, fault
}

// preview reads the form of a request, and adds what its message would begin.
func (v *visit) preview() (startForm, error) {
	f, err := v.startForm()
	if err != nil {
		return f, err
	}
	seen, err := v.cfg.Service.Previews.PreviewObjective(v.r.Context(), v.call, f.sent)
	if err != nil {
		return f, err
	}
	f.Preview = &seen
	f.Seen = digestOfPlans(f.Plans())
	if seen.Answer == nil {
		f.Tree = treeOf(seen.Objective, func(key string) string { return "#at" + key }, nil)
	}
	return f, nil
}

// digestOfPlans returns a digest of the plans of a preview, "" for none.
func digestOfPlans(plans []*opt.Plan) string {
	if len(plans) == 0 {
		return ""
	}
	return a2a.DataPart(each(plans, func(p *opt.Plan) opt.Plan {
		plan := *p
		plan.CreatedAt, plan.UpdatedAt = a2a.Time{}, a2a.Time{}
		return plan
	})).Digest()
}

// start begins an objective. If it would have other plans than the page has shown, it shows these first.
func start(v *visit) (view, error) {
	f, err := v.preview()
	if err != nil {
		return v.startRefused(f, err)
	}
	if changed := f.Seen != v.field("seen"); changed || f.Preview.Refusal != "" { // or it was sent without its page
		out := v.startView(f)
		if out.Status = http.StatusConflict; changed {
			out.Problem = "The plan has changed since you saw it. This is the present one."
		}
		return out, nil
	}
	sent, err := v.cfg.Service.Messages.SendMessage(v.r.Context(), v.call, f.sent)
	if err != nil {
		return v.startRefused(f, err)
	}
	if sent.Task == nil { // nothing has begun: the agent has answered
		f.Preview = &message.Preview{Answer: sent.Message}
		return v.startView(f), nil
	}
	ref, _ := opt.ParseID(sent.Task.ID)
	to := objectivePath(ref.ObjectiveID)
	if f.Has("review") && len(f.Plans()) == 0 {
		fault := v.cfg.Service.Guard(v.call, func() error {
			_, err := v.cfg.Service.Work.Perform(v.r.Context(), v.call, opt.Command{Kind: opt.UpdateObjective, ObjectiveID: ref.ObjectiveID, Status: string(opt.ObjectiveBlocked)})
			return err
		})
		if fault != nil { // the objective has begun and stays
			to += "?" + missedField + "=" + missedPause
		}
	}
	return view{Location: to}, nil
}
