package notice

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"longhaul/activities"
	"longhaul/internal/chatapp"
)

// A teams shows cards in a channel or a chat of Microsoft Teams, as Adaptive Cards. All that others
// wrote is in blocks that do not read Markdown.
type teams struct{ app chatapp.App }

func (t teams) message(c card) object {
	bold := object{"weight": "Bolder"}
	body := []any{chatapp.RichText(c.title, object{"size": "Large", "weight": "Bolder"})}
	if len(c.facts) > 0 {
		body = append(body, chatapp.RichText(strings.Join(c.facts, "\n"), nil))
	}
	for _, text := range c.texts {
		if text.name != "" {
			body = append(body, chatapp.RichText(text.name, bold))
		}
		body = append(body, chatapp.RichText(text.text, nil))
	}
	if c.footer != "" {
		body = append(body, chatapp.RichText(c.footer, object{"isSubtle": true}))
	}
	return object{"type": "message", "summary": c.title, "attachments": []any{chatapp.AdaptiveCard(body, teamsActions(c))}}
}

// teamsStyles are the words for the styles of buttons.
var teamsStyles = map[string]string{"primary": "positive", "danger": "destructive", "": "default"}

// teamsActions returns the buttons. Those that open a dialog have another type, since a dialog is no
// answer to an Action.Execute.
func teamsActions(c card) []any {
	list := []any{}
	for _, b := range c.buttons {
		data := object{chatapp.PressMember: b.press.Text()}
		e := object{"type": "Action.Execute", "verb": "longhaul", "title": b.label, "style": teamsStyles[b.style], "data": data}
		if b.press.Dialog() {
			e["type"], data["msteams"] = "Action.Submit", object{"type": "task/fetch"}
			delete(e, "verb")
		}
		list = append(list, e)
	}
	if c.open != "" {
		list = append(list, object{"type": "Action.OpenUrl", "title": "Open", "url": c.open})
	}
	return list
}

// activitiesOf returns the path of posts in a room.
func activitiesOf(room string) string {
	return "/v3/conversations/" + url.PathEscape(room) + "/activities"
}

func (t teams) post(ctx context.Context, by activities.Sender, c card) (string, error) {
	return t.create(ctx, by, t.app.Room, t.message(c))
}

func (t teams) create(ctx context.Context, by activities.Sender, room string, body any) (string, error) {
	var out struct {
		ID string `json:"id"`
	}
	err := t.app.Call(ctx, by, "POST "+activitiesOf(room), body, &out)
	if err == nil && out.ID == "" {
		err = errNoPlace
	}
	return out.ID, err
}

func (t teams) update(ctx context.Context, by activities.Sender, at string, c card) (gone bool, err error) {
	err = t.app.Call(ctx, by, "PUT "+activitiesOf(t.app.Room)+"/"+url.PathEscape(at), t.message(c), nil)
	if f, ok := chatapp.FailureOf(err); ok && f.Status == http.StatusNotFound {
		return true, nil
	}
	return false, err
}

// threads end the ids of channels, whose posts have threads.
const threads = "@thread.tacv2"

func (t teams) remark(ctx context.Context, by activities.Sender, at, line string) error {
	room := t.app.Room
	if strings.HasSuffix(room, threads) {
		room += ";messageid=" + at
	}
	_, err := t.create(ctx, by, room, object{"type": "message", "text": line, "textFormat": "plain"})
	return err
}
