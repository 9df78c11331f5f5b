package api_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"longhaul/internal/test"
)

const seams = "/v1/host/sample/a2a/tasks"

// The seams of the conformance suite are served only on request.
func TestSeams_off(t *testing.T) {
	s := newService(t, pushOn)
	for _, call := range []string{"POST /start", "POST /push-config", "GET /x"} {
		verb, path, _ := strings.Cut(call, " ")
		if w := s.rest(t, verb, seams+path, `{"scenario":"paused-at-approval"}`); w.Code != 404 || parse(t, w.Body.Bytes()).at("error").String() != "not_found" {
			t.Errorf("%s: %d %s", call, w.Code, w.Body)
		}
	}
	s.untouched(t)
}

// A task that a seam has started waits for a real approval.
func TestSeams_pausedAtApproval(t *testing.T) {
	s := newService(t, func(c *config) { c.TestSeams, c.BlockingWait = true, 10*time.Second })
	w := s.rest(t, "POST", seams+"/start", `{"scenario":"paused-at-approval"}`)
	id := parse(t, w.Body.Bytes()).at("taskId").String()
	if w.Code != 200 || id == "" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	record := parse(t, s.get(t, seams+"/"+id).Body.Bytes())
	if record.at("state").String() != "input-required" || record.at("interruptKind").String() != "approval" || record.at("runId").String() != id {
		t.Errorf("record is %v", record)
	}
	test.Is(t, "the record of the page", record.String(), parse(t, s.get(t, "/v1/a2a/tasks/"+id).Body.Bytes()).String())
	if n := s.say(t, id, "r", `{"data":{"action":"accept"}}`, ""); n.at("result", "task", "status", "state").String() != "TASK_STATE_COMPLETED" {
		t.Errorf("after the approval: %v", n)
	}
	for _, body := range []string{`{"scenario":"another"}`, `{}`} {
		if w := s.rest(t, "POST", seams+"/start", body); w.Code != 400 || !strings.Contains(w.Body.String(), "scenario") {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	test.Is(t, "unknown", 404, s.get(t, seams+"/unknown").Code)
}

// The URL of a sample is checked before the task is looked up, by the rules of
// production.
func TestSeams_pushConfig(t *testing.T) {
	s := newService(t, pushOn, func(c *config) {
		c.TestSeams = true
		c.CheckSample = c.CheckPush
		c.CheckPush = func(context.Context, string) error { return nil } // as in development
	})
	id := s.send(t, "m", "slow").at("id").String()
	for _, tc := range []struct {
		task, url string
		status    int
		code      string
	}{
		{"run_x", "https://10.0.0.5/push", 400, "a2a_push_egress_denied"},
		{"run_x", "http://push.example.com/push", 400, "a2a_push_egress_denied"},
		{"run_x", "https://push.example.com/push", 404, "task_not_found"},
		{id, "https://10.0.0.5/push", 400, "a2a_push_egress_denied"},
		{id, "https://push.example.com/push", 200, ""},
	} {
		w := s.rest(t, "POST", seams+"/push-config", `{"taskId":"`+tc.task+`","url":"`+tc.url+`"}`)
		if n := parse(t, w.Body.Bytes()); w.Code != tc.status || n.at("error").String() != tc.code {
			t.Errorf("%s %s: %d %v", tc.task, tc.url, w.Code, n)
		}
	}
	if got := s.pushed(t, id); len(got) != 1 || !strings.Contains(got[0], "https://push.example.com/push") {
		t.Errorf("configs: %q", got)
	}
	record := parse(t, s.get(t, "/v1/a2a/tasks/"+id).Body.Bytes())
	if record.at("pushConfig", "url").String() != "https://push.example.com/push" {
		t.Errorf("record is %v", record)
	}
	if record := parse(t, s.get(t, "/v1/a2a/tasks/"+id, "Authorization", limitedTo("runs:read")).Body.Bytes()); record.has("pushConfig") || !record.has("state") {
		t.Errorf("record for a caller who may not see push configs: %v", record)
	}
	off := newService(t, func(c *config) {
		c.TestSeams, c.CheckSample = true, func(context.Context, string) error { return errors.New("no") }
	})
	if w := off.rest(t, "POST", seams+"/push-config", `{"taskId":"x","url":"https://10.0.0.5/"}`); parse(t, w.Body.Bytes()).at("error").String() != "push_notification_not_supported" {
		t.Errorf("without push: %d %s", w.Code, w.Body)
	}
}
