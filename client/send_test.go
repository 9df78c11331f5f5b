package client_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/opt"
)

func TestClient_Send_request(t *testing.T) {
	url := "https://example.com/a"
	m := a2a.Message{
		MessageID: "m1", ContextID: "c1", TaskID: "t1", Role: a2a.RoleUser,
		Parts: []a2a.Part{
			a2a.TextPart(""), {Raw: []byte{0, 255}, Filename: "a.bin", MediaType: "application/octet-stream"}, {URL: &url}, {Data: json.RawMessage(`null`)},
		},
		Metadata: a2a.Metadata{"n": json.RawMessage(`9007199254740993`)}, Extensions: []string{"e"}, ReferenceTaskIDs: []string{"r"},
	}
	a := newAgent(t, result(`{"task":`+task("SUBMITTED")+`}`), result(`{"message":{"messageId":"m2","role":"ROLE_AGENT","parts":[{"text":"4"}]}}`))
	e, err := a.client().Send(t.Context(), m, client.SendOptions{ReturnImmediately: true, History: 5})
	if err != nil || e.Task == nil || e.Task.Status.State != a2a.Submitted || e.Message != nil || e.TaskID() != "t1" {
		t.Errorf("Send: %+v, %v", e, err)
	}
	e, err = a.client().Send(t.Context(), hello(), again)
	if err != nil || e.Message == nil || e.Message.Role != a2a.RoleAgent || e.Message.Text() != "4" || e.TaskID() != "" {
		t.Errorf("Send: %+v, %v", e, err)
	}
	want := []string{
		`SendMessage {"message":{"messageId":"m1","contextId":"c1","taskId":"t1","role":"ROLE_USER","parts":[{"text":""},{"raw":"AP8=","filename":"a.bin","mediaType":"application/octet-stream"},{"url":"https://example.com/a"},{"data":null}],` +
			`"metadata":{"n":9007199254740993},"extensions":["e"],"referenceTaskIds":["r"]},"configuration":{"historyLength":5,"returnImmediately":true}}`,
		`SendMessage {"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hello"}]},"configuration":{}}`,
	}
	if diff := cmp.Diff(want, a.seen()); diff != "" {
		t.Errorf("calls mismatch (-want +got):\n%s", diff)
	}
}

// A message without an id gets one, and keeps it when it is sent again.
func TestClient_Send_messageID(t *testing.T) {
	a := newAgent(t, text(503, "text/plain", ""), result(`{"task":`+task("WORKING")+`}`), result(`{"task":`+task("WORKING")+`}`))
	for range 2 {
		if _, err := a.client().Send(t.Context(), a2a.Message{Parts: []a2a.Part{a2a.TextPart("x")}}, again); err != nil {
			t.Fatal(err)
		}
	}
	seen := a.seen()
	if seen[0] != seen[1] || seen[1] == seen[2] || !strings.Contains(seen[0], `"messageId":"msg-`) {
		t.Errorf("sent\n%s", strings.Join(seen, "\n"))
	}
}

func TestClient_Get_everything(t *testing.T) {
	a := newAgent(t, result(`{"id":"t1","contextId":"c1","kind":"unknown member",
		"status":{"state":"TASK_STATE_INPUT_REQUIRED","timestamp":"2026-03-01T09:31:12.48Z","message":{"messageId":"m3","contextId":"c1","taskId":"t1","role":"ROLE_AGENT","parts":[{"text":"Which?"}]}},
		"artifacts":[{"artifactId":"a1","name":"n","description":"d","parts":[{"text":"# T","mediaType":"text/markdown"},{"data":null},{"raw":"AP8="}],"metadata":{"k":1.0},"extensions":["e"]}],
		"history":[{"messageId":"m1","contextId":"c1","taskId":"t1","role":"ROLE_USER","parts":[{"text":"go"}]}],
		"metadata":{"opt/v1/taskIndex":0}}`))
	got, err := a.client().Get(t.Context(), "t1", -1)
	if err != nil {
		t.Fatal(err)
	}
	want := &a2a.Task{
		ID: "t1", ContextID: "c1",
		Status: a2a.TaskStatus{
			State: a2a.InputRequired, At: a2a.At(time.Date(2026, 3, 1, 9, 31, 12, 480e6, time.UTC)),
			Message: &a2a.Message{MessageID: "m3", ContextID: "c1", TaskID: "t1", Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart("Which?")}},
		},
		Artifacts: []a2a.Artifact{{
			ArtifactID: "a1", Name: "n", Description: "d",
			Parts:    []a2a.Part{{Text: ptr("# T"), MediaType: "text/markdown"}, {Data: json.RawMessage(`null`)}, {Raw: []byte{0, 255}}},
			Metadata: a2a.Metadata{"k": json.RawMessage(`1.0`)}, Extensions: []string{"e"},
		}},
		History:  []a2a.Message{{MessageID: "m1", ContextID: "c1", TaskID: "t1", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("go")}}},
		Metadata: a2a.Metadata{"opt/v1/taskIndex": json.RawMessage(`0`)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("task mismatch (-want +got):\n%s", diff)
	}
}

func ptr[T any](v T) *T { return &v }

func TestClient_states(t *testing.T) {
	for _, state := range a2a.TaskStates {
		word := strings.ToUpper(strings.ReplaceAll(string(state), "-", "_"))
		got, err := newAgent(t, result(task(word))).client().Get(t.Context(), "t1", -1)
		if err != nil || got.Status.State != state {
			t.Errorf("%s: %+v, %v", state, got, err)
		}
	}
	for _, word := range []string{"UNSPECIFIED", "CANCELLED", ""} {
		if _, err := newAgent(t, result(task(word))).client().Get(t.Context(), "t1", -1); err == nil {
			t.Errorf("state %q: no error", word)
		}
	}
	if _, err := newAgent(t, result(`{"something":{}}`)).client().Send(t.Context(), hello(), again); err == nil {
		t.Error("a result of no known kind: no error")
	}
}

func TestReply_Message(t *testing.T) {
	tests := []struct {
		reply client.Reply
		want  string
	}{
		{client.Reply{Action: opt.Accept}, `{"action":"accept"}`},
		{client.Reply{Action: opt.Reject, Feedback: "too long", GateID: "t1:1"}, `{"action":"reject","feedback":"too long","interruptId":"t1:1"}`},
		{client.Reply{Answers: []opt.Answer{client.TextAnswer("q1", `"blue"`), {ID: "q2", Answer: json.RawMessage(`3`)}}}, `{"answers":[{"id":"q1","answer":"\"blue\""},{"id":"q2","answer":3}]}`},
	}
	for _, tt := range tests {
		m := tt.reply.Message("t1")
		if m.TaskID != "t1" || m.MessageID == "" || m.Role != a2a.RoleUser || len(m.Parts) != 1 || string(m.Parts[0].Data) != tt.want {
			t.Errorf("%+v became %+v, want data %s", tt.reply, m, tt.want)
		}
	}
}
