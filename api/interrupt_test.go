package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"longhaul/opt"
)

// page calls a page; body is for a POST.
func (s *fixture) page(t *testing.T, verb, path, body string, headers ...string) (int, node) {
	t.Helper()
	w := s.serve(t, verb, path, body, headers...)
	return w.Code, parse(t, w.Body.Bytes())
}

// interrupts returns what the page of open gates lists: the text of the message
// that each one's work began with.
func (s *fixture) interrupts(t *testing.T, query string, headers ...string) (ids []string, page node) {
	t.Helper()
	status, page := s.page(t, http.MethodGet, "/v1/interrupts"+query, "", headers...)
	if status != http.StatusOK {
		t.Fatalf("%s: status %d: %v", query, status, page)
	}
	list, _ := page.at("interrupts").v.([]any)
	for i := range list {
		ids = append(ids, node{list[i]}.at("interruptId").String())
	}
	return ids, page
}

// gateOf returns the id of the first gate of the work that a message began.
func gateOf(messageID string) string { return "task-" + u(messageID) + "-1-0:1" }

// An answer to a gate is a reply to its task, by the same rules. A text at an approval that is
// no decision is a comment, and the result says so.
func TestAnswerInterrupt(t *testing.T) {
	const note = "The text was added as a comment and decides nothing. To decide, send an action, one of: accept, reject"
	for name, tc := range map[string]struct {
		text, body, state string
		status            int
		field             string // that is wrong
	}{
		"accept":             {text: "approve", body: `{"action":"accept"}`, state: "completed", status: 200},
		"reject":             {text: "approve", body: `{"action":"reject","feedback":"no"}`, state: "failed", status: 200},
		"by word":            {text: "approve", body: `{"text":"accept"}`, state: "completed", status: 200},
		"the old word":       {text: "approve", body: `{"decision":"approved"}`, state: "completed", status: 200},
		"an answer":          {text: "clarify", body: `{"text":"Engineers"}`, state: "completed", status: 200},
		"a typed answer":     {text: "count", body: `{"answers":[{"id":"n","answer":3}]}`, state: "completed", status: 200},
		"of another type":    {text: "count", body: `{"answers":[{"id":"n","answer":"3"}]}`, status: 400, field: "answers[0].answer"},
		"text as JSON":       {text: "count", body: `{"text":"3"}`, state: "completed", status: 200},
		"not offered":        {text: "approve", body: `{"action":"explode"}`, status: 400, field: "action"},
		"nothing":            {text: "approve", body: `{}`, status: 400, field: "action"},
		"for another gate":   {text: "approve", body: `{"action":"accept","interruptId":"task-x:1"}`, status: 400, field: "interruptId"},
		"a comment":          {text: "approve", body: `{"text":"yes"}`, state: "input-required", status: 200},
		"who decided is not": {text: "approve", body: `{"action":"accept","decidedBy":"eve"}`, state: "completed", status: 200},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			s.send(t, "m", tc.text)
			status, got := s.page(t, http.MethodPost, "/v1/interrupts/"+gateOf("m")+"/answer", tc.body)
			if status != tc.status || got.at("state").String() != tc.state || got.at("details", "fieldViolations", "0", "field").String() != tc.field {
				t.Errorf("status %d: %v", status, got)
			}
			open, _ := s.interrupts(t, "")
			if waits := len(open) == 1; waits != (tc.state != "completed" && tc.state != "failed") || (got.at("note").String() == note) != (name == "a comment") {
				t.Errorf("open afterwards: %v; the note is %q", open, got.at("note"))
			}
		})
	}
}

// An answer takes four reads of the journal: the task with its gate, whether the answer was judged
// before, the verdict, and the task after it.
func TestAnswerInterrupt_reads(t *testing.T) {
	s := newService(t)
	s.send(t, "m", "approve")
	before := s.journal.calls.Load()
	status, got := s.page(t, http.MethodPost, "/v1/interrupts/"+gateOf("m")+"/answer", `{"action":"accept"}`)
	if n := s.journal.calls.Load() - before; status != http.StatusOK || n > 4 {
		t.Errorf("status %d after %d calls of the journal: %v", status, n, got)
	}
}

// A caller can have only the gates listed that wait for it: that it may answer, and has not
// voted at.
func TestListInterrupts_mine(t *testing.T) {
	s := newService(t)
	for id, who := range map[string]*opt.Responders{
		"all": nil, "ann": {Principals: []string{"ann"}}, "bob": {Principals: []string{"bob"}}, "both": {Principals: []string{"ann", "bob"}, Accepts: 2},
	} {
		s.send(t, id, "slow work")
		gate := approval()
		gate.Responders = who
		s.world.Gate("task-"+u(id)+"-1-0", *gate)
	}
	mine := func(when string, ids ...string) {
		t.Helper()
		var want []string
		for _, id := range ids {
			want = append(want, gateOf(id))
		}
		got, _ := s.interrupts(t, "?mine=true")
		slices.Sort(got)
		slices.Sort(want)
		wantList(t, when, got, want...)
	}
	mine("at first", "all", "ann", "both")
	if status, got := s.page(t, http.MethodPost, "/v1/interrupts/"+gateOf("both")+"/answer", `{"action":"accept"}`); status != http.StatusOK {
		t.Fatalf("the vote: %d %v", status, got)
	}
	mine("after a vote", "all", "ann")
	if got, _ := s.interrupts(t, "?mine=true", "Authorization", "Bearer acme/ann runs:read"); len(got) != 0 {
		t.Errorf("for one who may not answer wait %v", got)
	}
	if got, _ := s.interrupts(t, "?mine=false"); len(got) != 4 {
		t.Errorf("all are %v", got)
	}
	if status, got := s.page(t, http.MethodGet, "/v1/interrupts?mine=perhaps", ""); status != http.StatusBadRequest {
		t.Errorf("mine=perhaps: %d %v", status, got)
	}
}

