package console

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"longhaul/api/call"
	"longhaul/api/work"
	"longhaul/opt"
)

// A changeForm is a form that changes an objective. It carries the revision at which it
// was seen, so that a change of others is noticed, and a key, so that a repeat changes
// nothing.
type changeForm struct {
	ID       string // of its element
	Action   string // path that it is sent to
	Revision int64
	Key      string
	Buttons  []button
	Open     bool // it was refused, and is shown again with its contents
	values   url.Values
}

// Value returns the input in a field of a form that was refused.
func (f changeForm) Value(field string) string { return f.values.Get(field) }

// Chosen reports whether a box with a value was checked in a form that was refused.
func (f changeForm) Chosen(field, value string) bool {
	for _, v := range f.values[field] {
		if v == value {
			return true
		}
	}
	return false
}

// A button asks for one change.
type button struct {
	Do, Label string
	Hint      string
	Danger    bool // it needs a second step
	cmd       opt.Command
}

// A refusedForm is a form that was sent and refused: its contents and the reason.
type refusedForm struct {
	id     string // of its element
	values url.Values
	fault  *call.Fault
	reused bool // it was sent before with other contents, as from another tab
	same   bool // the result is unknown: a repeat has to have the same key and revision
}

// A forms makes the forms of a page about an objective.
type forms struct {
	*visit
	o       *opt.Objective
	refused *refusedForm // nil for none
}

func formsOf(v *visit, o *opt.Objective, refused *refusedForm) forms { return forms{v, o, refused} }

// form returns a form with an id. Its key is the same while nothing changes, so that the
// page stays the same, and that a form which is sent twice counts once.
func (f forms) form(id, path string, buttons ...button) changeForm {
	out := changeForm{ID: id, Action: Path + "/objectives/" + url.PathEscape(f.o.ID) + path, Revision: f.o.Revision, Buttons: f.offered(buttons)}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %d %s %s %s", f.o.ID, f.o.Revision, f.o.UpdatedAt.Millis(), f.latest(), path, id, f.call.Principal))
	out.Key = "console-" + hex.EncodeToString(sum[:12])
	if r := f.refused; r != nil {
		out.Key = "console-" + rand.Text() // a refusal may be recorded under the former one
		if r.id == id {
			out.Open, out.values = true, r.values
			if r.same {
				out.Key = r.values.Get("key")
				out.Revision, _ = strconv.ParseInt(r.values.Get("revision"), 10, 64) // it was read before
			}
		}
	}
	return out
}

// latest returns the time of the latest change of a plan.
func (f forms) latest() (at int64) {
	for _, p := range f.o.Plans {
		at = max(at, p.UpdatedAt.Millis())
	}
	return at
}

// offered returns the buttons whose change the state and the scopes of the caller allow.
func (f forms) offered(all []button) (out []button) {
	for _, b := range all {
		if f.allows(b.cmd) {
			out = append(out, b)
		}
	}
	return out
}

// allows reports whether the state and the scopes of the caller allow a change.
func (f forms) allows(cmd opt.Command) bool {
	cmd.ObjectiveID = f.o.ID
	return work.Offers(f.call, f.o, cmd)
}

// A change is a form that was sent.
type change struct {
	*visit
	objective string
	button    string // which button
	revision  int64
	query     url.Values // of the page that is shown next
}

// errForm is the fault of a form without the fields that all forms have.
var errForm = call.Invalid(call.Violation{Field: "form", Description: "is incomplete: open the page again"})

