package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/api/call"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/access"
	"longhaul/opt/timetable"
)

// limited returns a service whose tenants have quotas. Those of globex have none.
func limited(t *testing.T, quotas ...string) *fixture {
	t.Helper()
	limits, err := access.Quotas{}.With(quotas...)
	for _, q := range slices.Concat(access.AllQuotas, access.Spendings()) {
		if err == nil {
			limits, err = limits.With(fmt.Sprintf("globex:%s=0", q))
		}
	}
	test.OK(t, err)
	return newService(t, func(c *config) { c.Quotas = limits })
}

// begins sends a message that would begin work.
func begins(t *testing.T, s *fixture, id, text string, headers ...string) node {
	t.Helper()
	return s.call(t, "SendMessage", `{"message":`+messageJSON(id, text, "")+`,"configuration":{"returnImmediately":true}}`, headers...)
}

// exceeded returns the quota that an answer in JSON-RPC names, with its numbers; "" if the
// request was accepted.
func exceeded(t *testing.T, n node) string {
	t.Helper()
	if !n.has("error") {
		return ""
	}
	wantCode(t, n, "-32603")
	info := n.at("error", "data", "0")
	if info.at("reason").String() != "QUOTA_EXCEEDED" {
		t.Fatalf("the error is %v", n)
	}
	text := fmt.Sprintf("%v %v/%v", info.at("metadata", "quota"), info.at("metadata", "used"), info.at("metadata", "limit"))
	return strings.TrimSpace(text + " " + n.at("error", "data", "1", "retryDelay").String())
}

// A tenant with as many open objectives as it may have begins no other one, in any way. Repeats
// of accepted requests get their answers, and another tenant is not affected.
func TestQuotas_openObjectives(t *testing.T) {
	s := limited(t, "open-objectives=2")
	s.schedule(t, 200, http.MethodPost, "", nightlyJSON)
	first := begins(t, s, "m-1", "slow").at("result", "task", "id").String()
	created := s.must(t, "objectives/create", `{"name":"Idle"}`, "Idempotency-Key", "k-1").at("objective", "id").String()
	done := begins(t, s, "m-other", "slow", "Authorization", "Bearer globex/eve").at("result", "task", "id").String()

	const full = "open-objectives 2/2 30s"
	run := timetable.ScheduledRun{Schedule: s.nightly(t).Schedule, At: "2026-03-01T02:00:00Z"}
	_, missed := s.service.Runs.BeginScheduled(t.Context(), run)
	fault, _ := errors.AsType[*call.Fault](missed)
	if fault == nil || !fault.Final() || fault.Reason != "QUOTA_EXCEEDED" || !strings.Contains(fault.Message, "open-objectives") {
		t.Errorf("the run of a schedule: %v", missed)
	}
	for name, tt := range map[string]struct {
		n    node
		want string
	}{
		"a message":          {begins(t, s, "m-2", "slow"), full},
		"a message again":    {begins(t, s, "m-2", "slow"), full},
		"create":             {s.call(t, "objectives/create", `{"name":"Another"}`, "Idempotency-Key", "k-2"), full},
		"a repeat":           {begins(t, s, "m-1", "slow"), ""},
		"a repeat of create": {s.call(t, "objectives/create", `{"name":"Idle"}`, "Idempotency-Key", "k-1"), ""},
		"a greeting":         {begins(t, s, "m-3", "hello"), ""}, // is answered at once
		"a note":             {s.say(t, first, "m-4", `{"text":"Faster"}`, ""), ""},
		"the start of one":   {s.call(t, "SendMessage", `{"message":`+messageJSON("m-5", "slow", `,"contextId":"`+created+`"`)+`,"configuration":{"returnImmediately":true}}`), ""},
		"another tenant":     {begins(t, s, "m-6", "slow", "Authorization", "Bearer globex/eve"), ""},
		"a plan":             {s.call(t, "plans/create", `{"objectiveId":"`+created+`","name":"More","tasks":[{"name":"A"}]}`), ""},
		"a cancel":           {s.call(t, "objectives/update", `{"id":"`+done+`","status":"canceled"}`, "Authorization", "Bearer globex/eve"), ""},
	} {
		if got := exceeded(t, tt.n); got != tt.want {
			t.Errorf("%s: %q, want %q: %v", name, got, tt.want, tt.n)
		}
	}
	old := s.callIn(t, "0.3", "message/send", `{"message":{"kind":"message","messageId":"m-7","role":"user","parts":[{"kind":"text","text":"slow"}]}}`)
	if message := wantCode(t, old, "-32603"); message != "The tenant has reached its quota of open-objectives: it uses 2 of 2" {
		t.Errorf("in 0.3: %v", old)
	}
	over := s.rest(t, http.MethodPost, "/a2a/rest/message:send", `{"message":`+messageJSON("m-8", "slow", "")+`}`)
	if over.Code != http.StatusTooManyRequests || over.Header().Get("Retry-After") != "30" || !strings.Contains(over.Body.String(), "RESOURCE_EXHAUSTED") {
		t.Errorf("over plain HTTP: %d %v %s", over.Code, over.Header(), over.Body)
	}

	s.update(t, first, "canceled") // makes room, which a run of the schedule takes
	test.Error(t, "with room", nil, test.Err(s.service.Runs.BeginScheduled(t.Context(), run)))
	begins(t, s, "m-9", "slow") // the run has ended at once
	test.Is(t, "a retry", full, exceeded(t, s.call(t, "objectives/update", `{"id":"`+first+`","status":"submitted"}`)))
}

