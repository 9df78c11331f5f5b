package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"longhaul/internal/test"
)

// An aguiEvent is an event of a run of AG-UI.
type aguiEvent struct {
	ID string `json:"-"` // of the server-sent event

	Type, RunID, MessageID, StepName, Message, Code string
	ToolCallID, ToolCallName                        string
	Delta                                           json.RawMessage
	Messages                                        []struct{ ID, Role, Content string }
	Snapshot                                        struct {
		Mine      string
		Objective struct{ Status string }
	}
	Outcome struct {
		Type       string
		Interrupts []struct {
			ID, Reason, Message, ToolCallID string
			ResponseSchema                  json.RawMessage
		}
	}
}

// An aguiRun is a request for a run.
type aguiRun struct {
	thread, run, text string
	resume            string // JSON
	caller            string
	after             string
}

// agui serves a run and returns its events, which it checks as the official client does.
func (s *fixture) agui(t *testing.T, r aguiRun) (events []aguiEvent) {
	t.Helper()
	input := map[string]any{"threadId": r.thread, "runId": r.run, "messages": []any{}, "state": map[string]any{"mine": "kept"}}
	if r.text != "" {
		input["messages"] = []any{map[string]any{"id": "u-" + r.run, "role": "user", "content": r.text}}
	}
	if r.resume != "" {
		input["resume"] = json.RawMessage(r.resume)
	}
	body := test.Value(json.Marshal(input))(t)
	w := s.aguiAnswer(t, http.MethodPost, "/agui", string(body), r)
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %s %s", w.Code, w.Header(), w.Body)
	}
	return aguiEvents(t, w.Body.String())
}

func (s *fixture) aguiAnswer(t *testing.T, method, path, body string, r aguiRun) *httptest.ResponseRecorder {
	t.Helper()
	return s.serve(t, method, path, body, "Content-Type", "application/json", "Authorization", r.caller, "Last-Event-ID", r.after)
}

// aguiEvents reads events. A run begins once, ends once, and what starts in it ends in it.
func aguiEvents(t *testing.T, text string) (events []aguiEvent) {
	t.Helper()
	open := map[string]bool{}
	for frame := range strings.SplitSeq(text, "\n\n") {
		head, data, ok := strings.Cut(frame, "data: ")
		if !ok {
			continue
		}
		e := aguiEvent{ID: strings.TrimSuffix(strings.TrimPrefix(head, "id: "), "\n")}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if over := len(events) > 0 && strings.HasPrefix(events[len(events)-1].Type, "RUN_") && events[len(events)-1].Type != "RUN_STARTED"; over {
			t.Errorf("%s after the end of the run", e.Type)
		}
		switch key := e.MessageID + e.StepName; e.Type {
		case "TEXT_MESSAGE_START", "STEP_STARTED":
			if open[key] {
				t.Errorf("%s starts twice", key)
			}
			open[key] = true
		case "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "STEP_FINISHED":
			if !open[key] {
				t.Errorf("%s of %q, which has not started", e.Type, key)
			}
			if e.Type != "TEXT_MESSAGE_CONTENT" {
				delete(open, key)
			}
		}
		events = append(events, e)
	}
	if len(open) > 0 {
		t.Errorf("these have not ended: %v", open)
	}
	return events
}

// types returns the types of events, with neighbours that are alike once.
func types(events []aguiEvent) (list []string) {
	for _, e := range events {
		list = append(list, e.Type)
	}
	return slices.Compact(list)
}

func lastOf(events []aguiEvent) aguiEvent { return events[len(events)-1] }

// texts returns the messages of the last snapshot.
func texts(events []aguiEvent) (list []string) {
	for _, e := range events {
		if e.Messages != nil {
			list = nil
		}
		for _, m := range e.Messages {
			list = append(list, m.Role+": "+m.Content)
		}
	}
	return list
}

// answerInterrupt returns the resume that answers the only interrupt at the end of a run.
func answerInterrupt(t *testing.T, events []aguiEvent, payload string) string {
	t.Helper()
	list := lastOf(events).Outcome.Interrupts
	if len(list) != 1 {
		t.Fatalf("interrupts %+v of %v", list, types(events))
	}
	return fmt.Sprintf(`[{"interruptId":%q,"status":"resolved","payload":%s}]`, list[0].ID, payload)
}