// applyChange makes a change that a form asks for. formID is the id of the form's element, page
// shows the page of the form again if the change is refused, to callers who may read it,
// and apply makes it and returns how many plans had not confirmed it. back is the address
// of the page.
func applyChange(v *visit, formID, back string, page func(*refusedForm) (view, error), apply func(change) (int, error)) (view, error) {
	v.call.OfOPT = true
	c := change{visit: v, objective: v.r.PathValue("id"), button: v.field("do"), query: url.Values{}}
	var err error
	key := v.field("key")
	if c.revision, err = strconv.ParseInt(v.field("revision"), 10, 64); err != nil || key == "" || len(key) > 100 || c.revision <= 0 {
		return view{}, errForm
	}
	v.call.Key, v.call.KeyField = key+":"+c.button, "key"
	unconfirmed := 0
	fault := v.cfg.Service.Guard(v.call, func() error {
		unconfirmed, err = apply(c)
		return err
	})
	switch {
	case fault == nil:
		c.query.Set("done", c.button)
		if unconfirmed > 0 {
			c.query.Set("unconfirmed", strconv.Itoa(unconfirmed))
		}
		return view{Location: withQuery(back, c.query)}, nil
	case !v.has(call.ReadRuns):
		return view{}, fault
	case fault.Kind == call.InvalidState, fault.Kind == call.InvalidParams, fault.Kind == call.Unavailable:
		return page(&refusedForm{id: formID, values: v.r.PostForm, fault: fault, reused: errors.Is(err, opt.ErrConflict), same: fault.Kind == call.Unavailable})
	}
	return view{}, fault
}

// withQuery returns an address with more fields in its query.
func withQuery(address string, more url.Values) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	q := u.Query()
	for name, values := range more {
		q[name] = values
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// errAction is the fault of a form whose button no page has.
var errAction = call.Invalid(call.Violation{Field: "do", Description: "names no change"})

// addResult adds to a page what a form has done, or why it was refused.
func addResult(v *visit, out view, refused *refusedForm) view {
	if refused != nil {
		v.retryAfter(refused.fault)
		p := problemOf(refused.fault)
		out.Status, out.Problem = p.Status, refusalText(refused.fault, p)
		if refused.reused {
			out.Status, out.Problem = http.StatusConflict, reusedText
		}
		return out
	}
	q := v.r.URL.Query()
	if out.Done = doneTexts[q.Get("done")]; out.Done == "" {
		return out
	}
	if n, err := strconv.Atoi(q.Get("unconfirmed")); err == nil && n > 0 {
		verb := "follow as soon as they can."
		if n == 1 {
			verb = "follows as soon as it can."
		}
		out.Done += " " + opt.Count(n, "plan") + " had not confirmed the change when it was answered, and " + verb
	}
	return out
}

// reusedText says that a form was sent before with other contents.
const reusedText = "You have sent this form before with other contents, for example in another tab. That change counts; this one was not made. " +
	"The page shows the present state and what you wrote: look at it, and send the form again."

// refusalText returns why a form was refused, and what to do.
func refusalText(f *call.Fault, p problem) string {
	switch {
	case f.Reason == "STALE_REVISION":
		return "Another change was faster: the objective is at revision " + f.Info["revision"] + " now, and the form was opened at revision " + f.Info["seen"] +
			". Nothing was changed. The page shows the present state and what you wrote: look at it, and send the form again."
	case f.Kind == call.Unavailable:
		return "It is not known whether the change was made. Send the form again: it is made once at most."
	case p.Status == http.StatusConflict:
		return f.Message + ". Nothing was changed. The page shows the present state."
	}
	return p.Text + " Nothing was changed."
}

// doneTexts says what each change has done, by the name of its button.
var doneTexts = map[string]string{
	"start": "Started.", "pause": "Paused: running tasks finish, and nothing new begins.", "resume": "Resumed.", "plan": "Plans are being made.",
	"cancel": "Canceled.", "complete": "Declared completed.", "fail": "Declared failed.", "retry": "A new attempt has begun.",
	"retry-planned": "A new attempt has begun, with new plans.", "retry-later": "It is tried again when it is its turn.",
	"skip": "Skipped.", "replan": "New plans are being made.", "add-plan": "The plan was added.", "add-task": "Added to the plan.",
	"order": "The order was changed.", "text": "The text was changed.",
}
