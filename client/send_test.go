package client_test

import (
	"encoding/json"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/test"
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
	if _, err := newAgent(t, result(`{"something":{}}`)).client().Send(t.Context(), hello(), again); err == nil {
		t.Error("a result of no known kind: no error")
	}
	want := []string{
		`SendMessage {"message":{"messageId":"m1","contextId":"c1","taskId":"t1","role":"ROLE_USER","parts":[{"text":""},{"raw":"AP8=","filename":"a.bin","mediaType":"application/octet-stream"},{"url":"https://example.com/a"},{"data":null}],` +
			`"metadata":{"n":9007199254740993},"extensions":["e"],"referenceTaskIds":["r"]},"configuration":{"historyLength":5,"returnImmediately":true}}`,
		`SendMessage {"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hello"}]},"configuration":{}}`,
	}
	test.Equal(t, "calls", want, a.seen())
}

// A message without an id gets one, and keeps it when it is sent again.
func TestClient_Send_messageID(t *testing.T) {
	a := newAgent(t, text(503, "text/plain", ""), result(`{"task":`+task("WORKING")+`}`), result(`{"task":`+task("WORKING")+`}`))
	for range 2 {
		test.OK(t, test.Err(a.client().Send(t.Context(), a2a.Message{Parts: []a2a.Part{a2a.TextPart("x")}}, again)))
	}
	seen := a.seen()
	if seen[0] != seen[1] || seen[1] == seen[2] || !strings.Contains(seen[0], `"messageId":"msg-`) {
		t.Errorf("sent\n%s", strings.Join(seen, "\n"))
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
