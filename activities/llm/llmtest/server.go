// Package llmtest is a server that speaks the APIs of models as a script says, for
// tests.
package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A Turn is the answer of the server to one request.
type Turn struct {
	Text          []string // pieces, in order
	Calls         []Call   // of tools
	Input, Output int64    // tokens; 0 means 10 and 5
	Cached        int64    // tokens of Input from a cache
	End           string   // why the model stops, as the API says; "" for the usual reason

	Status     int         // of an error; 0 for an answer
	RetryAfter string      // header of an error
	Raw        string      // sent in the place of all events; the stream ends then
	Cut        bool        // the stream ends before the model does
	Stall      func() bool // called after the text; true holds the stream until the caller leaves
}

// end returns why the model stops: calls if it calls tools, else rest, unless t says
// something else.
func (t Turn) end(calls, rest string) string {
	switch {
	case t.End != "":
		return t.End
	case len(t.Calls) > 0:
		return calls
	}
	return rest
}

// A Call is a call of a tool in a turn.
type Call struct{ Name, Args string }

// A Request is a request of a caller.
type Request struct {
	Path     string
	Header   http.Header
	Body     string
	System   string
	Messages []Message
	Tools    []string // their names
	Schema   bool     // the request has a schema for the answer
}

// A Message is one of a request.
type Message struct{ Role, Text string }

// A Server answers each request with the turn that its script returns. It is an
// [http.Handler], and may be used from any goroutine.
type Server struct {
	URL    string // of one that [New] has returned
	script func(n int, r Request) Turn

	mu       sync.Mutex
	requests []Request
	left     chan struct{}
}

// New returns a server that ends with the test. n is the number of the request, from 0.
// The URL of the OpenAI API is the server's with /v1.
func New(t testing.TB, script func(n int, r Request) Turn) *Server {
	s := NewHandler(script)
	h := httptest.NewServer(s)
	s.URL = h.URL
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return s
}

// NewHandler returns a server for a program that listens itself.
func NewHandler(script func(n int, r Request) Turn) *Server {
	return &Server{script: script, left: make(chan struct{}, 100)}
}

// Turns is a script with one turn after the other; the last one is repeated.
func Turns(turns ...Turn) func(int, Request) Turn {
	return func(n int, _ Request) Turn { return turns[min(n, len(turns)-1)] }
}