// A run is one message, also if it is sent again, and a page that comes later gets all of it.
func TestAGUI(t *testing.T) {
	s := newService(t)
	first := s.agui(t, aguiRun{thread: "t", run: "r", text: "do it"})
	if got := types(first); got[0] != "RUN_STARTED" || got[len(got)-1] != "RUN_FINISHED" || lastOf(first).Outcome.Type != "success" || lastOf(first).RunID != "r" {
		t.Errorf("events %v, %+v", got, lastOf(first))
	}
	again := s.agui(t, aguiRun{thread: "t", run: "r", text: "do it"})
	later := s.agui(t, aguiRun{thread: "t", run: "other"})
	test.Is(t, "objectives were started", 1, len(s.world.Openings()))
	want := []string{"user: do it", "assistant: Durable agents."}
	for _, events := range [][]aguiEvent{again, later} {
		test.Equal(t, "messages", want, texts(events))
		for _, e := range events {
			if e.Type == "STATE_SNAPSHOT" && (e.Snapshot.Objective.Status != "completed" || e.Snapshot.Mine != "kept") {
				t.Errorf("state %+v", e.Snapshot)
			}
		}
	}
	if got := lastOf(s.agui(t, aguiRun{thread: "t", run: "r", text: "something else"})); got.Type != "RUN_ERROR" {
		t.Errorf("another message of the same run: %+v", got)
	}
	if got := lastOf(s.agui(t, aguiRun{thread: "elsewhere", run: "r"})); got.Type != "RUN_ERROR" || !strings.Contains(got.Message, "threadId") {
		t.Errorf("the run in another thread: %+v", got)
	}
	if got := types(s.agui(t, aguiRun{thread: "new", run: "r-2"})); !slices.Equal(got, []string{"RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"}) {
		t.Errorf("an empty thread: %v", got)
	}
	if got := lastOf(s.agui(t, aguiRun{thread: "t-2", run: "r-3", text: "fail now"})); got.Type != "RUN_ERROR" || got.Code != "failed" {
		t.Errorf("a failure: %+v", got)
	}
	if got := s.aguiAnswer(t, http.MethodPost, "/agui", `{}`, aguiRun{after: lastOf(first).ID}); got.Code != http.StatusBadRequest {
		t.Errorf("an input without ids: %d %s", got.Code, got.Body)
	}
	over := s.aguiAnswer(t, http.MethodGet, "/agui?threadId=t&runId=r", "", aguiRun{after: lastOf(first).ID})
	if over.Code != http.StatusOK || over.Body.Len() != 0 {
		t.Errorf("after the last event: %d %s", over.Code, over.Body)
	}
	shown := aguiEvents(t, s.aguiAnswer(t, http.MethodGet, "/agui?threadId=t", "", aguiRun{}).Body.String())
	if got := lastOf(shown); got.RunID != "r" || got.Outcome.Type != "success" {
		t.Errorf("the thread: %+v", got)
	}
}

// A gate is an interrupt, which the next run answers, once.
func TestAGUI_interrupts(t *testing.T) {
	s := newService(t)
	for _, tt := range []struct{ text, reason, wrong, payload, end string }{
		{"approve it", "confirmation", `{"action":"sing"}`, `{"approved":true}`, "success"},
		{"approve this", "confirmation", `{}`, `false`, ""},
		{"approve that", "confirmation", `{"approved":1}`, `{"action":"accept","feedback":"fine"}`, "success"},
		{"count it", "input_required", `{"n":0}`, `{"n":3}`, "success"},
		{"count that", "input_required", `"many"`, `4`, "success"},
		{"clarify it", "input_required", `{"answers":[{"id":"x","answer":1}]}`, `"For all"`, "success"},
		{"outline it", "confirmation", `{"approved":true,"editedArtifactData":""}`, `{"approved":true,"editedArtifactData":"Better"}`, "success"},
	} {
		thread := strings.ReplaceAll(tt.text, " ", "-")
		events := s.agui(t, aguiRun{thread: thread, run: thread + "-1", text: tt.text})
		if got := types(events); !slices.Equal(got[len(got)-3:], []string{"MESSAGES_SNAPSHOT", "STATE_SNAPSHOT", "RUN_FINISHED"}) {
			t.Errorf("%s: %v", tt.text, got)
		}
		if i := lastOf(events).Outcome.Interrupts; len(i) != 1 || i[0].Reason != tt.reason || i[0].Message == "" || i[0].ResponseSchema == nil {
			t.Fatalf("%s: interrupts %+v", tt.text, i)
		}
		if got := lastOf(s.agui(t, aguiRun{thread: thread, run: thread + "-2", text: "Another"})); got.Code != "INTERRUPTS_PENDING" {
			t.Errorf("%s: a message meanwhile: %+v", tt.text, got)
		}
		for _, wrong := range []string{answerInterrupt(t, events, tt.wrong), `[{"interruptId":"task-x","status":"resolved"}]`} {
			if got := lastOf(s.agui(t, aguiRun{thread: thread, run: thread + "-3", resume: wrong})); got.Type != "RUN_ERROR" {
				t.Errorf("%s: %s: %+v", tt.text, wrong, got)
			}
		}
		answer := answerInterrupt(t, events, tt.payload)
		if got := lastOf(s.agui(t, aguiRun{thread: "elsewhere", run: thread + "-4", resume: answer})); got.Type != "RUN_ERROR" {
			t.Errorf("%s: in another thread: %+v", tt.text, got)
		}
		for _, run := range []string{"-5", "-6"} { // the second one is a repeat
			got := lastOf(s.agui(t, aguiRun{thread: thread, run: thread + run, resume: answer}))
			if got.Outcome.Type != tt.end {
				t.Errorf("%s: %s: %+v", tt.text, run, got)
			}
		}
	}
}

