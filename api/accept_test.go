package api_test

import (
	"strings"
	"testing"

	"longhaul/opt"
)

// Criteria that the work of a message would not have are refused before anything is written.
func TestAccept_refused(t *testing.T) {
	s := newService(t)
	accept := `"` + opt.KeyAccept + `":{"criteria":"a"}`
	refused := func(n node, want string) {
		t.Helper()
		if wantCode(t, n, "-32602"); !strings.Contains(n.at("error", "message").String(), opt.KeyAccept+": "+want) {
			t.Errorf("refused with %v, want %q", n, want)
		}
	}
	for _, text := range []string{"hello", "playbook"} { // for which the agent has an answer, and plans
		refused(s.call(t, "SendMessage", `{"message":`+messageJSON("m", text, `,"metadata":{`+accept+`}`)+`}`), "is not for what the agent")
	}
	refused(s.call(t, "SendMessage", `{"message":`+messageJSON("m", "x", `,"metadata":{"opt/v1/plan":{"name":"P","tasks":[{"name":"T"}]},`+accept+`}`)+`}`), "is for plans that the server makes")
	s.untouched(t)

	s.send(t, "m", "approve")
	refused(s.say(t, "obj-"+u("m"), "m2", `{"text":"accept"}`, `,"metadata":{`+accept+`}`), "must be in the message that begins the work")

	idle := s.call(t, "objectives/create", `{"name":"Idle"}`).at("result", "objective", "id").String()
	refused(s.call(t, "SendMessage", `{"message":`+messageJSON("m3", "go", `,"contextId":"`+idle+`","metadata":{`+accept+`}`)+`}`), "is for new work")
}
