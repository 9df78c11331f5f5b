package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/internal/test"
	"longhaul/opt"
)

// decisions returns a page of the decisions of an objective.
func (s *fixture) decisions(t *testing.T, objectiveID, query string, headers ...string) node {
	t.Helper()
	status, page := s.page(t, http.MethodGet, "/v1/objectives/"+objectiveID+"/decisions"+query, "", headers...)
	if status != http.StatusOK {
		t.Fatalf("%s: status %d: %v", query, status, page)
	}
	return page
}

// verified checks the chains of a page with all decisions, and returns who got which
// verdict.
func verified(t *testing.T, page node) (verdicts []string) {
	t.Helper()
	var chains opt.Chains
	var head opt.DecisionHead
	list, _ := page.at("decisions").v.([]any)
	for i := range list {
		test.Error(t, "the call", nil, chains.Add([]byte(node{list[i]}.String())))
		d := node{list[i]}
		verdicts = append(verdicts, strings.TrimSpace(fmt.Sprint(d.at("decidedBy"), " ", d.at("action"), " ", d.at("verdict"), " ", d.at("closed"))))
	}
	test.OK(t, json.Unmarshal([]byte(page.at("head").String()), &head))
	test.Error(t, "the call", nil, chains.End(head))
	return verdicts
}

// Each reply that a workflow judges is in a chain: refused of every kind, votes,
// questions, and what closes the gate. The others are in the log. No refusal changes the
// gate.
func TestListDecisions(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	s := newService(t, func(c *config) { c.Log = zap.New(core) })
	root, task := "obj-"+u("m"), "task-"+u("m")+"-1-1"
	s.send(t, "m", "guarded")
	gate := func() string {
		n := s.must(t, "GetTask", `{"id":"`+task+`"}`).at("metadata", "openwop", "interrupt")
		object, _ := n.v.(map[string]any)
		delete(object, "exchanges")
		delete(object, "votes")
		return n.String()
	}
	before := gate()
	const accept, user = `{"data":{"action":"accept"}}`, "ROLE_USER"
	for i, step := range []struct{ who, parts, role, code, reason string }{
		{"acme/ann", accept, user, "-32000", ""},
		{"acme/mallory", accept, user, "-32000", ""},
		{"acme/bob", `{"data":{"action":"accept","objectDigest":"sha256:00"}}`, user, "-32602", ""},
		{"acme/ann", `{"data":{"action":"ask","question":"Why?"}}`, user, "", ""},
		{"acme/bob", accept, user, "", ""},
		{"acme/bob", accept, user, "-32004", ""},
		{"rival/bob", accept, user, "-32001", "Task not found"},
		{"acme/carol runs:create", accept, user, "-32000", "Permission denied: needs the scope approvals:respond"},
		{"acme/carol", `{"data":{"action":"explode"}}`, user, "-32602", "Invalid parameters: message.parts[0].data.action"},
		{"acme/carol", `{"data":{"action":"accept"}},{"text":"reject"}`, user, "-32602", "Invalid parameters: message.parts[1]"},
		{"acme/carol", `{"data":{"action":"accept","interruptId":"` + task + `:7"}}`, user, "-32004", "This operation is not supported: the task does not wait for this decision"},
		{"acme/carol", accept, "ROLE_AGENT", "-32602", "Invalid parameters: message.role"},
	} {
		n := s.call(t, "SendMessage", fmt.Sprintf(`{"message":{"messageId":"r%d","taskId":%q,"role":%q,"parts":[%s]}}`,
			i, task, step.role, step.parts), "Authorization", "Bearer "+step.who)
		if got := n.at("error", "code").String(); got != step.code {
			t.Errorf("step %d, %s: code %q, want %q: %v", i, step.who, got, step.code, n)
		}
		if after := gate(); after != before {
			t.Errorf("step %d, %s: the gate has changed:\n%s\n%s", i, step.who, before, after)
		}
		var told []string
		for _, entry := range logs.TakeAll() {
			fields := entry.ContextMap()
			tenant, who, _ := strings.Cut(strings.Fields(step.who)[0], "/")
			if entry.Message != "Refused an answer" || fields["tenant"] != tenant || fields["principal"] != who || fields["taskId"] != task {
				t.Errorf("step %d: the log has %s %v", i, entry.Message, fields)
			}
			told = append(told, fmt.Sprint(fields["reason"]))
		}
		test.Equal(t, fmt.Sprintf("step %d, reasons in the log", i), strings.Fields(step.reason), strings.Fields(strings.Join(told, " ")))
	}
	if votes := s.must(t, "GetTask", `{"id":"`+task+`"}`).at("metadata", "openwop", "interrupt", "votes").String(); votes != `[{"action":"accept","decidedBy":"bob"}]` {
		t.Errorf("the gate has the votes %s", votes)
	}
	s.say(t, task, "last", `{"data":{"action":"accept","decidedBy":"mallory"}}`, "", "Authorization", "Bearer acme/carol")
	wantArtifact(t, s, root, "From: Outline")
	page := s.decisions(t, root, "")
	want := []string{
		"ann accept not-allowed", "mallory accept not-allowed", "bob accept other-object", "ann ask accepted", "bob accept accepted", "bob accept has-voted",
		"carol accept accepted true",
	}
	test.Equal(t, "decisions", want, verified(t, page))
	first := page.at("decisions", "2")
	for member, want := range map[string]string{
		"objectiveId": root, "planId": "plan-" + u("m") + "-1", "attempt": "1", "taskId": task, "interruptId": task + ":1", "kind": "approval", "n": "3",
		"messageId": "r2", "seenDigest": "sha256:00", "previous": page.at("decisions", "1", "hash").String(),
	} {
		test.Is(t, member, want, first.at(member).String())
	}
	if digest := first.at("objectDigest").String(); !strings.HasPrefix(digest, "sha256:") || digest == "sha256:00" {
		t.Errorf("the digest of the object is %q", digest)
	}
	if strings.Contains(page.String(), "Why?") {
		t.Errorf("decisions hold content: %v", page)
	}
}

