package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// respond sends a message with a payload of the extension for answers, in one of the
// versions. It names the extension in its extensions only.
func (s *fixture) respond(t *testing.T, version, taskID, payload, text string) node {
	t.Helper()
	return s.hitl(t, version, taskID, payload, text, `,"extensions":["`+a2a.ExtensionHITL+`"]`)
}

func (s *fixture) hitl(t *testing.T, version, taskID, payload, text, more string) node {
	t.Helper()
	method, role, kind := "SendMessage", "ROLE_USER", ""
	if version == "0.3" {
		method, role, kind = "message/send", "user", `"kind":"text",`
	}
	return s.callIn(t, version, method, fmt.Sprintf(`{"message":{"messageId":"r","taskId":%q,"role":%q,"parts":[{%s"text":%q}],"metadata":{%q:%s}%s}}`,
		taskID, role, kind, text, a2a.ExtensionHITL, payload, more))
}

func TestHITL_replies(t *testing.T) {
	root, task, other := "obj-"+u("m"), "task-"+u("m")+"-1-0", "task-"+u("m")+"-1-1"
	ask := &opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "q0", Question: "?"}, {ID: "q1", Question: "?"}}}
	for name, tc := range map[string]struct {
		work, gate, payload, text string
		ask                       *opt.Gate
		want                      opt.Reply
	}{
		"approved": {"approve", task, `{"type":"tool_approval_response","approvals":[{"id":"GATE","approved":true}]}`, "Approved", nil,
			opt.Reply{Action: opt.Accept}},
		"at one of two gates": {"two", other, `{"type":"tool_approval_response","approvals":[{"id":"GATE","approved":true,"rejection_reason":null}]}`, "x", nil,
			opt.Reply{Action: opt.Accept}},
		"rejected": {"approve", task, `{"type":"tool_approval_response","approvals":[{"id":"GATE","approved":false}]}`, "Rejected", nil,
			opt.Reply{Action: opt.Reject}},
		"rejected with a reason": {"approve", task, `{"type":"tool_approval_response","approvals":[{"id":"GATE","approved":false,"rejection_reason":"Too long."}],"new":1}`, "x", nil,
			opt.Reply{Action: opt.Reject, Feedback: "Too long."}},
		"answers": {"slow", task, `{"type":"ask_user_response","id":"GATE","answers":[{"answer":["A"]},{"answer":["A","B"]}]}`, "x", ask,
			opt.Reply{Answers: []opt.Answer{{ID: "q0", Answer: json.RawMessage(`"A"`)}, {ID: "q1", Answer: json.RawMessage(`["A","B"]`)}}}},
	} {
		for _, version := range []string{"0.3", "1.0"} {
			t.Run(name+" in "+version, func(t *testing.T) {
				s := newService(t)
				s.send(t, "m", tc.work)
				if tc.ask != nil {
					s.world.Gate(task, *tc.ask)
				}
				n := s.respond(t, version, root, strings.ReplaceAll(tc.payload, "GATE", tc.gate+":1"), tc.text)
				if n.has("error") {
					t.Fatalf("refused: %v", n)
				}
				got := *s.world.Letters()[0].Reply
				got.At = a2a.Time{}
				tc.want.GateID, tc.want.MessageID, tc.want.DecidedBy = tc.gate+":1", "r", "ann"
				test.Equal(t, "reply", tc.want, got, cmp.AllowUnexported(a2a.Time{}))
			})
		}
	}
}