// A tenant with as many open gates as it may have begins no more work. Its gates can be
// answered, and work that runs may open more: no question is lost.
func TestQuotas_openGates(t *testing.T) {
	s := limited(t, "open-gates=1")
	s.have(t)
	slow, held := s.send(t, "m-0", "slow"), s.send(t, "m-h", "slow").at("id").String()
	s.update(t, held, "blocked")
	ended := s.send(t, "m-1", "fail").at("id").String()
	asks := s.send(t, "m-2", "approve")
	const full = "open-gates 1/1 30s"
	for name, n := range map[string]node{
		"a message":  begins(t, s, "m-3", "slow"),
		"the start":  s.call(t, "SendMessage", `{"message":`+messageJSON("m-4", "slow", `,"contextId":"`+objectiveID+`"`)+`}`),
		"start it":   s.call(t, "objectives/update", `{"id":"`+objectiveID+`","status":"working"}`),
		"a plan":     s.call(t, "plans/create", `{"objectiveId":"`+objectiveID+`","name":"More","tasks":[{"name":"A"}]}`),
		"tasks":      s.call(t, "plans/addTasks", `{"planId":"`+planID+`","tasks":[{"name":"A"}]}`),
		"a replan":   s.call(t, "objectives/replan", `{"id":"`+slow.at("id").String()+`"}`),
		"replanning": s.call(t, "objectives/update", `{"id":"`+held+`","status":"planning"}`),
		"a retry":    s.call(t, "objectives/update", `{"id":"`+ended+`","status":"submitted"}`),
	} {
		if got := exceeded(t, n); got != full {
			t.Errorf("%s: %q, want %q: %v", name, got, full, n)
		}
	}
	s.world.End(opt.TaskID(opt.PlanID(slow.at("id").String(), 1), 0), opt.Outcome{State: opt.TaskInputRequired, Gate: approval()})
	if ids, _ := s.interrupts(t, ""); len(ids) != 2 {
		t.Errorf("gates %v, want one above the limit", ids)
	}
	for i, id := range []string{asks.at("id").String(), slow.at("id").String()} {
		if n := s.say(t, id, fmt.Sprint("m-yes-", i), `{"text":"accept"}`, ""); n.has("error") {
			t.Errorf("an answer: %v", n)
		}
	}
	test.Is(t, "after the answers", "", exceeded(t, begins(t, s, "m-5", "slow")))
}

