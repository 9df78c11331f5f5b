package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync/atomic"

	"longhaul/a2a"
	"longhaul/a2a/codec"
)

const headerKey = "Idempotency-Key"

const (
	version   = string(codec.V10)
	maxAnswer = 64 << 20 // bytes of one answer, or of one event
)

const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream"
)

// A request calls a method of JSON-RPC, or a page beside A2A.
type request struct {
	method  string      // of JSON-RPC; of HTTP if there is a path
	path    string      // of a page, below the URL of the agent; "" for JSON-RPC
	content any         // the params of a method, or the content for a page; nil for none
	header  http.Header // beside the headers of every request
}

// get returns a request that reads a page. Members of query that are zero are left out.
func get(path string, query map[string]any) request {
	values := url.Values{}
	for name, v := range query {
		if !reflect.ValueOf(v).IsZero() {
			values.Set(name, fmt.Sprint(v))
		}
	}
	if len(values) > 0 {
		path += "?" + values.Encode()
	}
	return request{method: http.MethodGet, path: path}
}

// An envelope is a request of JSON-RPC.
type envelope struct {
	JSONRPC string `json:"jsonrpc"`
	ID      int64  `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// A caller sends the requests of a Client to its agent.
type caller struct {
	cfg    Config
	lastID atomic.Int64 // of a request of JSON-RPC
	found  atomic.Value // URL of the interface, where the card has it and Config.URL is not it; empty before
}

// repeat sends a request that is idempotent until it is answered or fails permanently, or
// Config.Patience ends. It reads the result.
func (c *caller) repeat(ctx context.Context, r request, result any) error {
	retry := &retry{c: c}
	for {
		err := c.once(ctx, r, result)
		if err == nil || !isTransient(err) {
			return err
		}
		if err := retry.wait(ctx, err); err != nil {
			return err
		}
	}
}

// call calls an idempotent method as repeat does.
func (c *caller) call(ctx context.Context, method string, params, result any) error {
	return c.repeat(ctx, request{method: method, content: params}, result)
}

// change calls a method that changes something: without a key once, with a key until it
// answers or Config.Patience ends. The agent answers a repeat with the same key as it
// answered the first call.
func (c *caller) change(ctx context.Context, key, method string, params, result any) error {
	r := request{method: method, content: params}
	if key == "" {
		return c.once(ctx, r, result)
	}
	r.header = http.Header{headerKey: {key}}
	return c.repeat(ctx, r, result)
}

// once sends a request once and reads its result.
func (c *caller) once(ctx context.Context, r request, result any) error {
	attempt, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	res, err := c.send(attempt, r)
	if err == nil {
		defer func() { _ = res.Body.Close() }()
		err = r.readResult(res, result)
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// send sends a request and returns the answer, whose body the caller has to close. A call
// of a method that finds no interface at the URL of the agent looks for it in the card there.
func (c *caller) send(ctx context.Context, r request) (*http.Response, error) {
	if r.path != "" {
		return c.sendTo(ctx, c.cfg.URL+r.path, r)
	}
	at := c.cfg.URL
	if found, ok := c.found.Load().(string); ok {
		at = found
	}
	res, err := c.sendTo(ctx, at, r)
	if err != nil || !isNowhere(res) {
		return res, err
	}
	found, ok := c.locate(ctx)
	if !ok || found == at {
		return res, nil
	}
	c.found.Store(found)
	return c.sendTo(ctx, found, r)
}

// isNowhere reports whether an answer says that there is no interface at its URL.
func isNowhere(res *http.Response) bool {
	if res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusMethodNotAllowed {
		return false
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body)) // it is read again
	_, _, notRPC := codec.ReadResponse(body)
	return err == nil && notRPC != nil
}

// sendTo sends a request to a URL.
func (c *caller) sendTo(ctx context.Context, at string, r request) (*http.Response, error) {
	header := http.Header{"Accept": {typeJSON}}
	verb, content := r.method, r.content
	if r.path == "" {
		verb, content = http.MethodPost, envelope{"2.0", c.lastID.Add(1), r.method, r.content}
		header.Set(codec.HeaderExtensions, a2a.JoinExtensions([]string{a2a.ExtensionOPT, a2a.ExtensionCancel}))
	}
	var body []byte
	if content != nil {
		header.Set("Content-Type", typeJSON)
		var err error
		if body, err = json.Marshal(content); err != nil {
			return nil, fmt.Errorf("write the content of %s %s: %w", r.method, r.path, err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, verb, at, bytes.NewReader(body))
	if err != nil || req.URL.Host == "" || req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the URL of an agent, such as https://agent.example.com", c.cfg.URL)
	}
	header.Set(codec.HeaderVersion, version)
	if strings.ContainsFunc(c.cfg.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, ErrToken
	}
	if c.cfg.Token != "" {
		header.Set("Authorization", "Bearer "+c.cfg.Token)
	}
	for name, values := range r.header {
		header[name] = values
	}
	req.Header = header
	res, err := c.cfg.HTTP.Do(req)
	if err != nil {
		return nil, &brokenError{err}
	}
	return res, nil
}

// readResult reads the result in an answer to r, or returns its error.
func (r request) readResult(res *http.Response, result any) error {
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return &brokenError{fmt.Errorf("read the answer: %w", err)}
	case len(body) > maxAnswer:
		return fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	case r.path != "" && res.StatusCode != http.StatusOK:
		return pageError(res, body)
	case r.path != "":
		if json.Unmarshal(body, result) != nil {
			return notA2A(res)
		}
		return nil
	}
	raw, failed, err := codec.ReadResponse(body)
	switch {
	case err != nil:
		return notA2A(res)
	case failed != nil:
		return newError(failed, res)
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("read the result of %s: %w", r.method, err)
	}
	return nil
}
