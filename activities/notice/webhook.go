package notice

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"text/template"
	"time"

	"longhaul/activities"
	"longhaul/internal/egress"
)

// A webhook gets notices as requests.
type webhook struct {
	url     string
	headers map[string]string
	media   string             // the content type
	body    *template.Template // nil: the data as JSON
}

// webhookFor is how long one request may take.
const webhookFor = 10 * time.Second

func (w webhook) content(d Data) ([]byte, error) {
	if w.body == nil {
		return json.Marshal(d)
	}
	text, err := executeTemplate(w.body, d.visible())
	if err == nil && strings.HasSuffix(w.media, "json") && !json.Valid([]byte(text)) {
		err = errors.New("template: its output is not JSON: write {{json .Headline}} for a text")
	}
	return []byte(text), err
}

func (w webhook) host() string { return egress.Host(w.url) }

func (w webhook) check(d Data) error {
	_, err := w.content(d)
	return err
}

func (w webhook) send(ctx context.Context, c *Channels, n activities.NoticeAttempt, d Data) activities.Tried {
	ctx, cancel := context.WithTimeout(ctx, webhookFor)
	defer cancel()
	body, err := w.content(d)
	if err != nil {
		c.logFailure(n, classTemplate, err)
		return activities.Tried{Class: classTemplate, Final: true}
	}
	post := activities.Post{URL: w.url, ContentType: w.media, Header: w.headers, Body: body, ID: n.ID, TaskID: n.TaskID, N: n.N}
	r, err := post.Request(ctx, c.cfg.Signer)
	if err != nil {
		c.logFailure(n, "internal", err)
		return activities.Tried{Class: "internal"}
	}
	out, err := activities.Send(c.cfg.Sender, r)
	if err != nil {
		c.logFailure(n, out.Class, err)
	}
	return out
}