// An interrupt is for those who may answer it. What it has not shown cannot be decided.
func TestAGUI_responders(t *testing.T) {
	s := newService(t)
	s.call(t, "SendMessage", `{"message":`+messageJSON("m", "guarded work", `,"contextId":"t"`)+`}`)
	open := s.agui(t, aguiRun{thread: "t", run: "r", caller: "Bearer acme/bob"})
	answer := answerInterrupt(t, open, `{"approved":true}`)
	id, digest, _ := strings.Cut(lastOf(open).Outcome.Interrupts[0].ID, "#")
	if digest == "" {
		t.Fatal("the interrupt has no digest of its object")
	}
	stale := fmt.Sprintf(`[{"interruptId":"%s#0000","status":"resolved","payload":true}]`, id)
	if got := lastOf(s.agui(t, aguiRun{thread: "t", run: "r-1", resume: stale, caller: "Bearer acme/bob"})); got.Code != "OBJECT_CHANGED" {
		t.Errorf("another object: %+v", got)
	}
	for caller, want := range map[string]int{"Bearer acme/ann": http.StatusForbidden, "Bearer other/bob": http.StatusOK, "nobody": http.StatusUnauthorized, "Bearer acme/bob runs:read": http.StatusForbidden} {
		body := `{"threadId":"t","runId":"r-2","messages":[],"resume":` + answer + `}`
		got := s.aguiAnswer(t, http.MethodPost, "/agui", body, aguiRun{caller: caller})
		if got.Code != want || want == http.StatusOK && !strings.Contains(got.Body.String(), "RUN_ERROR") {
			t.Errorf("%s: %d %s", caller, got.Code, got.Body)
		}
	}
	cancel := strings.Replace(strings.Split(answer, `,"payload"`)[0], "resolved", "cancelled", 1) + "}]"
	if got := lastOf(s.agui(t, aguiRun{thread: "t", run: "r-3", resume: cancel, caller: "Bearer acme/bob"})); got.Type != "RUN_ERROR" || got.Code != "failed" {
		t.Errorf("a rejection: %+v", got)
	}
}

// Who may answer and not cancel cannot cancel a task by leaving its question.
func TestAGUI_cancelScope(t *testing.T) {
	s := newService(t)
	events := s.agui(t, aguiRun{thread: "t", run: "r", text: "count it"})
	leave := strings.Replace(strings.Split(answerInterrupt(t, events, `1`), `,"payload"`)[0], "resolved", "cancelled", 1) + "}]"
	body := `{"threadId":"t","runId":"r-1","messages":[],"resume":` + leave + `}`
	got := s.aguiAnswer(t, http.MethodPost, "/agui", body, aguiRun{caller: "Bearer acme/ann runs:read approvals:respond"})
	if got.Code != http.StatusForbidden || !strings.Contains(got.Body.String(), "runs:cancel") {
		t.Errorf("without the scope: %d %s", got.Code, got.Body)
	}
	if end := lastOf(s.agui(t, aguiRun{thread: "t", run: "r-2", resume: leave})); end.Code != "failed" || !strings.Contains(end.Message, "canceled") {
		t.Errorf("with the scope: %+v", end)
	}
}
