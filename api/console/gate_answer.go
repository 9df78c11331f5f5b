package console

import (
	"net/http"
	"net/url"
	"strconv"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/api/gateform"
	"longhaul/opt"
)

// written is what a person wrote in a form that was refused, so that the page keeps it.
type written struct{ url.Values }

// Is reports whether the form with an action was sent.
func (w written) Is(action string) bool { return w.Get("action") == action }

// Text returns the input in a field of the form with an action.
func (w written) Text(action, field string) string {
	if !w.Is(action) {
		return ""
	}
	return w.Get(field)
}

// Kept returns all that was written, for a page that has no form any more.
func (w written) Kept() (texts []string) {
	names := []string{"feedback", "edited", "question", "words"}
	for i := 0; w.Has("answer-" + strconv.Itoa(i)); i++ {
		names = append(names, "answer-"+strconv.Itoa(i))
	}
	for _, name := range names {
		if text := w.Get(name); text != "" {
			texts = append(texts, a2a.Visible(text))
		}
	}
	return texts
}

// answerGate delivers an answer. A form that is sent twice is one answer: the service makes
// the id of a message without one from its content.
func answerGate(v *visit) (view, error) {
	id := v.r.PathValue("gate")
	return v.submit(func() (string, error) {
		result, err := sendAnswer(v, id, v.field("digest"))
		return answeredPath(v, result), err
	}, func(f *call.Fault) (view, error) {
		s, err := v.gate(id)
		if err != nil {
			return view{}, err
		}
		out, err := gateView(v, s, sentList(v), written{v.r.PostForm})
		out.Problem = refusalMessage(v, s, f, problemOf(f))
		return out, err
	})
}

// sendAnswer delivers the answer in the form to the gate with an id, whose object has a digest.
func sendAnswer(v *visit, id, digest string) (gate.Answered, error) {
	taskID, _ := opt.TaskOfGate(id)
	v.call.Answer = &call.Answering{TaskID: taskID, GateID: id}
	params, err := gateform.Read(v.r.PostForm, id, digest)
	if err != nil {
		return gate.Answered{}, err
	}
	defer v.badges.Remove(badgeKey(v.call.Caller))
	return v.cfg.Service.Gates.AnswerInterrupt(v.r.Context(), v.call, params)
}

// sentList returns the query of the list beside the page whose form was sent, none if it had none.
func sentList(v *visit) url.Values {
	q, _ := url.ParseQuery(v.field("list"))
	return q
}

// answeredPath returns the page to show after an answer: the list with the next gate, or the same
// gate while the answer is not judged or decides nothing.
func answeredPath(v *visit, a gate.Answered) string {
	l := inboxOf(v, sentList(v))
	switch action := v.field("action"); {
	case a.Pending:
		return l.At(gatePath(a.ID), storedField, a.MessageID)
	case !v.r.PostForm.Has("list"), action == string(opt.Ask), action == gateform.Say:
		return l.At(gatePath(a.ID))
	}
	if after := v.field("after"); after != "" {
		return l.At(inboxPath, "done", a.ID, "open", after)
	}
	return l.At(inboxPath, "done", a.ID)
}

// refusalMessage returns why an answer was refused, for people.
func refusalMessage(v *visit, s gate.ShownInterrupt, f *call.Fault, p problem) string {
	switch {
	case !s.Open:
		return unusedText(s)
	case f.Reason == "OBJECT_CHANGED":
		return "The object has changed since you opened the page. Nothing was decided. Look at it as it is now, and answer again."
	case f.Kind == call.InvalidParams:
		return p.Text + " Nothing was decided. What you wrote is below."
	case f.Kind == call.Unsupported && s.Gate.Voted(v.call.Principal):
		return "You have answered here before. The task waits for others."
	case p.Status == http.StatusForbidden, p.Status == http.StatusConflict:
		return p.Text + " Nothing was decided."
	}
	return p.Title + ". " + p.Text
}
