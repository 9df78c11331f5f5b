package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/internal/test"
)

const tckExtension = "urn:a2a:tck:required-extension"

// In every configuration, both forms of the card and the calls agree.
func TestCard_everyConfiguration(t *testing.T) {
	for n := range 64 {
		on := func(bit int) bool { return n>>bit&1 == 1 }
		streams, extended, grpc, required, push, auth := on(0), on(1), on(2), on(3), on(4), on(5)
		t.Run(fmt.Sprintf("streams=%v,extended=%v,grpc=%v,required=%v,push=%v,auth=%v", streams, extended, grpc, required, push, auth), func(t *testing.T) {
			s := newService(t, func(c *config) {
				c.Card.NoStreaming = !streams
				if extended {
					c.Extended = &card.Info{Name: "More"}
				}
				if push {
					pushOn(c)
				}
				if !auth {
					c.Card.Schemes, c.Card.Requirements = nil, nil
				}
				if grpc {
					c.Address.GRPC = "agent.example.com:443"
				}
				if required {
					c.Card.Extensions = []call.Extension{{URI: tckExtension, Required: true}}
				}
			})
			last := map[bool]string{true: "5", false: "4"}[streams]
			interfaces := []string{"JSONRPC 1.0 https://agent.example.com/a2a", "HTTP+JSON 1.0 https://agent.example.com/a2a/rest"}
			if grpc {
				interfaces = append(interfaces, "GRPC 1.0 agent.example.com:443")
			}
			interfaces = append(interfaces, "JSONRPC 0.3 https://agent.example.com/a2a")
			for _, version := range []string{"0.3", "1.0"} {
				card := parse(t, s.get(t, "/.well-known/agent-card.json", "A2A-Version", version).Body.Bytes())
				var got []string
				for _, i := range card.at("supportedInterfaces").v.([]any) {
					i := node{i}
					got = append(got, i.at("protocolBinding").String()+" "+i.at("protocolVersion").String()+" "+i.at("url").String())
				}
				test.Equal(t, fmt.Sprintf("interfaces in %s", version), interfaces, got)
				wantBool(t, version+" streaming", card.at("capabilities", "streaming"), streams)
				wantBool(t, version+" push", card.at("capabilities", "pushNotifications"), push)
				wantBool(t, version+" extended", card.at("capabilities", "extendedAgentCard"), extended)
				wantBool(t, version+" extension", card.at("capabilities", "extensions", last, "required"), required)
				wantBool(t, "extended as 0.3 has it", card.at("supportsAuthenticatedExtendedCard"), extended && version == "0.3")
			}
			s.discovers(t)
			s.describes(t, streams, push, auth)
			s.agrees(t, streams, extended, required)
		})
	}
}

func wantBool(t *testing.T, what string, n node, want bool) {
	t.Helper()
	if (n.v == true) != want {
		t.Errorf("%s is %v, want %v", what, n, want)
	}
}

// describes checks that calls, the discovery document and the card agree about streams, push
// notifications and authentication.
func (s *fixture) describes(t *testing.T, streams, push, auth bool) {
	t.Helper()
	want := map[bool]string{true: "-32001", false: "-32003"}[push]
	declared := []string{"A2A-Extensions", tckExtension}
	for _, method := range []string{"GetTaskPushNotificationConfig", "ListTaskPushNotificationConfigs"} {
		wantCode(t, s.call(t, method, `{"taskId":"x","id":"x"}`, declared...), want)
	}
	card := parse(t, s.get(t, "/.well-known/agent-card.json", "A2A-Version", "1.0").Body.Bytes())
	wantBool(t, "security on the card", node{card.has("securityRequirements")}, auth)
	wantBool(t, "streaming in the discovery", parse(t, s.get(t, "/.well-known/openwop").Body.Bytes()).at("a2a", "streaming"), streams)
}

// agrees checks that calls behave as a card with these values says.
func (s *fixture) agrees(t *testing.T, streams, extended, required bool) {
	t.Helper()
	if required {
		wantCode(t, s.call(t, "ListTasks", `{}`), "-32008")
		wantCode(t, s.call(t, "SendStreamingMessage", `{}`), "-32008")
	}
	declared := []string{"A2A-Extensions", tckExtension}
	if code := s.call(t, "SubscribeToTask", `{"id":"x"}`, declared...).at("error", "code").String(); (code == "-32004") == streams {
		t.Errorf("subscribing fails with %s", code)
	}
	w := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{}}`, declared...)
	if strings.Contains(w.Body.String(), "-32004") == streams {
		t.Errorf("message/stream: %s", w.Body)
	}
	if code := s.call(t, "GetExtendedAgentCard", `{}`, declared...).at("error", "code").String(); (code == "") != extended {
		t.Errorf("the extended card fails with %q", code)
	}
	declared = append(declared, "A2A-Version", "1.0")
	test.Is(t, "plain HTTP: status", http.StatusOK, s.get(t, "/a2a/rest/tasks", declared...).Code)
	test.Is(t, "plain HTTP at the root: status", http.StatusOK, s.get(t, "/tasks", declared...).Code)
	got := s.get(t, "/a2a/rest/tasks/x:subscribe", declared...)
	if (parse(t, got.Body.Bytes()).at("error", "details", "0", "reason").String() == "UNSUPPORTED_OPERATION") == streams {
		t.Errorf("subscribing over plain HTTP: %s", got.Body)
	}
}

// Without an extended card, 1.0 and 0.3 have different errors, for every caller.
func TestExtendedCard_none(t *testing.T) {
	s := newService(t)
	wantCode(t, s.call(t, "GetExtendedAgentCard", `{}`), "-32004")
	wantCode(t, s.callIn(t, "0.3", "agent/getAuthenticatedExtendedCard", `{}`, "Authorization", "Bearer anonymous"), "-32007")
}

// A required extension is also required over plain HTTP, and a call without it
// writes nothing.
func TestREST_requiredExtension(t *testing.T) {
	s := newService(t, func(c *config) {
		c.Card.OPTRequired = true
		c.Card.Extensions = []call.Extension{{URI: tckExtension, Required: true}}
	})
	body := `{"message":` + messageJSON("m", "quiet", "") + `}`
	for _, header := range []string{"", a2a.ExtensionOPT, tckExtension, "urn:x"} {
		w := s.rest(t, "POST", "/a2a/rest/message:send", body, "A2A-Extensions", header)
		n := parse(t, w.Body.Bytes())
		if w.Code != 400 || n.at("error", "details", "0", "reason").String() != "EXTENSION_SUPPORT_REQUIRED" {
			t.Errorf("%q: %d %v", header, w.Code, n)
		}
	}
	s.untouched(t)
	w := s.rest(t, "POST", "/a2a/rest/message:send", body, "X-A2A-Extensions", a2a.ExtensionOPT+","+tckExtension)
	for _, name := range []string{"A2A-Extensions", "X-A2A-Extensions"} {
		if got := w.Header().Get(name); w.Code != 200 || got != a2a.ExtensionOPT+", "+tckExtension {
			t.Errorf("status %d, %s: %s", w.Code, name, got)
		}
	}
}
