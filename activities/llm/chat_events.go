package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"longhaul/a2a/codec"
)

const (
	maxEvent  = 32 << 20 // of an answer, in bytes
	maxDetail = 64 << 10 // of an error
)

// An object is JSON for a model's server.
type object = map[string]any

// A post is a request for a stream of events. Both APIs need few fields of many: their
// SDKs would be a quarter of the time that a first build of this program takes.
type post struct {
	api    string // its URL
	path   string // below it
	header map[string]string
	body   object
}

// events sends p, once, and calls on with the JSON of each event until the answer ends. It
// returns the error of on, a [*serverError] or another error.
func (p post) events(ctx context.Context, client *http.Client, on func(event []byte) error) error {
	res, err := p.send(ctx, client)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		detail, _ := io.ReadAll(io.LimitReader(res.Body, maxDetail)) // what there is of it
		return &serverError{res.StatusCode, res.Header, string(detail)}
	}
	for stream := codec.NewStream(res.Body, maxEvent); ; {
		event, err := stream.Next()
		if err == io.EOF || err == nil && bytes.HasPrefix(event, []byte("[DONE]")) {
			return nil
		}
		if err == nil {
			err = errorIn(event)
		}
		if err == nil {
			err = on(event)
		}
		if err != nil {
			return err
		}
	}
}

func (p post) send(ctx context.Context, client *http.Client) (*http.Response, error) {
	body, err := json.Marshal(p.body)
	if err != nil {
		return nil, err
	}
	to, err := url.JoinPath(p.api, p.path)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range p.header {
		req.Header.Set(name, value)
	}
	return client.Do(req)
}

// errorIn returns the error that an event is about.
func errorIn(event []byte) error {
	var e struct {
		Error *json.RawMessage `json:"error"` // nil without one, and for null
	}
	if err := json.Unmarshal(event, &e); err != nil {
		return err
	}
	if e.Error != nil {
		return fmt.Errorf("the answer ends with an error: %s", *e.Error)
	}
	return nil
}
