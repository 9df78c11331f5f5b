package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"longhaul/a2a"
	"longhaul/api"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/service"
	"longhaul/api/service/servicetest"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

var start = servicetest.Start

// A fixture is a server, its service and its engine.
type fixture struct {
	*api.Server
	service *service.Service
	journal *faultyJournal
	world   *servicetest.World
	times   *servicetest.Schedules
	config  config
}

// A config configures a service and its server.
type config struct {
	serviceConfig
	httpConfig
	Address api.Address // that the card names

	Log *zap.Logger      // of both
	Now func() time.Time // likewise
}

type (
	serviceConfig = service.Config
	httpConfig    = api.Config
)

// newService returns a service; change may alter its configuration.
func newService(t *testing.T, change ...func(*config)) *fixture {
	t.Helper()
	return newServiceIn(t, func(*worldConfig) {}, change...)
}

// newServiceIn returns a service in a world that differs from the usual one.
func newServiceIn(t *testing.T, alter func(*worldConfig), change ...func(*config)) *fixture {
	t.Helper()
	in := worldConfig{Script: play, Planner: makePlans, Sleeps: sleeps}
	alter(&in)
	world := servicetest.New(t, in)
	journal := &faultyJournal{Journal: world.Journal()}
	s := &fixture{world: world, journal: journal, times: &servicetest.Schedules{Times: []a2a.Time{a2a.At(servicetest.Start)}}}
	cfg := config{
		serviceConfig: service.Config{
			Engine: world, Journal: journal, Pushes: journal.Pushes, Watch: journal.watch, Agent: oracle{}, Scheduler: s.times, Standing: journal.Standing, Absences: journal.Absences,
			Card: card.Info{
				Name: "Longhaul", Description: "Work that survives", Version: "1.2.3",
				Skills: []card.Skill{{ID: "plan", Name: "Plan", Description: "Breaks an objective into plans and tasks"}},
				Schemes: map[string]card.SecurityScheme{
					"bearer": {Type: "http", Scheme: "Bearer"},
					"key":    {Type: "apiKey", In: "header", Name: "X-API-Key"},
				},
				Requirements: []map[string][]string{{"bearer": nil}, {"key": nil}},
			},
			BlockingWait: 20 * time.Millisecond, ReplyWait: 20 * time.Millisecond, CancelWait: 20 * time.Millisecond,
			Rand: &counter{},
		},
		httpConfig: api.Config{Authenticate: callerOf},
		Address:    api.Address{BaseURL: "https://agent.example.com/"},
		Log:        zaptest.NewLogger(t, zaptest.Level(zap.WarnLevel)),
		Now:        world.Now,
	}
	for _, f := range change {
		f(&cfg)
	}
	cfg.serviceConfig.Log, cfg.httpConfig.Log = cfg.Log, cfg.Log
	cfg.serviceConfig.Now, cfg.httpConfig.Now = cfg.Now, cfg.Now
	cfg.Card.Interfaces = cfg.Address.Interfaces()
	s.service = service.New(cfg.serviceConfig)
	cfg.Service = s.service
	s.Server, s.config = api.New(cfg.httpConfig), cfg
	return s
}

// callerOf returns the caller that the Authorization header names.
func callerOf(r *http.Request) (call.Caller, error) {
	return servicetest.Caller(r.Header.Get("Authorization"))
}

// A counter is a predictable source of "random" bytes.
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

// serve answers a request with headers, given as name and value in turn. The last value
// of a name counts.
func (s *fixture) serve(t *testing.T, verb, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(t.Context(), verb, path, content)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// post sends a request in JSON-RPC.
func (s *fixture) post(t *testing.T, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	return s.serve(t, http.MethodPost, "/a2a", body, append([]string{"Content-Type", "application/json"}, headers...)...)
}

// call calls a method of 1.0 and returns its result, or an error object, as a tree.
func (s *fixture) call(t *testing.T, method, params string, headers ...string) node {
	t.Helper()
	return s.callIn(t, "1.0", method, params, headers...)
}

func (s *fixture) callIn(t *testing.T, version, method, params string, headers ...string) node {
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

// field returns the first field that an error names.
func field(n node) string {
	return n.at("error", "data", "0", "fieldViolations", "0", "field").String()
}

// untouched checks that nothing was written.
func (s *fixture) untouched(t *testing.T) {
	t.Helper()
	test.Is(t, "the engine was called times", 0, len(s.world.Calls()))
	_, n, err := s.journal.Journal.Objectives(t.Context(), "acme", shown.ObjectiveFilter{Limit: 1})
	if err != nil || n != 0 {
		t.Errorf("%d objectives were recorded: %v", n, err)
	}
}

// messageJSON returns a 1.0 message with an id and text; more is further members.
func messageJSON(id, text, more string) string {
	return fmt.Sprintf(`{"messageId":%q,"role":"ROLE_USER","parts":[{"text":%q}]%s}`, id, text, more)
}

// send sends text in 1.0 and returns the task.
func (s *fixture) send(t *testing.T, id, text string) node {
	t.Helper()
	n := s.call(t, "SendMessage", `{"message":`+messageJSON(id, text, "")+`}`)
	if n.has("error") {
		t.Fatalf("send failed: %v", n)
	}
	return n.at("result", "task")
}

// u returns the common part of the ids of the work that a message began.
func u(messageID string) string {
	return strings.TrimPrefix(opt.DerivedObjectiveID("acme", "ann", messageID), "obj-")
}

// say sends parts to a task; more is further members of the message.
func (s *fixture) say(t *testing.T, taskID, messageID, parts, more string, headers ...string) node {
	t.Helper()
	return s.call(t, "SendMessage", fmt.Sprintf(`{"message":{"messageId":%q,"taskId":%q,"role":"ROLE_USER","parts":[%s]%s}}`,
		messageID, taskID, parts, more), headers...)
}

// until waits for a change by another goroutine.
func (s *fixture) until(t *testing.T, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range 5000 {
		if ok() {
			return
		}
		<-tick.C
	}
	t.Fatal("it did not happen")
}

// events returns how many events of an objective are recorded.
func (s *fixture) events(id string) int { return len(s.world.Events(id)) }

// tick is longer than any step of the work.
const tick = time.Second

type worldConfig = servicetest.Config

func wantTrue(t *testing.T, n node) {
	t.Helper()
	if n.v != true {
		t.Errorf("%v, want true", n)
	}
}

// running returns the work of a task if an attempt at it runs.
func (s *fixture) running(taskID string) (opt.Work, bool) { return s.world.Running(taskID) }

// madeOf returns a plan of one task, as a planner makes it.
func madeOf(name string) servicetest.Made {
	return servicetest.Made{Plans: []opt.PlanSpec{{Name: name, Tasks: []opt.TaskSpec{{Name: "Only"}}}}}
}

// twin returns another service of the same world.
func (s *fixture) twin() *fixture {
	cfg := s.config
	cfg.Service = service.New(cfg.serviceConfig)
	return &fixture{Server: api.New(cfg.httpConfig), service: cfg.Service, journal: s.journal, world: s.world, config: cfg}
}
