package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"go.uber.org/zap"

	"longhaul/api/call"
	"longhaul/internal/chatapp"
)

// A mattermost takes what people press at Mattermost.
type mattermost struct{ *Page }

// A mattermostRequest is what Mattermost sends about a button or a dialog. It does not sign its
// requests: the token that we have signed, which only the server of Mattermost keeps, proves
// that it has sent one. The token of a dialog is known to the person who opened it, and so it
// is valid for that account alone.
type mattermostRequest struct {
	UserID    string `json:"user_id"`
	TriggerID string `json:"trigger_id"`
	Context   struct {
		Token string `json:"token"`
	} `json:"context"`

	Type       string         `json:"type"`
	State      string         `json:"state"`
	Submission map[string]any `json:"submission"`
	Cancelled  bool           `json:"cancelled"`
}

const dialogSubmission = "dialog_submission"

// serve serves a request of Mattermost.
func (p mattermost) serve(ctx context.Context, c *call.Call, w http.ResponseWriter, r *http.Request, body []byte) {
	var in mattermostRequest
	b, ok := pressed{}, json.Unmarshal(body, &in) == nil
	if ok {
		b, ok = p.pressed(in)
	}
	if !ok {
		p.refuseRequest(c, w, r)
		return
	}
	key := "mattermost " + in.TriggerID
	if in.Type == dialogSubmission {
		key = "mattermost " + string(body)
	}
	if !p.seen.begin(p.cfg.Now(), key) {
		w.WriteHeader(http.StatusConflict)
		return
	}
	switch {
	case in.Type == dialogSubmission && !in.Cancelled:
		b.form = fields(b.Action, filled(in.Submission))
		out := p.answer(ctx, c, b)
		if out.fault != nil { // the same may be sent again from the dialog, which stays open
			p.seen.forget(key)
		}
		writeJSON(w, submitted(b, out))
	case in.Type == dialogSubmission:
	case b.Dialog():
		ephemeral(w, p.openDialog(ctx, c, b, in.TriggerID))
	default:
		b.form = fields(b.Action, nil)
		ephemeral(w, p.answer(ctx, c, b).text())
	}
}

// pressed returns the press in a request; ok is false if the token is none of ours.
func (p mattermost) pressed(in mattermostRequest) (b pressed, ok bool) {
	token := in.Context.Token
	if in.Type == dialogSubmission {
		token = in.State
	}
	for _, app := range p.of(chatapp.Mattermost) {
		press, signed := app.Verify(token)
		if signed && in.UserID != "" && (press.By == "" || press.By == in.UserID) && (press.By != "") == (in.Type == dialogSubmission) {
			return pressed{Press: press, app: app, by: in.UserID}, true
		}
	}
	return b, false
}

// openDialog opens the dialog of a button. It returns a text for the person if it cannot.
func (p mattermost) openDialog(ctx context.Context, c *call.Call, b pressed, trigger string) string {
	d, refused := p.open(ctx, c, b)
	if refused != "" {
		return refused
	}
	b.By = b.by
	var elements []any
	for _, in := range d.inputs {
		elements = append(elements, mattermostElement(in))
	}
	err := b.app.Call(ctx, p.cfg.Sender, "POST /api/v4/actions/dialogs/open", map[string]any{
		"trigger_id": trigger, "url": p.cfg.PublicURL + chatapp.Path + string(chatapp.Mattermost),
		"dialog": map[string]any{
			"callback_id": "longhaul", "title": d.title, "submit_label": "Send", "elements": elements, "state": b.app.Sign(b.Press), "notify_on_cancel": false,
		},
	}, nil)
	if err != nil {
		p.cfg.Log.Warn("Cannot open a dialog at Mattermost", zap.String("channel", b.app.Name), zap.Error(err))
		return "The dialog cannot be opened. Try again in a moment."
	}
	return ""
}

// mattermostElement returns an input in the form of Mattermost, whose label has at most 24
// characters: the question is the help below the input.
func mattermostElement(in input) any {
	e := map[string]any{"name": in.name, "display_name": shortened(in.Text, 24), "help_text": strings.TrimSpace(in.Text + " " + in.Hint), "type": "textarea", "max_length": 3000}
	option := func(text, value string) any { return map[string]any{"text": text, "value": value} }
	var options []any
	switch {
	case len(in.Options) > 0:
		for _, o := range in.Options {
			options = append(options, option(cmp.Or(o, " "), o))
		}
	case in.Boolean:
		options = []any{option("Yes", "true"), option("No", "false")}
	case in.Number:
		e["type"], e["subtype"], e["max_length"] = "text", "number", 150
	}
	if options != nil {
		delete(e, "max_length")
		e["type"], e["options"] = "select", options
	}
	return e
}

// submitted returns the answer to a dialog: it stays open if something in it is wrong.
func submitted(b pressed, out outcome) any {
	switch name := out.wrongInput(b.form); {
	case name != "":
		return map[string]any{"errors": map[string]string{name: out.text()}}
	case out.fault != nil:
		return map[string]string{"error": out.text()}
	}
	return struct{}{}
}

// ephemeral answers with a text that only the person who has pressed sees.
func ephemeral(w http.ResponseWriter, text string) {
	writeJSON(w, map[string]string{"ephemeral_text": text})
}
