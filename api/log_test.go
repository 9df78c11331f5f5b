package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/api/call"
	"longhaul/internal/test"
)

// The log of a request has the caller, the method and ids, and no content.
func TestLog(t *testing.T) {
	core, logs := observer.New(zapcore.DebugLevel)
	s := newService(t, func(c *config) { c.Log = zap.New(core) })
	const canary = "c4n4ry"
	work := `{"message":` + messageJSON("m", "slow "+canary, `,"contextId":"`+canary+`","metadata":{"x":"`+canary+`"}`) + `}`
	s.call(t, "SendMessage", work, "Authorization", "Bearer acme/ann", "X-Request-Id", "req-1")
	s.call(t, "GetTask", `{"id":"`+canary+`"}`, "X-Request-Id", "req-2")
	s.call(t, canary, `{}`)
	s.post(t, canary, "A2A-Version", canary)
	s.call(t, "SendMessage", `{"message":`+messageJSON("m2", "panic "+canary, "")+`}`)
	s.get(t, "/"+canary)

	var served []map[string]any
	for _, entry := range logs.All() {
		fields := entry.ContextMap()
		delete(fields, "stack")
		if entry.Message == "Served a request" {
			served = append(served, fields)
		}
		if text := fmt.Sprint(entry.Message, fields); strings.Contains(text, canary) {
			t.Errorf("the log holds content: %s", text)
		}
	}
	if len(served) != 6 {
		t.Fatalf("%d requests were logged", len(served))
	}
	for key, want := range map[string]any{
		"requestId": "req-1", "method": "SendMessage", "tenant": "acme", "principal": "ann", "status": int64(200),
		"objectiveId": "obj-" + u("m"), "taskId": "obj-" + u("m"), "path": "/a2a", "code": nil,
	} {
		test.Is(t, key, want, served[0][key])
	}
	if served[0]["took"] == nil {
		t.Error("the log does not say how long it took")
	}
	if served[1]["code"] != int64(-32001) || served[1]["taskId"] != nil {
		t.Errorf("a task that is not there is logged as %v", served[1])
	}
}

// The log says why credentials were refused, which the answer does not.
func TestLog_refusedCredentials(t *testing.T) {
	core, logs := observer.New(zapcore.InfoLevel)
	reason := "the token has expired " + strings.Repeat("é", 1000)
	s := newService(t, func(c *config) {
		c.Log = zap.New(core)
		c.Authenticate = func(*http.Request) (call.Caller, error) { return call.Caller{Tenant: "acme"}, errors.New(reason) }
	})
	answer := fmt.Sprint(s.call(t, "GetTask", `{"id":"x"}`))
	if strings.Contains(answer, "expired") || !strings.Contains(answer, "Unauthenticated") {
		t.Errorf("answer %s", answer)
	}
	entry := logs.FilterMessage("Served a request").All()[0].ContextMap()
	got, _ := entry["refused"].(string)
	if !strings.HasPrefix(got, "the token has expired é") || len(got) > 250 || entry["tenant"] != nil {
		t.Errorf("the log has %v", entry)
	}
}

// At the level info, requests are not logged.
func TestLog_quiet(t *testing.T) {
	core, logs := observer.New(zapcore.InfoLevel)
	s := newService(t, func(c *config) { c.Log = zap.New(core) })
	s.call(t, "GetTask", `{"id":"x"}`)
	s.get(t, "/healthz")
	if n := logs.Len(); n != 0 {
		t.Errorf("%d lines: %v", n, logs.All())
	}
}
