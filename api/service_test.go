package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"longhaul/api"
	"longhaul/opt"
)

var start = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)

// A service is a server and what is behind it.
type service struct {
	*api.Server
	journal *memory
	engine  *engine
}

// newService returns a service; change may alter its configuration.
func newService(t *testing.T, change ...func(*api.Config)) *service {
	t.Helper()
	journal := newMemory()
	s := &service{journal: journal, engine: &engine{journal: journal}}
	cfg := api.Config{
		Engine: s.engine, Journal: journal, Watch: journal.Watch, Agent: oracle{},
		Card: api.CardInfo{
			Name: "Longhaul", Description: "Work that survives", Version: "1.2.3", BaseURL: "https://agent.example.com/",
			Skills: []api.Skill{{ID: "plan", Name: "Plan", Description: "Breaks an objective into plans and tasks"}},
			Schemes: map[string]api.SecurityScheme{
				"bearer": {Type: "http", Scheme: "Bearer"},
				"key":    {Type: "apiKey", In: "header", Name: "X-API-Key"},
			},
			Requirements: []map[string][]string{{"bearer": nil}, {"key": nil}},
		},
		Authenticate: whoever,
		BlockingWait: 20 * time.Millisecond, ReplyWait: 20 * time.Millisecond, CancelWait: 20 * time.Millisecond,
		Now: func() time.Time { return start }, Rand: &counter{}, Log: zaptest.NewLogger(t),
	}
	for _, f := range change {
		f(&cfg)
	}
	s.Server = api.New(cfg)
	return s
}

// whoever takes "Bearer tenant/principal" at its word, and no header for one that
// the tests use.
func whoever(r *http.Request) (api.Caller, error) {
	switch auth := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); auth {
	case "":
		return api.Caller{Tenant: "acme", Principal: "ann"}, nil
	case "nobody":
		return api.Caller{}, errors.New("no such key")
	case "guest":
		return api.Caller{}, fmt.Errorf("key of a guest: %w", api.ErrForbidden)
	case "anonymous":
		return api.Caller{Tenant: "acme", Principal: "anyone", Anonymous: true}, nil
	case "later":
		return api.Caller{}, opt.ErrUnavailable
	default:
		tenant, principal, _ := strings.Cut(auth, "/")
		return api.Caller{Tenant: tenant, Principal: principal}, nil
	}
}

// A counter is a source of random bytes that are not.
type counter struct {
	mu sync.Mutex
	n  byte
}

func (c *counter) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	for i := range p {
		p[i] = c.n
	}
	return len(p), nil
}

// post sends a request with headers, given as name and value in turn.
func (s *service) post(t *testing.T, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/a2a", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// call calls a method of 1.0 and returns its result, or an error object, as a tree.
func (s *service) call(t *testing.T, method, params string, headers ...string) node {
	t.Helper()
	return s.callIn(t, "1.0", method, params, headers...)
}

func (s *service) callIn(t *testing.T, version, method, params string, headers ...string) node {
	t.Helper()
	w := s.post(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params), append(headers, "A2A-Version", version)...)
	return parse(t, w.Body.Bytes())
}

// A node is a place in a JSON document.
type node struct{ v any }

func parse(t *testing.T, body []byte) node {
	t.Helper()
	var n node
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&n.v); err != nil {
		t.Fatalf("answer is not JSON: %v\n%s", err, body)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("answer is more than one JSON value:\n%s", body)
	}
	return n
}

// at follows member names, or an index as "0".
func (n node) at(path ...string) node {
	for _, name := range path {
		switch v := n.v.(type) {
		case map[string]any:
			n = node{v[name]}
		case []any:
			i := int(name[0] - '0')
			if i >= len(v) {
				return node{}
			}
			n = node{v[i]}
		default:
			return node{}
		}
	}
	return n
}

func (n node) has(name string) bool {
	object, _ := n.v.(map[string]any)
	_, ok := object[name]
	return ok
}

func (n node) String() string {
	switch v := n.v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	}
	b, _ := json.Marshal(n.v)
	return string(b)
}

// wantCode checks the error of an answer, and returns its message.
func wantCode(t *testing.T, n node, code string) string {
	t.Helper()
	if got := n.at("error", "code").String(); got != code {
		t.Fatalf("code is %q, want %s: %v", got, code, n)
	}
	return n.at("error", "message").String()
}

// field returns the first field that an error complains about.
func field(n node) string {
	return n.at("error", "data", "0", "fieldViolations", "0", "field").String()
}

// untouched checks that nothing was written.
func (s *service) untouched(t *testing.T) {
	t.Helper()
	if n := len(s.engine.starts) + len(s.engine.letters) + len(s.engine.canceled) + len(s.engine.changes); n != 0 {
		t.Errorf("the engine was called %d times", n)
	}
	if n := len(s.journal.log); n != 0 {
		t.Errorf("%d objectives were recorded", n)
	}
}

// message returns a 1.0 message with an id and text; more is further members.
func message(id, text, more string) string {
	return fmt.Sprintf(`{"messageId":%q,"role":"ROLE_USER","parts":[{"text":%q}]%s}`, id, text, more)
}

// send sends text in 1.0 and returns the task.
func (s *service) send(t *testing.T, id, text string) node {
	t.Helper()
	n := s.call(t, "SendMessage", `{"message":`+message(id, text, "")+`}`)
	if n.has("error") {
		t.Fatalf("send failed: %v", n)
	}
	return n.at("result", "task")
}