func TestHITL_refused(t *testing.T) {
	const at = "message.metadata." + a2a.ExtensionHITL
	root, task := "obj-"+u("m"), "task-"+u("m")+"-1-0"
	serviceOf := newServices(t)
	for name, tc := range map[string]struct{ work, payload, text, code, says string }{
		"no object":                 {"approve", `"approve"`, "x", "-32602", at + ": must be an object"},
		"no type":                   {"approve", `{"approvals":[{"id":"GATE","approved":true}]}`, "x", "-32602", at + ".type: must be one of"},
		"another type":              {"approve", `{"type":"tool_approval_request","tools":[]}`, "x", "-32602", at + ".type: must be one of"},
		"a type that is no text":    {"approve", `{"type":1}`, "x", "-32602", at + ".type: must be a string"},
		"no approvals":              {"approve", `{"type":"tool_approval_response"}`, "x", "-32602", at + ".approvals: must contain one"},
		"several approvals":         {"two", `{"type":"tool_approval_response","approvals":[{"id":"GATE","approved":true},{"id":"y","approved":false}]}`, "x", "-32602", at + ".approvals: must contain one"},
		"approvals by id":           {"approve", `{"type":"tool_approval_response","approvals":{"GATE":true}}`, "x", "-32602", at + ".approvals: must be an array"},
		"an approval without an id": {"approve", `{"type":"tool_approval_response","approvals":[{"approved":true}]}`, "x", "-32602", at + ".approvals[0].id: is required"},
		"an approval that is none":  {"approve", `{"type":"tool_approval_response","approvals":[{"id":"GATE"}]}`, "x", "-32602", at + ".approvals[0].approved: is required"},
		"a word for an approval":    {"approve", `{"type":"tool_approval_response","approvals":[{"id":"GATE","approved":"yes"}]}`, "x", "-32602", at + ".approvals[0].approved: must be true or false"},
		"a reason to approve":       {"approve", `{"type":"tool_approval_response","approvals":[{"id":"GATE","approved":true,"rejection_reason":"r"}]}`, "x", "-32602", at + ".approvals[0].rejection_reason: contradicts"},
		"another gate":              {"approve", `{"type":"tool_approval_response","approvals":[{"id":"GATE0","approved":true}]}`, "x", "-32004", "does not wait"},
		"an approval of a login":    {"auth", `{"type":"tool_approval_response","approvals":[{"id":"GATE","approved":true}]}`, "x", "-32602", at + ".approvals[0].approved: no action"},
		"no answers":                {"clarify", `{"type":"ask_user_response","id":"GATE"}`, "x", "-32602", at + ".answers: is required"},
		"too many answers":          {"clarify", `{"type":"ask_user_response","id":"GATE","answers":[{"answer":["a"]},{"answer":["b"]}]}`, "x", "-32602", at + ".answers: must answer, in this order, audience"},
		"answers without an id":     {"clarify", `{"type":"ask_user_response","answers":[{"answer":["a"]}]}`, "x", "-32602", at + ".id: is required"},
		"an empty answer":           {"clarify", `{"type":"ask_user_response","id":"GATE","answers":[{"answer":[]}]}`, "x", "-32602", at + ".answers[0].answer: must contain at least one"},
		"an answer that is no list": {"clarify", `{"type":"ask_user_response","id":"GATE","answers":[{"answer":"a"}]}`, "x", "-32602", at + ".answers[0].answer: must be an array"},
	} {
		for _, version := range []string{"0.3", "1.0"} {
			t.Run(name+" in "+version, func(t *testing.T) {
				s := serviceOf(tc.work)
				n := s.respond(t, version, root, strings.ReplaceAll(tc.payload, "GATE", task+":1"), tc.text)
				if got := wantCode(t, n, tc.code); !strings.Contains(got, tc.says) {
					t.Errorf("message is %q, want one that says %q", got, tc.says)
				}
				test.Is(t, "the engine", 0, len(s.world.Letters()))
			})
		}
	}
}

// A payload counts only in a message that names the extension, and once.
func TestHITL_named(t *testing.T) {
	const payload = `{"type":"tool_approval_response","approvals":[{"id":"GATE","approved":true}]}`
	root, task := "obj-"+u("m"), "task-"+u("m")+"-1-0"
	for name, tc := range map[string]struct{ more, text, says string }{
		"not named":           {"", "x", "message.extensions: must contain " + a2a.ExtensionHITL},
		"another version":     {`,"extensions":["https://kagent.dev/extensions/hitl/v2"]`, "x", "message.extensions"},
		"beside our decision": {`,"extensions":["` + a2a.ExtensionHITL + `"],"parts":[{"data":{"action":"accept"}}]`, "x", "message.parts[0].data: is a second decision"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			s.send(t, "m", "approve")
			n := s.hitl(t, "1.0", root, strings.ReplaceAll(payload, "GATE", task+":1"), tc.text, tc.more)
			if got := wantCode(t, n, "-32602"); !strings.Contains(got, tc.says) {
				t.Errorf("message is %q, want one that says %q", got, tc.says)
			}
		})
	}
}

// The extension is on the card, and on in calls that name it.
func TestHITL_activation(t *testing.T) {
	s := newService(t)
	for _, version := range []string{"0.3", "1.0"} {
		card := parse(t, s.get(t, "/.well-known/agent-card.json", "A2A-Version", version).Body.Bytes())
		test.Is(t, fmt.Sprintf("the second extension on the card of %s", version), a2a.ExtensionHITL, card.at("capabilities", "extensions", "1", "uri").String())
	}
	for name, tc := range map[string]struct{ header, more string }{
		"by header":      {a2a.ExtensionHITL, ""},
		"by the message": {"", `,"extensions":["` + a2a.ExtensionHITL + `"]`},
	} {
		w := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":`+messageJSON("m", "quiet", tc.more)+`}}`,
			"A2A-Version", "1.0", "A2A-Extensions", tc.header)
		test.Is(t, name+": A2A-Extensions", a2a.ExtensionHITL, w.Header().Get("A2A-Extensions"))
	}
}