// Requests returns all requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Left is sent to each time a caller has left a stream that stalls.
func (s *Server) Left() <-chan struct{} { return s.left }

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	claude := strings.HasSuffix(r.URL.Path, "/messages")
	req := read(body)
	req.Path, req.Header = r.URL.Path, r.Header.Clone()
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	t := s.script(n, req)
	if t.Status != 0 {
		w.Header().Set("Content-Type", "application/json")
		if t.Status/100 == 3 {
			w.Header().Set("Location", "/elsewhere")
		}
		if t.RetryAfter != "" {
			w.Header().Set("Retry-After", t.RetryAfter)
		}
		w.WriteHeader(t.Status)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"test_error","code":"test","message":"the detail of the server","param":""}}`)
		return
	}
	if t.Input == 0 && t.Output == 0 {
		t.Input, t.Output = 10, 5
	}
	w.Header().Set("Content-Type", "text/event-stream")
	e := &events{w: w, r: r, s: s, t: t}
	switch {
	case t.Raw != "":
		_, _ = io.WriteString(w, t.Raw)
	case claude:
		e.claude()
	default:
		e.openAI()
	}
}

// read reads a request of either API.
func read(body []byte) Request {
	var form struct {
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name     string                `json:"name"`
			Function struct{ Name string } `json:"function"`
		} `json:"tools"`
		ResponseFormat json.RawMessage `json:"response_format"`
		OutputConfig   json.RawMessage `json:"output_config"`
	}
	_ = json.Unmarshal(body, &form) // a test notices a missing member
	out := Request{Body: string(body), System: text(form.System), Schema: form.ResponseFormat != nil || form.OutputConfig != nil}
	for _, m := range form.Messages {
		if m.Role == "system" {
			out.System = text(m.Content)
			continue
		}
		out.Messages = append(out.Messages, Message{m.Role, text(m.Content)})
	}
	for _, t := range form.Tools {
		out.Tools = append(out.Tools, t.Name+t.Function.Name)
	}
	return out
}

// text returns the text of a string, or of blocks.
func text(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var blocks []struct {
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(content, &blocks)
	var texts []string
	for _, b := range blocks {
		if b.Content != nil {
			b.Text += text(b.Content)
		}
		if b.Text != "" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// events writes one answer as server-sent events.
type events struct {
	w http.ResponseWriter
	r *http.Request
	s *Server
	t Turn
}

func (e *events) send(kind string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // the data is ours
	}
	if kind != "" {
		fmt.Fprintf(e.w, "event: %s\n", kind)
	}
	fmt.Fprintf(e.w, "data: %s\n\n", text)
	_ = http.NewResponseController(e.w).Flush()
}

// stalls reports whether the stream was held until the caller left.
func (e *events) stalls() bool {
	if e.t.Stall == nil || !e.t.Stall() {
		return false
	}
	<-e.r.Context().Done()
	e.s.left <- struct{}{}
	return true
}

type object = map[string]any

func (e *events) openAI() {
	chunk := func(delta object, end any) {
		e.send("", object{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": end}}})
	}
	for _, piece := range e.t.Text {
		chunk(object{"content": piece}, nil)
	}
	if e.stalls() || e.t.Cut {
		return
	}
	for i, c := range e.t.Calls {
		half := len(c.Args) / 2
		chunk(object{"tool_calls": []object{{"index": i, "id": fmt.Sprintf("id-%d", i), "type": "function", "function": object{"name": c.Name, "arguments": c.Args[:half]}}}}, nil)
		chunk(object{"tool_calls": []object{{"index": i, "function": object{"arguments": c.Args[half:]}}}}, nil)
	}
	chunk(object{}, e.t.end("tool_calls", "stop"))
	e.send("", object{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []object{},
		"usage": object{"prompt_tokens": e.t.Input, "prompt_tokens_details": object{"cached_tokens": e.t.Cached}, "completion_tokens": e.t.Output, "total_tokens": e.t.Input + e.t.Output}})
	_, _ = io.WriteString(e.w, "data: [DONE]\n\n")
}

func (e *events) claude() {
	e.send("message_start", object{"type": "message_start", "message": object{"id": "m", "type": "message", "role": "assistant", "model": "m",
		"content": []any{}, "stop_reason": nil, "usage": object{"input_tokens": e.t.Input - e.t.Cached, "cache_read_input_tokens": e.t.Cached, "output_tokens": 1}}})
	index := 0
	block := func(start object, deltas ...object) {
		e.send("content_block_start", object{"type": "content_block_start", "index": index, "content_block": start})
		for _, d := range deltas {
			e.send("content_block_delta", object{"type": "content_block_delta", "index": index, "delta": d})
		}
		e.send("content_block_stop", object{"type": "content_block_stop", "index": index})
		index++
	}
	if len(e.t.Text) > 0 {
		var deltas []object
		for _, piece := range e.t.Text {
			deltas = append(deltas, object{"type": "text_delta", "text": piece})
		}
		block(object{"type": "text", "text": ""}, deltas...)
	}
	if e.stalls() || e.t.Cut {
		return
	}
	for i, c := range e.t.Calls {
		half := len(c.Args) / 2
		block(object{"type": "tool_use", "id": fmt.Sprintf("id-%d", i), "name": c.Name, "input": object{}},
			object{"type": "input_json_delta", "partial_json": c.Args[:half]}, object{"type": "input_json_delta", "partial_json": c.Args[half:]})
	}
	e.send("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": e.t.end("tool_use", "end_turn")}, "usage": object{"output_tokens": e.t.Output}})
	e.send("message_stop", object{"type": "message_stop"})
}
