package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/internal/chatapp"
)

// A teams takes what people press at Microsoft Teams.
type teams struct{ *Page }

// The activities of Teams that are presses: a button, a button that opens a dialog, and a dialog that
// was sent.
const (
	teamsAction = "adaptiveCard/action"
	teamsFetch  = "task/fetch"
	teamsSubmit = "task/submit"
)

// A teamsValue is the value of an activity. The data are those of the button, and the inputs of a
// dialog.
type teamsValue struct {
	Action struct {
		Data map[string]any `json:"data"`
	} `json:"action"`
	Data map[string]any `json:"data"`
}

// serve serves an activity of Teams, whose token proves where it is from.
func (p teams) serve(ctx context.Context, c *call.Call, w http.ResponseWriter, r *http.Request, body []byte) {
	var in chatapp.Activity
	var value teamsValue
	if json.Unmarshal(body, &in) != nil || in.ID == "" {
		p.refuseRequest(c, w, r)
		return
	}
	_ = a2a.Decode(in.Value, &value) // of other activities in any form
	data := value.Data
	if in.Name == teamsAction {
		data = value.Action.Data
	}
	text, _ := data[chatapp.PressMember].(string)
	delete(data, chatapp.PressMember)
	b := pressed{by: in.From.Object}
	var ours bool
	if b.Press, ours = chatapp.ReadPress(text); !ours {
		b.Channel = ""
	}
	switch err := p.verify(ctx, r, in, &b); {
	case errors.Is(err, chatapp.ErrNoKeys):
		p.cfg.Log.Warn("Cannot verify requests of Teams", zap.Error(err))
		w.WriteHeader(http.StatusServiceUnavailable)
	case err != nil:
		p.refuseRequest(c, w, r)
	case !p.seen.begin(p.cfg.Now(), "teams "+in.ID):
		w.WriteHeader(http.StatusConflict)
	case in.Type != "invoke" || !ours: // such as a message to the bot
	default:
		if answer := p.press(ctx, c, b, in.Name, data); answer != nil {
			writeJSON(w, answer)
		}
	}
}

// verify verifies an activity, and sets the app of a press: that of its channel, or for an activity
// that is no press one whose bot it is for.
func (p teams) verify(ctx context.Context, r *http.Request, in chatapp.Activity, b *pressed) error {
	err := errNotSigned
	for _, app := range p.of(chatapp.Teams) {
		if b.Channel != "" && b.Channel != app.Name {
			continue
		}
		if err = app.Bot.Verify(ctx, p.cfg.Sender, r.Header, in, p.cfg.Now()); err == nil {
			b.app = app
			return nil
		}
	}
	return err
}

// press does what a press asks for, and returns the answer, which Teams shows to the person who
// has pressed alone.
func (p teams) press(ctx context.Context, c *call.Call, b pressed, name string, data map[string]any) any {
	switch {
	case name == teamsAction && !b.Dialog():
		b.form = fields(b.Action, nil)
		return map[string]any{"statusCode": http.StatusOK, "type": "application/vnd.microsoft.activity.message", "value": p.answer(ctx, c, b).text()}
	case name == teamsFetch && b.Dialog():
		d, refused := p.open(ctx, c, b)
		if refused != "" {
			return teamsMessage(refused)
		}
		return teamsDialog(d, b, "")
	case name == teamsSubmit && b.Dialog():
		b.form = fields(b.Action, filled(data))
		out := p.answer(ctx, c, b)
		if out.wrongInput(b.form) != "" {
			if d, refused := p.open(ctx, c, b); refused == "" {
				return teamsDialog(d, b, out.text())
			}
		}
		return teamsMessage(out.text())
	}
	return nil
}

// teamsMessage answers with a text in place of a dialog.
func teamsMessage(text string) any {
	return map[string]any{"task": map[string]any{"type": "message", "value": text}}
}

// teamsDialog answers with a dialog that has the inputs as they were filled in, below the mistake in
// them.
func teamsDialog(d dialog, b pressed, mistake string) any {
	var blocks []any
	if mistake != "" {
		blocks = append(blocks, chatapp.RichText(mistake, map[string]any{"color": "Attention"}))
	}
	for _, in := range d.inputs {
		blocks = append(blocks, chatapp.RichText(strings.TrimSpace(in.Text+" "+in.Hint), nil), teamsInput(in, b.form.Get(in.name)))
	}
	send := map[string]any{"type": "Action.Submit", "title": "Send", "data": map[string]any{chatapp.PressMember: b.Text()}}
	return map[string]any{"task": map[string]any{"type": "continue", "value": map[string]any{
		"title": d.title, "height": "medium", "width": "medium", "card": chatapp.AdaptiveCard(blocks, []any{send}),
	}}}
}

func teamsInput(in input, value string) any {
	e := map[string]any{"id": in.name, "isRequired": true, "errorMessage": "An answer is required."}
	if value != "" {
		e["value"] = value
	}
	choice := func(title, value string) any { return map[string]any{"title": title, "value": value} }
	switch {
	case len(in.Options) > 0:
		var list []any
		for _, o := range in.Options {
			list = append(list, choice(cmp.Or(o, " "), o))
		}
		e["type"], e["choices"] = "Input.ChoiceSet", list
	case in.Boolean:
		e["type"], e["choices"] = "Input.ChoiceSet", []any{choice("Yes", "true"), choice("No", "false")}
	case in.Number:
		e["type"] = "Input.Number"
		for name, number := range map[string]string{"value": value, "min": in.Min, "max": in.Max} {
			if json.Valid([]byte(number)) {
				e[name] = json.Number(number)
			}
		}
	default:
		e["type"], e["isMultiline"], e["maxLength"] = "Input.Text", true, teamsAnswers
	}
	return e
}

// teamsAnswers is how many characters an answer may have, as at the other platforms.
const teamsAnswers = 3000
