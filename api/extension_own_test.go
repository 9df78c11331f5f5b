package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A dialect is a version with the names that it has.
type dialect struct{ version, header, send, get, cancel, subscribe string }

var dialects = []dialect{
	{"1.0", "A2A-Extensions", "SendMessage", "GetTask", "CancelTask", "SubscribeToTask"},
	{"0.3", "X-A2A-Extensions", "message/send", "tasks/get", "tasks/cancel", "tasks/resubscribe"},
}

// The reason of a cancellation is the last word of the root task and of all tasks below it: those
// that run, those that wait for a person, and those that have not begun.
func TestExtensionCancel_cascades(t *testing.T) {
	for _, d := range dialects {
		for word, tasks := range map[string]int{"slow": 1, "two": 3} {
			s := newService(t)
			s.send(t, "m", word)
			ids := []string{"obj-" + u("m")}
			for i := range tasks {
				ids = append(ids, fmt.Sprintf("task-%s-1-%d", u("m"), i))
			}
			params := `{"id":"` + ids[0] + `","metadata":{"` + a2a.ExtensionCancel + `":{"reason":"Superseded by order 8."}}}`
			wantTrue(t, s.callIn(t, d.version, d.cancel, params, d.header, a2a.ExtensionCancel).at("result", "metadata", a2a.ExtensionCancel, "stopped"))
			for _, id := range ids {
				test.Is(t, fmt.Sprintf("%s %s: the status of %s says", d.version, word, id), "Superseded by order 8.", s.textOf(t, d, id))
			}
		}
	}
}

// textOf returns the text of the status of a task.
func (s *fixture) textOf(t *testing.T, d dialect, id string) string {
	t.Helper()
	return s.callIn(t, d.version, d.get, `{"id":"`+id+`"}`).at("result", "status", "message", "parts", "0", "text").String()
}

// One task of a plan has its own reason, also over plain HTTP. A task that does not stop in time is
// not acknowledged as stopped; its reason shows when it has.
func TestExtensionCancel_task(t *testing.T) {
	s := newService(t)
	s.send(t, "m", "slow")
	s.world.Stubborn()
	task := "task-" + u("m") + "-1-0"
	w := s.serve(t, http.MethodPost, "/a2a/rest/tasks/"+task+":cancel", `{"metadata":{"`+a2a.ExtensionCancel+`":{"reason":"Too slow."}}}`,
		"A2A-Version", "1.0", "Content-Type", "application/json", "A2A-Extensions", a2a.ExtensionCancel)
	if got := parse(t, w.Body.Bytes()).at("metadata", a2a.ExtensionCancel, "stopped"); got.v != false || w.Header().Get("A2A-Extensions") != a2a.ExtensionCancel {
		t.Errorf("stopped is %v, the header %v", got, w.Header())
	}
	s.world.End(task, opt.Outcome{State: opt.TaskWorking, Park: &opt.Park{}})
	test.Is(t, "the status says", "Too slow.", s.textOf(t, dialects[0], task))
}

// Without the extension a reason says nothing, and is not acknowledged. With it, one that is too
// long or no text is refused, and nothing is canceled.
func TestExtensionCancel_off(t *testing.T) {
	for _, d := range dialects {
		s := newService(t)
		s.send(t, "m", "slow")
		cancel := func(reason string, headers ...string) node {
			return s.callIn(t, d.version, d.cancel, `{"id":"obj-`+u("m")+`","metadata":{"`+a2a.ExtensionCancel+`":{"reason":`+reason+`}}}`, headers...)
		}
		s.unchanged(t, func() {
			for _, reason := range []string{`"` + strings.Repeat("x", opt.MaxReason+1) + `"`, "7"} {
				wantCode(t, cancel(reason, d.header, a2a.ExtensionCancel), "-32602")
			}
		})
		if n := cancel(`"Why not"`); n.at("result", "metadata").has(a2a.ExtensionCancel) || s.textOf(t, d, "obj-"+u("m")) == "Why not" {
			t.Errorf("%s: %v", d.version, n)
		}
	}
}

// A budget that could not be kept is refused before anything is written.
func TestExtensionBudget_refused(t *testing.T) {
	s := newService(t)
	for _, d := range dialects {
		for _, budget := range []string{`{}`, `{"tokens":0}`, `{"tokens":1.5}`, `{"tokens":1e3}`, `{"tokens":50,"cost":1e10}`, `{"cost":-1}`, `{"cost":"1"}`, `{"tokens":9,"onExceeded":"stop"}`, `{"time":0}`, `{"questions":-1}`, `{"calls":1.5}`, `{"tokens":9,"most":{"tokens":99}}`, `7`} {
			n := s.callIn(t, d.version, d.send, `{"message":`+d.message("m", "slow", budget)+`}`)
			wantCode(t, n, "-32602")
		}
	}
	s.untouched(t)
	s.send(t, "m", "approve")
	n := s.say(t, "obj-"+u("m"), "m2", `{"text":"accept"}`, `,"metadata":{"`+a2a.ExtensionBudget+`":{"tokens":5}}`)
	if wantCode(t, n, "-32602"); !strings.Contains(n.at("error", "message").String(), a2a.ExtensionBudget) {
		t.Errorf("refused with %v", n)
	}
}

// message returns a message of the version with a budget.
func (d dialect) message(id, text, budget string) string {
	m := messageJSON(id, text, `,"metadata":{"`+a2a.ExtensionBudget+`":`+budget+`}`)
	if d.version == "0.3" {
		m = strings.Replace(m, "ROLE_USER", "user", 1)
	}
	return m
}

