package api_test

import (
	"fmt"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/internal/test"
)

const otherExtension = "urn:example:other"

func TestExtensions_activation(t *testing.T) {
	const opt = a2a.ExtensionOPT
	for name, tc := range map[string]struct {
		header, value string
		more          string
		want, wantX   string
		objective     bool
	}{
		"not asked for":            {"", "", "", "", "", false},
		"by header":                {"A2A-Extensions", opt, "", opt, "", true},
		"by the name of 0.3":       {"X-A2A-Extensions", opt, "", opt, opt, true},
		"among others, with space": {"A2A-Extensions", "urn:x ,  " + opt + ",," + otherExtension, "", opt + ", " + otherExtension, "", true},
		"another version of it":    {"A2A-Extensions", strings.Replace(opt, "v1", "v2", 1), "", "", "", false},
		"in other letters":         {"A2A-Extensions", strings.ToUpper(opt), "", "", "", false},
		"by the message":           {"", "", `,"extensions":["` + opt + `"]`, opt, "", true},
		"by a key":                 {"", "", `,"metadata":{"opt/v1/suggestedName":"x"}`, opt, "", true},
		"not by another key":       {"", "", `,"metadata":{"x":"opt/v1/"}`, "", "", false},
		"another one alone":        {"A2A-Extensions", otherExtension, "", otherExtension, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, func(c *config) { c.Card.Extensions = []call.Extension{{URI: otherExtension}} })
			w := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":`+messageJSON("m", "quiet", tc.more)+`}}`,
				"A2A-Version", "1.0", tc.header, tc.value)
			test.Is(t, "A2A-Extensions", tc.want, w.Header().Get("A2A-Extensions"))
			test.Is(t, "X-A2A-Extensions", tc.wantX, w.Header().Get("X-A2A-Extensions"))
			test.Is(t, "the objective is shown", tc.objective, parse(t, w.Body.Bytes()).at("result", "task", "metadata").has("opt/v1/objective"))
		})
	}
}

// The objective is beside the task for a client that asked for exactly that.
func TestExtensions_sibling(t *testing.T) {
	const header = "A2A-Extensions"
	for name, tc := range map[string]struct {
		header, more string
		want         bool
	}{
		"header and key":      {a2a.ExtensionOPT, `,"metadata":{"opt/v1/preferObjective":true}`, true},
		"key alone":           {"", `,"metadata":{"opt/v1/preferObjective":true}`, false},
		"header alone":        {a2a.ExtensionOPT, "", false},
		"asked not to":        {a2a.ExtensionOPT, `,"metadata":{"opt/v1/preferObjective":false}`, false},
		"message, not header": {"", `,"extensions":["` + a2a.ExtensionOPT + `"],"metadata":{"opt/v1/preferObjective":true}`, false},
	} {
		n := newService(t).call(t, "SendMessage", `{"message":`+messageJSON("m", "quiet", tc.more)+`}`, header, tc.header)
		test.Is(t, name+": beside the task", tc.want, n.at("result").has("objective"))
	}
}

// A required extension is checked before anything else, and nothing is written without
// it.
func TestExtensions_required(t *testing.T) {
	s := newService(t, func(c *config) {
		c.Card.OPTRequired = true
		c.Card.Extensions = []call.Extension{{URI: otherExtension, Required: true}}
	})
	body := `{"message":` + messageJSON("m", "quiet", "") + `}`
	n := s.call(t, "SendMessage", body)
	wantCode(t, n, "-32008")
	test.Is(t, "reason", "EXTENSION_SUPPORT_REQUIRED", n.at("error", "data", "0", "reason").String())
	wantCode(t, s.call(t, "SendMessage", `{"message":{}}`), "-32008")
	wantCode(t, s.call(t, "GetTask", `{"id":"x"}`, "A2A-Extensions", a2a.ExtensionOPT), "-32008")
	wantCode(t, s.callIn(t, "0.3", "tasks/get", `{"id":"x"}`), "-32602")
	wantCode(t, s.call(t, "objectives/create", `{"name":"x"}`), "-32008")
	s.untouched(t)
	both := "A2A-Extensions"
	if n := s.call(t, "SendMessage", body, both, a2a.ExtensionOPT+","+otherExtension); n.has("error") {
		t.Errorf("refused: %v", n)
	}
	if n := s.call(t, "objectives/create", `{"name":"x"}`, both, a2a.ExtensionOPT+","+otherExtension); n.has("error") {
		t.Errorf("refused: %v", n)
	}
}

// A method of the extension activates it, unless the operator requires that clients
// do so themselves.
func TestExtensions_requiredByItsOwnMethods(t *testing.T) {
	const header = "A2A-Extensions"
	create := `{"jsonrpc":"2.0","id":1,"method":"objectives/create","params":{"name":"x"}}`
	w := newService(t).post(t, create, "A2A-Version", "1.0")
	if n := parse(t, w.Body.Bytes()); n.has("error") || w.Header().Get(header) != a2a.ExtensionOPT {
		t.Errorf("not required: extensions %q, %v", w.Header().Get(header), n)
	}
	s := newService(t, func(c *config) { c.Card.OPTRequired = true })
	for _, version := range []string{"0.3", "1.0"} {
		want := map[string]string{"0.3": "-32602", "1.0": "-32008"}[version]
		for _, method := range []string{"objectives/create", "objectives/list", "plans/get", "tasks/updateStatus"} {
			n := s.callIn(t, version, method, `{}`)
			wantCode(t, n, want)
			test.Is(t, fmt.Sprintf("%s of %s misses", method, version), a2a.ExtensionOPT, n.at("error", "data", "0", "metadata", "extensions").String())
		}
	}
	s.untouched(t)
	if n := s.call(t, "objectives/create", `{"name":"x"}`, header, a2a.ExtensionOPT); n.has("error") {
		t.Errorf("refused: %v", n)
	}
}