// A tenant that has stored as much as it may begins no more work and sends no notes and large
// answers. Small answers are accepted, and work ends.
func TestQuotas_storedBytes(t *testing.T) {
	const block = 16 << 10
	s := limited(t, fmt.Sprintf("stored-bytes=%d", 5*block))
	s.have(t)
	asks, clarifies := s.send(t, "m-1", "approve").at("id").String(), s.send(t, "m-0", "clarify").at("id").String()
	s.send(t, "m-o", "outline")
	if got := exceeded(t, s.say(t, asks, "m-2", `{"text":"`+strings.Repeat("x", block)+`"}`, "")); got != "" {
		t.Fatalf("a note below the limit: %q", got)
	}
	full := fmt.Sprintf("stored-bytes %d/%d", 5*block, 5*block)
	large := `{"text":"` + strings.Repeat("x", 300_000) + `"}`
	for name, n := range map[string]node{
		"a message":      begins(t, s, "m-3", "slow"),
		"create":         s.call(t, "objectives/create", `{"name":"Another"}`),
		"a note":         s.say(t, asks, "m-4", `{"text":"Faster"}`, ""),
		"a question":     s.say(t, "task-"+u("m-o")+"-1-1", "m-q", `{"data":{"action":"ask","question":"Why?"}}`, ""),
		"a large edit":   s.say(t, "task-"+u("m-o")+"-1-1", "m-6", `{"data":{"action":"edit-accept","editedArtifactData":"`+strings.Repeat("x", 300_000)+`"}}`, ""),
		"a large answer": s.say(t, clarifies, "m-5", large, ""),
		"a new name":     s.call(t, "objectives/update", `{"id":"`+objectiveID+`","name":"Longer"}`),
	} {
		if got := exceeded(t, n); got != full {
			t.Errorf("%s: %q, want %q: %v", name, got, full, n)
		}
	}
	if n := s.say(t, asks, "m-2", `{"text":"`+strings.Repeat("x", block)+`"}`, ""); n.has("error") {
		t.Errorf("a repeat: %v", n)
	}
	if n := s.say(t, clarifies, "m-yes", `{"text":"Gophers"}`, ""); n.at("result", "task", "status", "state").String() != "TASK_STATE_COMPLETED" {
		t.Errorf("a small answer: %v", n)
	}
	s.update(t, objectiveID, "canceled")
	unlimited := limited(t)
	unlimited.send(t, "m-o", "outline")
	if n := unlimited.say(t, "task-"+u("m-o")+"-1-1", "m-6", `{"data":{"action":"edit-accept","editedArtifactData":"`+strings.Repeat("x", 300_000)+`"}}`, ""); n.has("error") {
		t.Errorf("a large edit without quotas: %v", n)
	}
}

// The observer counts refused requests, by the name of the quota.
func TestQuotas_observer(t *testing.T) {
	limits := test.Value(access.Quotas{}.With("open-objectives=1"))(t)
	o := &observed{}
	s := newService(t, func(c *config) { c.Quotas, c.Observer = limits, o })
	for i := range 3 {
		begins(t, s, fmt.Sprint("m-", i), "slow")
	}
	if diff := cmp.Diff([]string{"open-objectives", "open-objectives"}, o.quotas); diff != "" || o.calls[1] != "jsonrpc SendMessage limited" {
		t.Errorf("calls %v; quotas (-want +got):\n%s", o.calls, diff)
	}
}

// A tenant whose work has used what it may begins no more, in any way, nor does a context. Repeats get their
// answers, and another tenant is not affected.
func TestQuotas_spending(t *testing.T) {
	for quota, full := range map[string]string{
		"cost-in-all=0.5":          "cost-in-all 0.50/0.50",
		"context-tokens-in-all=12": "context-tokens-in-all 12/12",
		"time-in-all=90m":          "time-in-all 5400s/5400s",
		"tokens-per-day=1":         "", // it was on another day
		"calls-in-all=1":           "",
	} {
		s := limited(t, quota)
		s.have(t)
		begins(t, s, "m-1", "slow")
		s.spend(t, "one", opt.Usage{Input: 10, Output: 2, Cost: 500_000, Ran: 5400}, nil)
		s.world.Advance(20 * time.Minute) // it is of long ago, and such use is added up now and then
		elsewhere := full
		if strings.HasPrefix(quota, "context-") {
			elsewhere = ""
		}
		for name, tt := range map[string]struct {
			n    node
			want string
		}{
			"the start":      {s.call(t, "SendMessage", `{"message":`+messageJSON("m-2", "slow", `,"contextId":"`+objectiveID+`"`)+`,"configuration":{"returnImmediately":true}}`), full},
			"a message":      {begins(t, s, "m-3", "slow"), elsewhere},
			"create":         {s.call(t, "objectives/create", `{"name":"Another"}`, "Idempotency-Key", "k-2"), elsewhere},
			"a fork":         {s.call(t, "objectives/fork", `{"id":"`+objectiveID+`","repeat":true}`, "Idempotency-Key", "k-3"), elsewhere},
			"a plan":         {s.call(t, "plans/create", `{"objectiveId":"`+objectiveID+`","name":"More","tasks":[{"name":"A"}]}`), full},
			"a repeat":       {begins(t, s, "m-1", "slow"), ""},
			"another tenant": {begins(t, s, "m-4", "slow", "Authorization", "Bearer globex/eve"), ""},
		} {
			if got := exceeded(t, tt.n); got != tt.want {
				t.Errorf("%s, %s: %q, want %q: %v", quota, name, got, tt.want, tt.n)
			}
		}
	}
}
