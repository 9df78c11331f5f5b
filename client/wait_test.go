package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"longhaul/client"
	"longhaul/internal/test"
	"longhaul/opt"
)

const closed = `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_INPUT_REQUIRED","timestamp":"2026-03-01T09:30:00.000Z"},"metadata":{"openwop":{"decision":{"interruptId":"g"}}}}`

func TestClient_Wait(t *testing.T) {
	tests := []struct {
		name    string
		answers []string // of streams and of reads, in turns
		want    string
	}{
		{"ended", []string{snapshot("1", "WORKING") + update("2", "COMPLETED"), task("COMPLETED")}, "task t1: completed"},
		{"waits for a person", []string{snapshot("1", "WORKING") + update("2", "INPUT_REQUIRED"), task("INPUT_REQUIRED")}, "task t1: input-required"},
		{"waits for an authorization", []string{snapshot("1", "AUTH_REQUIRED"), task("AUTH_REQUIRED")}, "task t1: auth-required"},
		{"was answered meanwhile", []string{snapshot("1", "INPUT_REQUIRED") + update("2", "WORKING") + update("3", "FAILED"), task("WORKING"), task("FAILED")}, "task t1: failed"},
		{"its gate was closed a moment ago", []string{snapshot("1", "INPUT_REQUIRED") + update("2", "COMPLETED"), closed, task("COMPLETED")}, "task t1: completed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAgent(t, events(tt.answers[0]))
			for _, read := range tt.answers[1:] {
				a.answers = append(a.answers, result(read))
			}
			got, err := a.client().Wait(t.Context(), "t1")
			if err != nil || got.String() != tt.want {
				t.Errorf("%v, %v, want %s", got, err, tt.want)
			}
			if want := len(tt.answers); len(a.seen()) != want {
				t.Errorf("%d calls, want %d: %v", len(a.seen()), want, a.seen())
			}
		})
	}
}

const asking = `{"id":"obj-istkxireyiphs2uer5o4tzwx3m","contextId":"c1","status":{"state":"TASK_STATE_INPUT_REQUIRED","timestamp":"2026-03-01T09:30:00.000Z"},"metadata":{"openwop":{"interrupt":{"kind":"approval","interruptId":"task-istkxireyiphs2uer5o4tzwx3m-1-0:1"}}PENDING}}`

// While no worker runs an answer is stored, and reads show the same open gate: Wait returns
// once the answer is judged, also if it was refused, of which the stream says nothing.
func TestClient_Wait_afterAnAnswer(t *testing.T) {
	open, stored := strings.Replace(asking, "PENDING", "", 1), strings.Replace(asking, "PENDING", `,"longhaul/v1/replyPending":true`, 1)
	done := strings.ReplaceAll(task("COMPLETED"), "t1", "obj-istkxireyiphs2uer5o4tzwx3m")
	decisions := func(messageID string) http.HandlerFunc {
		list := text(http.StatusOK, "application/json", `{"decisions":[{"messageId":"other"},{"messageId":"`+messageID+`"}],"totalSize":2}`)
		return func(w http.ResponseWriter, r *http.Request) {
			test.Is(t, "decisions of", "/v1/objectives/obj-istkxireyiphs2uer5o4tzwx3m/decisions", r.URL.Path)
			list(w, r)
		}
	}
	for name, verdict := range map[string]struct {
		after string
		want  string
	}{
		"accepted": {done, "task obj-istkxireyiphs2uer5o4tzwx3m: completed"},
		"refused":  {open, "task obj-istkxireyiphs2uer5o4tzwx3m: input-required"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, result(`{"task":`+stored+`}`))
			c := a.client()
			answered, err := c.Answer(t.Context(), "obj-istkxireyiphs2uer5o4tzwx3m", client.Reply{GateID: "task-istkxireyiphs2uer5o4tzwx3m-1-0:1", Action: opt.Accept})
			if err != nil || !client.ReplyPending(answered.Metadata) {
				t.Fatalf("%v, %v", answered, err)
			}
			_, rest, _ := strings.Cut(a.seen()[0], `"messageId":"`)
			messageID, _, _ := strings.Cut(rest, `"`)
			a.answers = []http.HandlerFunc{
				events(event("1", `{"task":`+open+`}`)), result(open), decisions("another"), result(open), decisions(messageID), result(verdict.after),
			}
			if got, err := c.Wait(t.Context(), "obj-istkxireyiphs2uer5o4tzwx3m"); err != nil || got.String() != verdict.want {
				t.Errorf("%v, %v, want %s", got, err, verdict.want)
			}
			if n := len(a.seen()); n != 7 {
				t.Errorf("%d calls: %q", n, a.seen())
			}
			if name == "accepted" {
				return
			}
			a.answers = []http.HandlerFunc{events(event("1", `{"task":`+open+`}`)), result(open)}
			test.Is(t, "after the verdict", verdict.want, test.Value(c.Wait(t.Context(), "obj-istkxireyiphs2uer5o4tzwx3m"))(t).String())
		})
	}
}

