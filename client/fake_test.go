package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/client"
)

// A call is a request as the agent saw it.
type call struct {
	method string
	params string
	header http.Header
}

// An agent answers each request with the next of its answers.
type agent struct {
	*httptest.Server
	t       *testing.T
	mu      sync.Mutex
	answers []http.HandlerFunc
	calls   []call
}

func newAgent(t *testing.T, answers ...http.HandlerFunc) *agent {
	a := &agent{t: t, answers: answers}
	a.Server = httptest.NewServer(http.HandlerFunc(a.answer))
	t.Cleanup(a.Close)
	return a
}

func (a *agent) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		a.t.Errorf("read a request: %v", err)
	}
	var rpc struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      int             `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
	}
	if r.URL.Path != "/" {
		rpc.Method, rpc.Params = r.Method+" "+r.URL.RequestURI(), body
	} else if json.Unmarshal(body, &rpc) != nil || rpc.JSONRPC != "2.0" || rpc.ID == 0 {
		a.t.Errorf("not a JSON-RPC request: %s", body)
	}
	if kind := r.Header.Get("Content-Type"); (kind == "application/json") != (len(body) > 0) {
		a.t.Errorf("%s has content of the type %q: %s", rpc.Method, kind, body)
	}
	a.mu.Lock()
	a.calls = append(a.calls, call{rpc.Method, string(rpc.Params), r.Header})
	var next http.HandlerFunc
	if len(a.answers) > 0 {
		next, a.answers = a.answers[0], a.answers[1:]
	}
	a.mu.Unlock()
	if next == nil {
		a.t.Errorf("unexpected request: %s %s", rpc.Method, rpc.Params)
		http.Error(w, "unexpected", http.StatusTeapot)
		return
	}
	next(w, r)
}

// seen lists the methods called and their params, and the pages requested and their content.
func (a *agent) seen() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []string
	for _, c := range a.calls {
		line := strings.TrimSpace(c.method + " " + c.params)
		if after := c.header.Get("Last-Event-ID"); after != "" {
			line += " after " + after
		}
		out = append(out, line)
	}
	return out
}

// client returns a client of a that repeats at once.
func (a *agent) client() *client.Client { return client.New(config(a.URL)) }

func config(url string) client.Config {
	return client.Config{URL: url, Backoff: func(int) time.Duration { return 0 }}
}

// result answers with a result.
func result(json string) http.HandlerFunc {
	return text(http.StatusOK, "application/json", `{"jsonrpc":"2.0","id":1,"result":`+json+`}`)
}

func text(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// events answers with a stream that then ends.
func events(body ...string) http.HandlerFunc {
	return text(http.StatusOK, "text/event-stream", strings.Join(body, ""))
}

// broken answers with a stream whose connection then breaks.
func broken(body ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		events(body...)(w, r)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// silent answers with a stream that sends nothing after body.
func silent(body ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		events(body...)(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

// event is an event of a stream.
func event(id, json string) string {
	return "id: " + id + "\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":" + json + "}\n\n"
}

func task(state string) string {
	return `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_` + state + `","timestamp":"2026-03-01T09:30:00.000Z"}}`
}

func snapshot(id, state string) string { return event(id, `{"task":`+task(state)+`}`) }

func update(id, state string) string {
	return event(id, `{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_`+state+`","timestamp":"2026-03-01T09:30:01.000Z"}}}`)
}

func chunk(id, text string) string {
	return event(id, `{"artifactUpdate":{"taskId":"t1","contextId":"c1","artifact":{"artifactId":"a1","parts":[{"text":"`+text+`"}]},"append":true}}`)
}

// refusing is a transport that refuses the first connections.
type refusing struct {
	mu   sync.Mutex
	left int
}

func (r *refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	r.left--
	refuse := r.left >= 0
	r.mu.Unlock()
	if refuse {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	return http.DefaultTransport.RoundTrip(req)
}

// lines says what a stream yielded, one line each.
func lines(events iter.Seq2[client.Event, error]) []string {
	var out []string
	for e, err := range events {
		switch {
		case err != nil:
			out = append(out, "error: "+err.Error())
		case e.Task != nil:
			out = append(out, fmt.Sprintf("%s task %s", e.ID, e.Task.Status.State))
		case e.Status != nil:
			out = append(out, fmt.Sprintf("%s %s", e.ID, e.Status.Status.State))
		case e.Artifact != nil:
			out = append(out, fmt.Sprintf("%s + %s", e.ID, e.Artifact.Artifact.Text()))
		case e.Message != nil:
			out = append(out, fmt.Sprintf("%s message %s", e.ID, e.Message.Text()))
		}
	}
	return out
}

func hello() a2a.Message {
	return a2a.Message{MessageID: "m1", Parts: []a2a.Part{a2a.TextPart("hello")}}
}

var again = client.SendOptions{History: -1, Retry: true}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
