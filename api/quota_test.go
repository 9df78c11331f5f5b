package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"longhaul/api/call"
	"longhaul/internal/test"
)

// A meter is a quota that counts open calls and streams, and may be full.
type meter struct {
	mu                     sync.Mutex
	calls, streams, most   int
	callsFull, streamsFull bool
}

func (m *meter) Call(call.Caller) (func(), error) { return m.enter(&m.calls, m.callsFull) }

func (m *meter) Stream(call.Caller) (func(), error) { return m.enter(&m.streams, m.streamsFull) }

func (m *meter) enter(n *int, full bool) (func(), error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if full {
		return nil, call.TooMany(1500 * time.Millisecond)
	}
	*n++
	m.most = max(m.most, *n)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		*n--
	}, nil
}

func (m *meter) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fmt.Sprintf("%d calls, %d streams, %d at most", m.calls, m.streams, m.most)
}

// The error for a caller above its limits says when to try again, in every form of answer.
func TestQuota_refusal(t *testing.T) {
	m := &meter{callsFull: true}
	s := newService(t, func(c *config) { c.Quota = m })
	call := `{"jsonrpc":"2.0","id":1,"method":%q,"params":{"message":` + messageJSON("m", "write", "") + `}}`
	for name, w := range map[string]*httptest.ResponseRecorder{
		"JSON-RPC 1.0":         s.post(t, fmt.Sprintf(call, "SendMessage"), "A2A-Version", "1.0"),
		"JSON-RPC 0.3":         s.post(t, fmt.Sprintf(call, "message/send")),
		"a stream of JSON-RPC": s.post(t, fmt.Sprintf(call, "SendStreamingMessage"), "A2A-Version", "1.0"),
		"plain HTTP":           s.plain(t, "GET /a2a/rest/tasks", ""),
	} {
		body := w.Body.String()
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "2" {
			t.Errorf("%s: status %d, Retry-After %q", name, w.Code, w.Header().Get("Retry-After"))
		}
		for _, want := range []string{`"RATE_LIMIT_EXCEEDED"`, `"retryDelay":"1.5s"`} {
			test.Contains(t, fmt.Sprintf("%s: no %s in", name, want), want, body)
		}
	}
	s.untouched(t)
	test.Is(t, "an anonymous caller: status", http.StatusOK, s.post(t, fmt.Sprintf(call, "SendMessage"), "Authorization", "Bearer anonymous").Code)
}

// A stream that is refused delivers nothing. Every permit is released, also after a
// failure.
func TestQuota_places(t *testing.T) {
	m := &meter{streamsFull: true}
	s := newService(t, func(c *config) { c.Quota = m })
	stream := func(id, text string) *httptest.ResponseRecorder {
		return s.post(t, `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":`+messageJSON(id, text, "")+`}}`, "A2A-Version", "1.0")
	}
	if w := stream("m", "write"); w.Code != http.StatusTooManyRequests {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	s.untouched(t)
	m.streamsFull = false
	if w := stream("m", "write"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "TASK_STATE_COMPLETED") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	stream("h", "hello")
	s.call(t, "SendMessage", `{"message":`+messageJSON("p", "panic", "")+`}`)
	s.call(t, "SubscribeToTask", `{"id":"unknown"}`)
	s.call(t, "SubscribeToTask", `{"id":"obj-`+u("m")+`"}`)
	s.call(t, "GetTask", `{}`)
	s.call(t, "GetEverything", `{}`)
	test.Is(t, "after all", "0 calls, 0 streams, 1 at most", m.String())
}

// An open stream has a place among the streams, none among the calls.
func TestQuota_openStream(t *testing.T) {
	m := &meter{}
	s := newService(t, func(c *config) { c.Quota = m })
	id := s.send(t, "m", "slow").at("id").String()
	open := s.subscribed(t, id)
	test.Is(t, "while it is open", "0 calls, 1 streams, 1 at most", m.String())
	open()
	test.Is(t, "after it", "0 calls, 0 streams, 1 at most", m.String())
}

// subscribed opens a stream of a task and returns what ends it, and waits for its end.
func (s *fixture) subscribed(t *testing.T, taskID string) (end func()) {
	t.Helper()
	srv, res := s.connected(t.Context(), t, taskID)
	test.OK(t, test.Err(res.Body.Read(make([]byte, 1))))
	return func() {
		_ = res.Body.Close()
		srv.Close() // waits for the handler
	}
}