// The wait for a verdict ends with its context.
func TestClient_Wait_afterAnAnswerCanceled(t *testing.T) {
	open, stored := strings.Replace(asking, "PENDING", "", 1), strings.Replace(asking, "PENDING", `,"longhaul/v1/replyPending":true`, 1)
	ctx, cancel := context.WithCancel(t.Context())
	a := newAgent(t, result(`{"task":`+stored+`}`), events(event("1", `{"task":`+open+`}`)), result(open), text(http.StatusOK, "application/json", `{"decisions":[]}`))
	c := client.New(client.Config{URL: a.URL, Backoff: func(int) time.Duration { cancel(); return time.Hour }})
	test.OK(t, test.Err(c.Answer(ctx, "", client.Reply{GateID: "task-istkxireyiphs2uer5o4tzwx3m-1-0:1", Action: opt.Accept})))
	if got, err := c.Wait(ctx, "obj-istkxireyiphs2uer5o4tzwx3m"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestClient_Wait_continuesAfterABreak(t *testing.T) {
	a := newAgent(t, broken(snapshot("1", "WORKING")), events(update("2", "COMPLETED")), result(task("COMPLETED")))
	if got, err := a.client().Wait(t.Context(), "t1"); err != nil || got.String() != "task t1: completed" {
		t.Errorf("%v, %v", got, err)
	}
	if got := a.seen(); len(got) != 3 || got[1] != `SubscribeToTask {"id":"t1"} after 1` {
		t.Errorf("calls %v", got)
	}
}

func TestClient_Wait_ofAnUnknownTask(t *testing.T) {
	a := newAgent(t, text(404, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Task not found"}}`))
	var refused *client.Error
	if _, err := a.client().Wait(t.Context(), "t1"); !errors.As(err, &refused) || refused.Code != client.CodeTaskNotFound {
		t.Errorf("error %v", err)
	}
}

func TestClient_Answer(t *testing.T) {
	lost := text(503, "text/plain", "later")
	a := newAgent(t, lost, result(`{"task":`+task("WORKING")+`}`))
	got, err := a.client().Answer(t.Context(), "", client.Reply{GateID: "task-1:2", Action: opt.Accept})
	if err != nil || got.String() != "task t1: working" {
		t.Fatalf("%v, %v", got, err)
	}
	seen := a.seen()
	if len(seen) != 2 || seen[0] != seen[1] {
		t.Errorf("a repeat differs from the first answer: %v", seen)
	}
	for _, part := range []string{`"taskId":"task-1"`, `"interruptId":"task-1:2"`, `"action":"accept"`, `"returnImmediately":true`} {
		test.Contains(t, "the first request", part, seen[0])
	}
	if _, err := a.client().Answer(t.Context(), "", client.Reply{Action: opt.Accept}); err == nil || len(a.seen()) != 2 {
		t.Errorf("an answer without a task or a gate: %v", err)
	}
}

// A change with a key is repeated under it, one without a key is made once.
func TestClient_keys(t *testing.T) {
	lost, done := text(503, "text/plain", "later"), result(`{"objective":`+objectiveJSON+`,"plan":`+planJSON+`}`)
	calls := map[string]func(c *client.Client, key string) error{
		"objectives/create": func(c *client.Client, key string) error {
			_, err := c.CreateObjective(t.Context(), client.NewObjective{Key: key, Name: "Tea"})
			return err
		},
		"objectives/update": func(c *client.Client, key string) error {
			_, err := c.UpdateObjective(t.Context(), "obj-1", client.ObjectiveChange{Key: key, Name: "Tea"})
			return err
		},
		"plans/create": func(c *client.Client, key string) error {
			_, err := c.CreatePlan(t.Context(), client.NewPlan{Key: key, ObjectiveID: "obj-1", Name: "Research"})
			return err
		},
		"plans/update": func(c *client.Client, key string) error {
			_, err := c.UpdatePlan(t.Context(), "plan-1", client.PlanChange{Key: key, Name: "Research"})
			return err
		},
	}
	for method, call := range calls {
		a := newAgent(t, lost, done)
		test.Error(t, method, nil, call(a.client(), "tea-1"))
		var keys []string
		for _, c := range a.calls {
			keys = append(keys, c.header.Get("Idempotency-Key"))
			if strings.Contains(c.params, "tea-1") || c.method != method {
				t.Errorf("%s: call of %s with %s", method, c.method, c.params)
			}
		}
		test.Equal(t, method+": keys", []string{"tea-1", "tea-1"}, keys)
		a = newAgent(t, lost)
		if err := call(a.client(), ""); err == nil || a.calls[0].header.Get("Idempotency-Key") != "" {
			t.Errorf("%s without a key: error %v, header %v", method, err, a.calls[0].header)
		}
	}
}

func TestClient_Start(t *testing.T) {
	a := newAgent(t, text(503, "text/plain", "later"), result(`{"objective":`+objectiveJSON+`}`), result(`{"objective":`+objectiveJSON+`}`))
	for range 2 {
		if o, err := a.client().Start(t.Context(), "obj-1"); err != nil || o.ID != "obj-1" {
			t.Fatalf("%v, %v", o, err)
		}
	}
	first, repeat, second := a.calls[0].header.Get("Idempotency-Key"), a.calls[1].header.Get("Idempotency-Key"), a.calls[2].header.Get("Idempotency-Key")
	if first == "" || repeat != first || second == first {
		t.Errorf("keys %q, %q of the repeat and %q of another call", first, repeat, second)
	}
	test.Is(t, "call", `objectives/update {"id":"obj-1","status":"working"}`, a.seen()[0])
}

func TestTypes_printReadably(t *testing.T) {
	o := client.Objective{ID: "obj-1", Name: "Tea", Status: opt.ObjectiveWorking, Plans: []client.Plan{{ID: "plan-1", Name: "Research", Status: opt.PlanBlocked, Tasks: make([]client.PlanTask, 2)}}}
	i := client.Interrupt{Gate: opt.Gate{ID: "task-1:1", Title: "Ship it?", Actions: []opt.Action{opt.Accept, opt.Reject}}, TaskName: "Ship"}
	tests := []struct {
		value interface{ String() string }
		want  string
	}{
		{o, "objective obj-1 Tea: working, 1 plan"},
		{o.Plans[0], "plan plan-1 Research: blocked, 2 tasks"},
		{client.PlanTask{ID: "task-1", Name: "Search", Status: opt.TaskPending}, "task task-1 Search: pending"},
		{i, "gate task-1:1: Ship it? (accept, reject)"},
		{client.Schedule{ID: "nightly", Cron: []string{"0 2 * * *"}, Every: "1d", Paused: true}, "schedule nightly: 0 2 * * *; every 1d, paused"},
		{client.ScheduleRun{ObjectiveID: "obj-1", Status: opt.ObjectiveFailed}, ": objective obj-1: failed"},
		{client.Event{}, "no event"},
	}
	for _, tt := range tests {
		if got := tt.value.String(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
