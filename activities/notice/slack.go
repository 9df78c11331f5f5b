package notice

import (
	"context"
	"strings"

	"longhaul/activities"
	"longhaul/internal/chatapp"
)

// A slack shows cards in a channel of Slack, in the form of Block Kit. All that others wrote is
// plain text there, so that it mentions no one and hides no link.
type slack struct{ app chatapp.App }

// Limits of Block Kit, in characters.
const (
	slackHeader  = 150
	slackSection = 3000
)

type object = map[string]any

func plainText(s string) object { return object{"type": "plain_text", "text": s, "emoji": false} }

// escaped returns a text for the notifications of Slack, in which it mentions no one.
func escaped(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(shortened(text, slackSection))
}

func (s slack) message(c card) object {
	blocks := []object{{"type": "header", "text": plainText(shortened(c.title, slackHeader))}}
	if len(c.facts) > 0 {
		blocks = append(blocks, object{"type": "section", "text": plainText(shortened(strings.Join(c.facts, "\n"), slackSection))})
	}
	for _, t := range c.texts {
		whole := t.text
		if t.name != "" {
			blocks = append(blocks, object{"type": "context", "elements": []object{plainText(t.name)}})
		}
		for _, piece := range pieces(whole, slackSection) {
			blocks = append(blocks, object{"type": "section", "text": plainText(piece)})
		}
	}
	if c.footer != "" {
		blocks = append(blocks, object{"type": "context", "elements": []object{plainText(shortened(c.footer, slackSection))}})
	}
	if elements := slackButtons(c); len(elements) > 0 {
		blocks = append(blocks, object{"type": "actions", "elements": elements})
	}
	return object{"channel": s.app.Room, "text": escaped(c.title), "blocks": blocks}
}

func slackButtons(c card) (list []object) {
	for _, b := range c.buttons {
		e := object{"type": "button", "action_id": "longhaul-" + b.press.Action, "text": plainText(b.label), "value": b.press.Text()}
		if b.style != "" {
			e["style"] = b.style
		}
		list = append(list, e)
	}
	if c.open != "" {
		list = append(list, object{"type": "button", "action_id": "longhaul-open", "text": plainText("Open"), "url": c.open})
	}
	return list
}

func (s slack) post(ctx context.Context, by activities.Sender, c card) (string, error) {
	var out struct {
		Channel string `json:"channel"`
		TS      string `json:"ts"`
	}
	body := s.message(c)
	body["unfurl_links"], body["unfurl_media"] = false, false
	err := s.app.Call(ctx, by, "POST /api/chat.postMessage", body, &out)
	if err == nil && (out.Channel == "" || out.TS == "") {
		err = errNoPlace
	}
	return out.Channel + "/" + out.TS, err
}

func (s slack) update(ctx context.Context, by activities.Sender, at string, c card) (gone bool, err error) {
	body := s.message(c)
	body["channel"], body["ts"], _ = strings.Cut(at, "/")
	err = s.app.Call(ctx, by, "POST /api/chat.update", body, nil)
	if f, ok := chatapp.FailureOf(err); ok && f.Code == "message_not_found" {
		return true, nil
	}
	return false, err
}

func (s slack) remark(ctx context.Context, by activities.Sender, at, line string) error {
	channel, ts, _ := strings.Cut(at, "/")
	return s.app.Call(ctx, by, "POST /api/chat.postMessage", object{
		"channel": channel, "thread_ts": ts, "reply_broadcast": true, "text": escaped(line), "mrkdwn": false,
		"blocks": []object{{"type": "section", "text": plainText(shortened(line, slackSection))}},
	}, nil)
}
