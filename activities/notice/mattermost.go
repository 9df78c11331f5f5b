package notice

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"longhaul/activities"
	"longhaul/internal/chatapp"
)

// A mattermost shows cards in a channel of Mattermost, as attachments of a post by a bot. Other
// platforms are served by a bridge that speaks these few requests.
type mattermost struct{ app chatapp.App }

func (m mattermost) message(c card) object {
	var lines []string
	for _, t := range c.texts {
		whole := quoted(t.text)
		if t.name != "" {
			whole = "**" + t.name + "**\n" + whole
		}
		lines = append(lines, whole)
	}
	attachment := object{
		"fallback": c.title, "title": c.title, "text": strings.Join(append([]string{quoted(strings.Join(c.facts, "\n"))}, lines...), "\n"),
		"footer": c.footer, "actions": m.actions(c),
	}
	if c.open != "" {
		attachment["title_link"] = c.open
	}
	return object{"channel_id": m.app.Room, "message": "", "props": object{"attachments": []object{attachment}}}
}

// quoted returns a text in a block of code, in which nothing has a meaning.
func quoted(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}

// mattermostStyles are the words for the styles of buttons.
var mattermostStyles = map[string]string{"primary": "primary", "danger": "danger", "": "default"}

func (m mattermost) actions(c card) []object {
	list := []object{} // an empty list removes those of an open gate
	for _, b := range c.buttons {
		list = append(list, object{
			"id": "longhaul" + strings.ReplaceAll(b.press.Action, "-", ""), "type": "button", "name": b.label, "style": mattermostStyles[b.style],
			"integration": object{"url": c.presses, "context": object{"token": m.app.Sign(b.press)}},
		})
	}
	return list
}

func (m mattermost) post(ctx context.Context, by activities.Sender, c card) (string, error) {
	return m.create(ctx, by, m.message(c))
}

func (m mattermost) create(ctx context.Context, by activities.Sender, body any) (string, error) {
	var out struct {
		ID string `json:"id"`
	}
	err := m.app.Call(ctx, by, "POST /api/v4/posts", body, &out)
	if err == nil && out.ID == "" {
		err = errNoPlace
	}
	return out.ID, err
}

func (m mattermost) update(ctx context.Context, by activities.Sender, at string, c card) (gone bool, err error) {
	body := m.message(c)
	delete(body, "channel_id")
	err = m.app.Call(ctx, by, "PUT /api/v4/posts/"+url.PathEscape(at)+"/patch", body, nil)
	if f, ok := chatapp.FailureOf(err); ok && f.Status == http.StatusNotFound {
		return true, nil
	}
	return false, err
}

func (m mattermost) remark(ctx context.Context, by activities.Sender, at, line string) error {
	_, err := m.create(ctx, by, object{"channel_id": m.app.Room, "root_id": at, "message": quoted(line)})
	return err
}
