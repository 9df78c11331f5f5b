package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"go.uber.org/zap"

	"longhaul/api/call"
	"longhaul/internal/chatapp"
)

// A slack takes what people press at Slack.
type slack struct{ *Page }

// A slackRequest is what Slack sends about a button or a dialog.
type slackRequest struct {
	Type      string `json:"type"`
	TriggerID string `json:"trigger_id"`
	User      struct {
		ID string `json:"id"`
	} `json:"user"`
	Channel struct {
		ID string `json:"id"`
	} `json:"channel"`
	Actions []struct {
		Value string `json:"value"`
	} `json:"actions"`
	View struct {
		Data  string `json:"private_metadata"`
		State struct {
			Values map[string]map[string]slackValue `json:"values"`
		} `json:"state"`
	} `json:"view"`
}

// A slackValue is an input of a dialog as it was filled in.
type slackValue struct {
	Value    string `json:"value"`
	Selected struct {
		Value string `json:"value"`
	} `json:"selected_option"`
}

// serve serves a request of Slack, which signs the bytes of its body.
func (p slack) serve(ctx context.Context, c *call.Call, w http.ResponseWriter, r *http.Request, body []byte) {
	signature := chatapp.SlackSigned(r.Header, p.cfg.Now())
	apps := slices.DeleteFunc(p.of(chatapp.Slack), func(a chatapp.App) bool { return signature == "" || !a.SlackVerifies(r.Header, body) })
	if len(apps) == 0 {
		p.refuseRequest(c, w, r)
		return
	}
	if !p.seen.begin(p.cfg.Now(), "slack "+signature) {
		w.WriteHeader(http.StatusConflict)
		return
	}
	in, err := readSlack(body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	b, ok := in.pressed(apps)
	switch {
	case !ok: // another button or dialog of the same app
	case in.Type == "view_submission":
		b.form = fields(b.Action, in.filled())
		p.submit(ctx, c, w, b)
	case b.Dialog():
		p.openDialog(ctx, c, b, in.TriggerID)
	default:
		b.form = fields(b.Action, nil)
		if out := p.answer(ctx, c, b); out.fault != nil || out.pending {
			p.reply(b, out.text())
		}
	}
}

func readSlack(body []byte) (in slackRequest, err error) {
	form, err := url.ParseQuery(string(body))
	if err == nil {
		err = json.Unmarshal([]byte(form.Get("payload")), &in)
	}
	return in, err
}

// pressed returns the press in a request; ok is false if it is not ours.
func (in slackRequest) pressed(apps []chatapp.App) (b pressed, ok bool) {
	text := in.View.Data
	if in.Type == "block_actions" && len(in.Actions) == 1 {
		text = in.Actions[0].Value
	}
	if b.Press, ok = chatapp.ReadPress(text); !ok {
		return b, false
	}
	i := slices.IndexFunc(apps, func(a chatapp.App) bool { return a.Name == b.Channel })
	if i < 0 {
		return b, false
	}
	b.app, b.by, b.Room = apps[i], in.User.ID, cmp.Or(b.Room, in.Channel.ID)
	return b, b.by != ""
}

// openDialog opens the dialog of a button.
func (p slack) openDialog(ctx context.Context, c *call.Call, b pressed, trigger string) {
	d, refused := p.open(ctx, c, b)
	if refused != "" {
		p.reply(b, refused)
		return
	}
	err := b.app.Call(ctx, p.cfg.Sender, "POST /api/views.open", map[string]any{"trigger_id": trigger, "view": slackView(d, b.Press)}, nil)
	if err != nil {
		p.cfg.Log.Warn("Cannot open a dialog at Slack", zap.String("channel", b.app.Name), zap.Error(err))
		p.reply(b, "The dialog cannot be opened. Try again in a moment.")
	}
}

// submit takes a dialog. A mistake in an input is shown beside it.
func (p slack) submit(ctx context.Context, c *call.Call, w http.ResponseWriter, b pressed) {
	out := p.answer(ctx, c, b)
	if out.fault == nil && !out.pending {
		w.WriteHeader(http.StatusOK) // Slack closes the dialog
		return
	}
	reply := map[string]any{"response_action": "update", "view": map[string]any{
		"type": "modal", "title": plain("Answer"), "close": plain("Close"),
		"blocks": []any{map[string]any{"type": "section", "text": plain(out.text())}},
	}}
	if name := out.wrongInput(b.form); name != "" {
		reply = map[string]any{"response_action": "errors", "errors": map[string]string{name: out.text()}}
	}
	writeJSON(w, reply)
}

// reply shows a text to the person who has pressed, and to no one else.
func (p slack) reply(b pressed, text string) {
	ctx, cancel := context.WithTimeout(context.Background(), answerFor) // the time for the answer may be over
	defer cancel()
	err := b.app.Call(ctx, p.cfg.Sender, "POST /api/chat.postEphemeral", map[string]any{
		"channel": b.Room, "user": b.by, "text": text, "blocks": []any{map[string]any{"type": "section", "text": plain(text)}},
	}, nil)
	if err != nil {
		p.cfg.Log.Warn("Cannot show a person at Slack the result of an answer", zap.String("channel", b.app.Name), zap.Error(err))
	}
}

func plain(text string) map[string]any {
	return map[string]any{"type": "plain_text", "text": text, "emoji": false}
}

// Limits of Block Kit, in characters.
const (
	slackLabel   = 2000
	slackHint    = 2000
	slackAnswers = 3000
)

// slackView returns a dialog in the form of Block Kit.
func slackView(d dialog, b chatapp.Press) any {
	var blocks []any
	for _, in := range d.inputs {
		block := map[string]any{"type": "input", "block_id": in.name, "label": plain(shortened(in.Text, slackLabel)), "element": slackElement(in)}
		if in.Hint != "" {
			block["hint"] = plain(shortened(in.Hint, slackHint))
		}
		blocks = append(blocks, block)
	}
	return map[string]any{
		"type": "modal", "callback_id": "longhaul", "private_metadata": b.Text(), "title": plain(d.title), "submit": plain("Send"), "close": plain("Cancel"), "blocks": blocks,
	}
}

func slackElement(in input) any {
	option := func(text, value string) any { return map[string]any{"text": plain(text), "value": value} }
	e := map[string]any{"action_id": "value"}
	switch {
	case len(in.Options) > 0:
		var list []any
		for _, o := range in.Options {
			list = append(list, option(cmp.Or(o, " "), o))
		}
		e["type"], e["options"] = "static_select", list
	case in.Boolean:
		e["type"], e["options"] = "radio_buttons", []any{option("Yes", "true"), option("No", "false")}
	case in.Number:
		e["type"], e["is_decimal_allowed"] = "number_input", in.Step != "1"
		for name, bound := range map[string]string{"min_value": in.Min, "max_value": in.Max} {
			if bound != "" {
				e[name] = bound
			}
		}
	default:
		e["type"], e["multiline"], e["max_length"] = "plain_text_input", true, slackAnswers
	}
	return e
}

// filled returns the inputs of a dialog.
func (in slackRequest) filled() map[string]string {
	out := map[string]string{}
	for name, block := range in.View.State.Values {
		v := block["value"]
		out[name] = cmp.Or(v.Selected.Value, v.Value)
	}
	return out
}