// An answer that does not count may be given again after a step of the gate, also
// without a message id.
func TestAnswerInterrupt_afterStep(t *testing.T) {
	step := func(minutes int64, kind opt.StepKind, who ...string) opt.Step {
		return opt.Step{Kind: kind, After: 60 * minutes, To: &opt.Responders{Principals: who}}
	}
	for name, tc := range map[string]struct {
		who    opt.Responders
		ladder []opt.Step
		first  int // status
		votes  int // before the step
		last   string
	}{
		"refused": {opt.Responders{Principals: []string{"bob"}}, []opt.Step{step(1, opt.Escalate, "ann")}, 403, 0, "working"},
		"a dropped vote": {opt.Responders{Principals: []string{"ann", "bob"}, Accepts: 2},
			[]opt.Step{step(1, opt.Reassign, "bob", "eve"), step(2, opt.Reassign, "ann", "bob")}, 200, 1, "input-required"},
		"a vote that counts": {opt.Responders{Principals: []string{"ann", "bob"}, Accepts: 2}, []opt.Step{step(1, opt.Escalate, "eve")}, 200, 1, "input-required"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			s.send(t, "m", "slow work")
			gate := approval()
			gate.Responders, gate.Ladder = &tc.who, tc.ladder
			s.world.Gate("task-"+u("m")+"-1-0", *gate)
			answer := func(when string, wantStatus int, wantState string) {
				t.Helper()
				status, got := s.page(t, http.MethodPost, "/v1/interrupts/"+gateOf("m")+"/answer", `{"action":"accept"}`)
				if status != wantStatus || got.at("state").String() != wantState {
					t.Errorf("%s: status %d: %v, want %d %s", when, status, got, wantStatus, wantState)
				}
			}
			votes := func(when string, want int) {
				t.Helper()
				_, page := s.interrupts(t, "")
				if list, _ := page.at("interrupts", "0", "votes").v.([]any); len(list) != want {
					t.Errorf("%s: %d votes, want %d: %v", when, len(list), want, page)
				}
			}
			state := map[int]string{200: "input-required"}[tc.first]
			answer("before the step", tc.first, state)
			answer("again", tc.first, state)
			votes("before the step", tc.votes)
			for range tc.ladder {
				s.world.Advance(time.Minute)
			}
			answer("after the step", 200, tc.last)
			answer("again after the step", 200, tc.last)
			if tc.last == "input-required" {
				votes("after the step", 1)
			}
		})
	}
}

// A gate of another tenant and one that never was are unknown.
func TestAnswerInterrupt_unknown(t *testing.T) {
	s := newService(t)
	s.send(t, "m", "approve")
	for _, id := range []string{gateOf("m"), gateOf("x"), "nothing", "task-x:0x1", strings.Repeat("x", 300) + ":1"} {
		status, got := s.page(t, http.MethodPost, "/v1/interrupts/"+id+"/answer", `{"action":"accept"}`, "Authorization", "Bearer rival/rob")
		if status != http.StatusNotFound || got.at("error").String() != "interrupt_not_found" {
			t.Errorf("%.40s: status %d: %v", id, status, got)
		}
	}
	status, got := s.page(t, http.MethodPost, fmt.Sprintf("/v1/interrupts/%s/answer", gateOf("m")), `{"action":"accept"}`,
		"Authorization", limitedTo("runs:read"))
	if status != http.StatusForbidden {
		t.Errorf("without the scope: status %d: %v", status, got)
	}
}

// An answer to a gate that was closed opens no later gate of the same task, and is no
// note for it.
func TestAnswerInterrupt_late(t *testing.T) {
	for _, body := range []string{`{"action":"accept"}`, `{"text":"accept"}`, `{"text":"go on"}`} {
		s := newService(t)
		s.send(t, "m", "slow work")
		task := "task-" + u("m") + "-1-0"
		path := "/v1/interrupts/" + gateOf("m") + "/answer"
		s.world.Gate(task, *approval())
		if status, got := s.page(t, http.MethodPost, path, `{"action":"accept","messageId":"first"}`); status != http.StatusOK {
			t.Fatalf("the first answer: status %d: %v", status, got)
		}
		for _, when := range []string{"while the task works", "at the next gate"} {
			status, got := s.page(t, http.MethodPost, path, body)
			if status != http.StatusBadRequest || got.at("error").String() != "unsupported_operation" {
				t.Errorf("%s, %s: status %d: %v", body, when, status, got)
			}
			if when == "while the task works" {
				s.world.Gate(task, *approval())
			}
		}
		open, _ := s.interrupts(t, "")
		wantList(t, body, open, task+":2")
	}
}