// A budget turns the extension on by itself. Its work gets it, and its root task has the bill.
func TestExtensionBudget_bill(t *testing.T) {
	for _, d := range dialects {
		s := newService(t)
		w := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"`+d.send+`","params":{"message":`+d.message("m", "slow", `{"tokens":50,"cost":0.5}`)+`}}`, "A2A-Version", d.version)
		test.Is(t, fmt.Sprintf("%s: A2A-Extensions", d.version), a2a.ExtensionBudget, w.Header().Get("A2A-Extensions"))
		task := "task-" + u("m") + "-1-0"
		running, _ := s.running(task)
		test.Is(t, d.version+": the executor gets", opt.Budget{SpendLimit: opt.SpendLimit{Tokens: 50, Cost: 500_000}}, running.Budget())
		s.world.End(task, opt.Outcome{State: opt.TaskCompleted, Usage: &opt.Usage{Input: 10, Output: 2, Cost: 250_000}})
		read := func(id string, headers ...string) node {
			return s.callIn(t, d.version, d.get, `{"id":"`+id+`"}`, headers...).at("result", "metadata")
		}
		spent := read("obj-"+u("m"), d.header, a2a.ExtensionBudget).at(a2a.ExtensionBudget, "spent")
		if spent.at("inputTokens").String() != "10" || spent.at("outputTokens").String() != "2" || spent.at("cost").String() != "0.25" {
			t.Errorf("%s: the bill is %v", d.version, spent)
		}
		if read("obj-"+u("m")).has(a2a.ExtensionBudget) || read(task, d.header, a2a.ExtensionBudget).has(a2a.ExtensionBudget) {
			t.Errorf("%s: there is a bill without the extension, or at a plan task", d.version)
		}
	}
}

// sequence returns the number that an event, or a task, has in its metadata.
func sequence(data node) string {
	result := data
	if data.has("result") {
		result = data.at("result")
	}
	for _, member := range []string{"task", "statusUpdate", "artifactUpdate"} {
		if result.has(member) {
			result = result.at(member)
		}
	}
	return result.at("metadata", a2a.ExtensionStream, "sequence").String()
}

// A client that was cut off continues after a restart of the server, in the bindings of JSON: it gets
// every event once, each with its number, and no snapshot.
func TestExtensionStream_restart(t *testing.T) {
	for _, d := range dialects {
		s := newService(t, func(c *config) { c.Heartbeat = time.Hour })
		s.send(t, "m", "slow")
		id := "obj-" + u("m")
		extended := []string{d.header, a2a.ExtensionStream}
		first := open(t, s.listen(t), d.version, d.subscribe, `{"id":"`+id+`"}`, extended...)
		seen := first.event()
		first.close()
		if got := sequence(s.callIn(t, d.version, d.get, `{"id":"`+id+`"}`, extended...)); got != seen.id || sequence(seen.data) != seen.id {
			t.Fatalf("%s: the numbers are %q, %q and %q", d.version, seen.id, sequence(seen.data), got)
		}
		s.finish("task-" + u("m") + "-1-0")
		after := s.twin()
		url := after.listen(t)
		resume := []*reader{
			open(t, url, d.version, d.subscribe, `{"id":"`+id+`","metadata":{"`+a2a.ExtensionStream+`":{"after":`+seen.id+`}}}`, extended...),
			open(t, url, d.version, d.subscribe, `{"id":"`+id+`"}`, append(extended, "Last-Event-ID", seen.id)...),
		}
		if d.version == "1.0" {
			resume = append(resume, follow(t, http.MethodGet, url+"/a2a/rest/tasks/"+id+":subscribe", "", "A2A-Version", "1.0", "Last-Event-ID", seen.id, d.header, a2a.ExtensionStream))
		}
		for i, r := range resume {
			var kinds []string
			for _, e := range r.all() {
				kind := brief(e.data)
				if e.data.at("result").has("artifact") { // in 0.3
					kind = e.data.at("result", "artifact", "artifactId").String()
				}
				if kinds = append(kinds, kind); sequence(e.data) != e.id || e.id == "" {
					t.Errorf("%s, way %d: an event with the id %q has the number %q", d.version, i, e.id, sequence(e.data))
				}
			}
			test.Equal(t, fmt.Sprintf("%s, way %d", d.version, i), []string{"1-0-post", "1-0-post", "completed"}, kinds)
		}
		if e := open(t, url, d.version, d.subscribe, `{"id":"`+id+`"}`, "Last-Event-ID", seen.id).event(); sequence(e.data) != "" {
			t.Errorf("%s: without the extension an event has the number %q", d.version, sequence(e.data))
		}
	}
}

// Where a stream cannot continue, it begins with the task and says so.
func TestExtensionStream_gap(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	s.send(t, "m", "slow")
	for _, d := range dialects {
		for after, want := range map[string]bool{"99999": true, "none": true, "": false} {
			e := open(t, url, d.version, d.subscribe, `{"id":"obj-`+u("m")+`"}`, d.header, a2a.ExtensionStream, "Last-Event-ID", after).event()
			task := e.data.at("result")
			if d.version == "1.0" {
				task = task.at("task")
			}
			if at := task.at("metadata", a2a.ExtensionStream); at.has("gap") != want || at.at("sequence").String() != e.id {
				t.Errorf("%s after %q: the first event has %v", d.version, after, at)
			}
		}
	}
	wantCode(t, s.call(t, "SubscribeToTask", `{"id":"obj-`+u("m")+`","metadata":{"`+a2a.ExtensionStream+`":{"after":-1}}}`), "-32602")
}
