package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
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

type request struct {
	JSONRPC string `json:"jsonrpc"`
	ID      int64  `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// A caller calls the methods of one agent, for the parts of a Client.
type caller struct {
	cfg    Config
	lastID atomic.Int64 // of a request
}

// repeat calls an idempotent method until it answers or Config.Patience ends.
func (c *caller) repeat(ctx context.Context, method string, params, result any) error {
	return c.repeatCall(ctx, func() error { return c.call(ctx, method, params, result) })
}

// repeatCall calls an idempotent function until it succeeds or fails permanently, or
// Config.Patience ends.
func (c *caller) repeatCall(ctx context.Context, once func() error) error {
	r := c.retry()
	for {
		err := once()
		if err == nil || !isTransient(err) {
			return err
		}
		if err := r.wait(ctx, err); err != nil {
			return err
		}
	}
}

// callWithKey calls a method that changes something: without a key once, with a key until it
// answers or Config.Patience ends. The agent answers a repeat with the same key as it
// answered the first call.
func (c *caller) callWithKey(ctx context.Context, key, method string, params, result any) error {
	if key == "" {
		return c.call(ctx, method, params, result)
	}
	return c.repeatCall(ctx, func() error { return c.send(ctx, http.Header{headerKey: {key}}, method, params, result) })
}

// call calls a method once and reads its result.
func (c *caller) call(ctx context.Context, method string, params, result any) error {
	return c.send(ctx, http.Header{}, method, params, result)
}

// send is call with headers beside those of every call.
func (c *caller) send(ctx context.Context, header http.Header, method string, params, result any) error {
	attempt, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	header = header.Clone()
	header.Set("Accept", typeJSON)
	res, err := c.post(attempt, method, params, header)
	if err == nil {
		defer func() { _ = res.Body.Close() }()
		var raw json.RawMessage
		if raw, err = readAnswer(res); err == nil {
			return decode(method, raw, result)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// post sends a request. header is added to the headers of every request.
func (c *caller) post(ctx context.Context, method string, params any, header http.Header) (*http.Response, error) {
	body, err := json.Marshal(request{"2.0", c.lastID.Add(1), method, params})
	if err != nil {
		return nil, fmt.Errorf("write the params of %s: %w", method, err)
	}
	req, err := c.request(ctx, http.MethodPost, "", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", typeJSON)
	req.Header.Set(codec.HeaderExtensions, a2a.ExtensionOPT)
	return c.do(req)
}

// request returns a request to a path below the client's URL, with the headers
// that every request has.
func (c *caller) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.cfg.URL+path, body)
	if err != nil || req.URL.Host == "" || req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the URL of an agent, such as https://agent.example.com", c.cfg.URL)
	}
	req.Header.Set(codec.HeaderVersion, version)
	if c.cfg.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	}
	return req, nil
}

func (c *caller) do(req *http.Request) (*http.Response, error) {
	res, err := c.cfg.HTTP.Do(req)
	if err != nil {
		return nil, &brokenError{err}
	}
	return res, nil
}

// page reads a page beside A2A. It is repeated like an idempotent method.
func (c *caller) page(ctx context.Context, path string, query url.Values, result any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.repeatCall(ctx, func() error { return c.submit(ctx, http.MethodGet, path, nil, result) })
}

// submit calls a page beside A2A, once. With nil the request has no body.
func (c *caller) submit(ctx context.Context, method, path string, body, result any) error {
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return fmt.Errorf("write the content of %s: %w", path, err)
		}
	}
	res, answer, err := c.exchange(ctx, method, path, content)
	switch {
	case err != nil:
		return err
	case res.StatusCode != http.StatusOK:
		return pageError(res, answer)
	case json.Unmarshal(answer, result) != nil:
		return notA2A(res)
	}
	return nil
}

// exchange sends a request with JSON, nil for none, by plain HTTP, once.
func (c *caller) exchange(ctx context.Context, method, path string, content []byte) (*http.Response, []byte, error) {
	attempt, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	req, err := c.request(attempt, method, path, bytes.NewReader(content))
	if err != nil {
		return nil, nil, err
	}
	if content != nil {
		req.Header.Set("Content-Type", typeJSON)
	}
	res, err := c.do(req)
	switch {
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case err != nil:
		return nil, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, nil, &brokenError{fmt.Errorf("read %s: %w", req.URL.Path, err)}
	}
	return res, body, nil
}

// readAnswer returns the result in a JSON answer, or its error.
func readAnswer(res *http.Response) (json.RawMessage, error) {
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, &brokenError{fmt.Errorf("read the answer: %w", err)}
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	result, failed, err := codec.ReadResponse(body)
	switch {
	case err != nil:
		return nil, notA2A(res)
	case failed != nil:
		return nil, newError(failed, res)
	}
	return result, nil
}

func decode(method string, raw json.RawMessage, result any) error {
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("read the result of %s: %w", method, err)
	}
	return nil
}

// decodeAll reads the elements of a list.
func decodeAll[T any](method string, list []json.RawMessage) ([]T, error) {
	var out []T
	for _, raw := range list {
		var v T
		if err := decode(method, raw, &v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// isType reports whether the content of res has a media type.
func isType(res *http.Response, want string) bool {
	got, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(got), want)
}