// Answers by the page about the gate go the same ways.
func TestListDecisions_answers(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	s := newService(t, func(c *config) { c.Log = zap.New(core) })
	s.send(t, "m", "approve")
	path := "/v1/interrupts/" + gateOf("m") + "/answer"
	for _, auth := range []string{"Bearer rival/rob", limitedTo("runs:read"), ""} {
		body := `{"action":"accept","messageId":"m-1"}`
		if auth == "" {
			body = `{"action":"explode"}`
		}
		if status, got := s.page(t, http.MethodPost, path, body, "Authorization", auth); status == http.StatusOK {
			t.Errorf("%q is not refused: %v", auth, got)
		}
	}
	s.page(t, http.MethodPost, path, `{"action":"accept"}`)
	s.page(t, http.MethodPost, path, `{"action":"accept"}`) // a repeat
	s.page(t, http.MethodPost, path, `{"action":"reject"}`) // late
	s.say(t, "obj-"+u("m"), "m", `{"text":"accept"}`, "")   // under the id of another message
	var told []string
	for _, entry := range logs.FilterMessage("Refused an answer").All() {
		told = append(told, fmt.Sprint(entry.ContextMap()["reason"], " ", entry.ContextMap()["interruptId"]))
	}
	gate := " " + gateOf("m")
	want := []string{
		"Interrupt not found" + gate, "Permission denied: needs the scope approvals:respond <nil>", "Invalid parameters: action" + gate,
		"This operation is not supported: the task has ended. Accepted by ann: 2026-03-01 09:30 UTC" + gate, "Invalid parameters: message.messageId <nil>",
	}
	test.Equal(t, "the log", want, told)
	test.Equal(t, "decisions", []string{"ann accept accepted true"}, verified(t, s.decisions(t, "obj-"+u("m"), "")))
}

// A retried plan begins a new chain. Its records name the attempt, and the head counts
// both.
func TestListDecisions_retried(t *testing.T) {
	s := newService(t)
	root, task := "obj-"+u("m"), "task-"+u("m")+"-1-0"
	s.send(t, "m", "approve")
	s.say(t, task, "r1", `{"data":{"action":"reject"}}`, "")
	for _, status := range []string{"submitted", "working"} {
		s.must(t, "objectives/update", `{"id":"`+root+`","status":"`+status+`"}`)
	}
	s.say(t, task+"~2", "r2", `{"data":{"action":"explode"}}`, "")
	s.say(t, task+"~2", "r3", `{"data":{"action":"accept"}}`, "")
	page := s.decisions(t, root, "")
	test.Equal(t, "decisions", []string{"ann reject accepted true", "ann accept accepted true"}, verified(t, page))
	for i, attempt := range []string{"1", "2"} {
		d := page.at("decisions", strconv.Itoa(i))
		if d.at("attempt").String() != attempt || d.at("n").String() != "1" || d.at("previous").String() != "" {
			t.Errorf("decision %d: %v", i, d)
		}
		if h := page.at("head", "chains", strconv.Itoa(i)); h.at("attempt").String() != attempt || h.at("hash").String() != d.at("hash").String() {
			t.Errorf("head %d: %v", i, h)
		}
	}
	for id, want := range map[string]string{root: "reject", task: "reject", root + "~2": "accept", task + "~2": "accept"} {
		got := s.must(t, "GetTask", `{"id":"`+id+`"}`).at("metadata", "openwop", "decision", "action").String()
		test.Is(t, id+" shows", want, got)
	}
}

// A decision about something else than a question shows is refused, too.
func TestAnswerInterrupt_objectDigest(t *testing.T) {
	s := newService(t)
	s.send(t, "m", "clarify")
	path := "/v1/interrupts/" + gateOf("m") + "/answer"
	question := s.must(t, "GetTask", `{"id":"obj-`+u("m")+`"}`).at("metadata", "openwop", "interrupt", "questions", "0", "id").String()
	body := `{"answers":[{"id":"` + question + `","answer":"Engineers"}]`
	if status, got := s.page(t, http.MethodPost, path, body+`,"objectDigest":"sha256:00"}`); status != http.StatusBadRequest {
		t.Errorf("another object: status %d: %v", status, got)
	}
	if status, got := s.page(t, http.MethodPost, path, body+`}`); status != http.StatusOK {
		t.Errorf("status %d: %v", status, got)
	}
	want := []string{"ann  other-object", "ann  accepted true"}
	test.Equal(t, "decisions", want, verified(t, s.decisions(t, "obj-"+u("m"), "")))
}

// With a key, the head is signed: all of it but the signature.
func TestListDecisions_signed(t *testing.T) {
	s := newService(t, func(c *config) {
		c.SignHead = func(_ context.Context, statement []byte) (string, error) { return "signed " + string(statement), nil }
	})
	s.send(t, "m", "approve")
	s.say(t, "obj-"+u("m"), "a", `{"text":"accept"}`, "")
	var head opt.DecisionHead
	test.OK(t, json.Unmarshal([]byte(s.decisions(t, "obj-"+u("m"), "").at("head").String()), &head))
	if want := "signed " + string(head.Statement()); head.Signature != want || head.Count != 1 || head.At.IsZero() {
		t.Errorf("signature %s, want %s", head.Signature, want)
	}
}
