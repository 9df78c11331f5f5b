package notice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
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
	r, err := w.request(ctx, c.cfg.Signer, n, body)
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

func (w webhook) request(ctx context.Context, signer activities.Signer, n activities.NoticeAttempt, body []byte) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, strings.NewReader(string(body)))
	if err != nil {
		return nil, fmt.Errorf("the URL of the channel cannot be read") // the cause holds the URL
	}
	r.Header.Set("User-Agent", "Longhaul")
	for name, value := range w.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", w.media)
	r.Header.Set(activities.DeliveryHeader, n.ID)
	r.Header.Set(activities.AttemptHeader, strconv.Itoa(n.N))
	if signer == nil {
		return r, nil
	}
	signature, err := signer.Sign(ctx, n.ID, n.TaskID, body)
	r.Header.Set(activities.SignatureHeader, signature)
	return r, err
}
