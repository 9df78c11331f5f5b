package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/api"
	"longhaul/api/call"
	"longhaul/api/operation"
	"longhaul/api/service/servicetest"
	"longhaul/internal/test"
	"longhaul/opt"
)

// limitedTo returns the header of a caller with the given scopes.
func limitedTo(scopes ...call.Scope) string {
	text := "Bearer acme/ann"
	for _, s := range scopes {
		text += " " + string(s)
	}
	if len(scopes) == 0 {
		text += " " // as without scopes, not as with all
	}
	return text
}

// without returns all scopes but some.
func without(some ...call.Scope) []call.Scope {
	return slices.DeleteFunc(call.Scopes(), func(s call.Scope) bool { return slices.Contains(some, s) })
}

// Every operation needs a scope, in both versions and over plain HTTP. It makes
// no difference whether the named objects exist.
func TestScopes_everyOperation(t *testing.T) {
	s := newService(t)
	s.have(t)
	for name, names := range s.Names() {
		scopes := operation.Right(name).Scopes
		if len(scopes) == 0 {
			t.Errorf("%s: no scope", name)
			continue
		}
		auth := limitedTo(without(scopes...)...)
		s.unchanged(t, func() {
			for i, version := range []string{"0.3", "1.0"} {
				var answers []string
				for _, id := range []string{objectiveID, planID, taskID, "unknown"} {
					w := s.post(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"id":%q,"taskId":%q,"message":%s}}`,
						names[i], id, id, messageJSON("m", "write", `,"taskId":"`+id+`"`)), "Authorization", auth, "A2A-Version", version)
					wantForbidden(t, version+" "+name, w)
					answers = append(answers, w.Body.String())
				}
				if slices.Sort(answers); len(slices.Compact(answers)) != 1 {
					t.Errorf("%s: the answers differ: %s", name, answers)
				}
			}
			if route, ok := api.Routes()[name]; ok {
				wantForbidden(t, route, s.plain(t, route, auth))
			}
		})
	}
}

// Every page needs a scope, too.
func TestScopes_everyPage(t *testing.T) {
	s := newService(t, func(c *config) { c.TestSeams, c.Codec = true, mirror{} })
	s.have(t)
	for route, name := range api.PageRoutes() {
		scopes := operation.Right(name).Scopes
		if len(scopes) == 0 {
			t.Errorf("%s: no scope", route)
			continue
		}
		s.unchanged(t, func() { wantForbidden(t, route, s.plain(t, route, limitedTo(without(scopes...)...))) })
	}
}

// plain calls a route of plain HTTP.
func (s *fixture) plain(t *testing.T, route, auth string) *httptest.ResponseRecorder {
	t.Helper()
	verb, path, _ := strings.Cut(route, " ")
	path = strings.NewReplacer("{id}", taskID, "{taskId}", taskID, "{config}", "c", "{event}", "1").Replace(path)
	return s.rest(t, verb, path, "", "Authorization", auth)
}

func wantForbidden(t *testing.T, what string, w *httptest.ResponseRecorder) {
	t.Helper()
	body := w.Body.String()
	if w.Code != http.StatusForbidden || !strings.Contains(body, "Permission denied: needs the scope ") {
		t.Errorf("%s: status %d: %s", what, w.Code, body)
	}
	if got := w.Header().Get("WWW-Authenticate"); !strings.HasPrefix(got, `Bearer error="insufficient_scope", scope="`) {
		t.Errorf("%s: WWW-Authenticate is %q", what, got)
	}
}

// A send needs the scope of its effect: new work, a note or an answer.
func TestScopes_send(t *testing.T) {
	const create, respond = call.CreateRuns, call.RespondApprovals
	accept := func(id string) string {
		return `{"message":{"messageId":"r","role":"ROLE_USER","taskId":"` + id + `","parts":[{"data":{"action":"accept"}}]}}`
	}
	for name, tc := range map[string]struct {
		work, params string
		has          []call.Scope
		refused      bool
	}{
		"new work, may only answer":   {"approve", `{"message":` + messageJSON("n", "write", "") + `}`, without(create), true},
		"new work":                    {"approve", `{"message":` + messageJSON("n", "write", "") + `}`, []call.Scope{create}, false},
		"a decision, may only create": {"approve", accept("obj-" + u("m")), without(respond), true},
		"a decision":                  {"approve", accept("obj-" + u("m")), []call.Scope{respond}, false},
		"a decision at the plan task": {"approve", accept("task-" + u("m") + "-1-0"), without(respond), true},
		"an answer by text":           {"clarify", `{"message":` + messageJSON("r", "Engineers", `,"taskId":"obj-`+u("m")+`"`) + `}`, without(respond), true},
		"a note, may only answer":     {"slow", `{"message":` + messageJSON("r", "faster", `,"taskId":"obj-`+u("m")+`"`) + `}`, without(create), true},
		"a note":                      {"slow", `{"message":` + messageJSON("r", "faster", `,"taskId":"obj-`+u("m")+`"`) + `}`, []call.Scope{create}, false},
		"a config with it, may not have it": {"slow", `{"message":` + messageJSON("n", "write", "") +
			`,"configuration":{"taskPushNotificationConfig":{"url":"https://example.com"}}}`, without(call.ManageWebhooks), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			s.send(t, "m", tc.work)
			before := len(s.world.Calls())
			n := s.call(t, "SendMessage", tc.params, "Authorization", limitedTo(tc.has...))
			if !tc.refused {
				if n.has("error") {
					t.Errorf("refused: %v", n)
				}
				return
			}
			if !strings.HasPrefix(wantCode(t, n, "-32000"), "Permission denied") || n.at("error", "data", "0", "reason").String() != "PERMISSION_DENIED" {
				t.Errorf("fault: %v", n)
			}
			if calls := s.world.Calls()[before:]; len(calls) != 0 {
				t.Errorf("the engine was called: %+v", calls)
			}
		})
	}
}

// A caller who may write to work and not read it gets no contents of it by writing, neither by a
// note to a task nor by a message in its context.
func TestScopes_sendReadsNothing(t *testing.T) {
	const create, respond = call.CreateRuns, call.RespondApprovals
	for name, params := range map[string]string{
		"a note":                  messageJSON("n", "faster", `,"taskId":"obj-`+u("m")+`"`),
		"a note to a plan task":   messageJSON("n", "faster", `,"taskId":"task-`+u("m")+`-1-0"`),
		"by metadata":             messageJSON("n", "faster", `,"metadata":{"opt/v1/taskId":"task-`+u("m")+`-1-0"}`),
		"in its context":          messageJSON("n", "faster", `,"contextId":"obj-`+u("m")+`"`),
		"all about the objective": messageJSON("n", "faster", `,"taskId":"obj-`+u("m")+`","metadata":{"opt/v1/historyScope":"objective"}`),
	} {
		s := newService(t)
		s.send(t, "m", "slow secret words")
		s.world.Stream("task-"+u("m")+"-1-0", opt.Chunk{Artifact: a2a.Artifact{ArtifactID: "a", Parts: []a2a.Part{a2a.TextPart("a secret result")}}})
		n := s.call(t, "SendMessage", `{"message":`+params+`,"configuration":{"returnImmediately":true}}`, "Authorization", limitedTo(create, respond))
		if n.has("error") || n.at("result", "task", "id").String() == "" || n.at("result", "task", "status", "state").String() == "" {
			t.Errorf("%s: %v", name, n)
		}
		if text := fmt.Sprint(n); strings.Contains(text, "secret") || strings.Contains(text, "faster") {
			t.Errorf("%s: the answer has contents: %s", name, text)
		}
		w := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":`+strings.Replace(params, `"n"`, `"n2"`, 1)+`}}`,
			"Authorization", limitedTo(create, respond), "A2A-Version", "1.0")
		wantForbidden(t, name+" as a stream", w)
		if n := s.call(t, "SendMessage", `{"message":`+strings.Replace(params, `"n"`, `"n3"`, 1)+`,"configuration":{"returnImmediately":true}}`); !strings.Contains(fmt.Sprint(n), "secret") && name != "in its context" {
			t.Errorf("%s: a caller who may read gets no contents: %v", name, n)
		}
	}
}

// Neither does it by a change, or by one that changes nothing.
func TestScopes_changesReadNothing(t *testing.T) {
	objective, plan, task := "obj-"+u("m"), "plan-"+u("m")+"-1", "task-"+u("m")+"-1-0"
	for name, tc := range map[string]struct{ method, params string }{
		"nothing about an objective": {"objectives/update", `{"id":"` + objective + `"}`},
		"a description":              {"objectives/update", `{"id":"` + objective + `","description":"new"}`},
		"a replan":                   {"objectives/replan", `{"id":"` + objective + `","reason":"x"}`},
		"nothing about a plan":       {"plans/update", `{"id":"` + plan + `"}`},
		"more tasks":                 {"plans/addTasks", `{"id":"` + plan + `","tasks":[{"name":"More"}]}`},
		"the state that a task has":  {"tasks/updateStatus", `{"id":"` + task + `","status":"working"}`},
		"the end of a task":          {"tasks/updateStatus", `{"id":"` + task + `","status":"completed"}`},
		"a cancel":                   {"CancelTask", `{"id":"` + objective + `","historyLength":10}`},
	} {
		s := newService(t)
		s.send(t, "m", "slow secret words")
		s.world.Stream(task, opt.Chunk{Artifact: a2a.Artifact{ArtifactID: "a", Parts: []a2a.Part{a2a.TextPart("a secret result")}}})
		n := s.call(t, tc.method, tc.params, "Authorization", limitedTo(without(call.ReadRuns)...))
		if text := fmt.Sprint(n); n.has("error") || strings.Contains(text, "secret") || !strings.Contains(text, u("m")) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// Mistakes in an answer, and who was faster, are for callers who may answer.
func TestScopes_answersOfOthers(t *testing.T) {
	for name, tc := range map[string]struct{ work, message string }{
		"a closed gate":              {"approve", `,"taskId":"task-` + u("m") + `-1-0","parts":[{"data":{"action":"accept"}}]`},
		"a word for a closed gate":   {"approve", `,"taskId":"obj-` + u("m") + `","parts":[{"text":"accept"}]`},
		"an action that is none":     {"clarify", `,"taskId":"obj-` + u("m") + `","parts":[{"data":{"action":"accept"}}]`},
		"a question that is none":    {"clarify", `,"taskId":"obj-` + u("m") + `","parts":[{"data":{"answers":[{"id":"x","answer":"y"}]}}]`},
		"an answer without its text": {"clarify", `,"taskId":"obj-` + u("m") + `","parts":[{"data":{"other":1}}]`},
	} {
		s := newService(t)
		s.send(t, "m", tc.work)
		if tc.work == "approve" {
			s.call(t, "SendMessage", `{"message":{"messageId":"r","role":"ROLE_USER","taskId":"obj-`+u("m")+`","parts":[{"data":{"action":"accept","feedback":"secret"}}]}}`, "Authorization", "Bearer acme/bob")
		}
		n := s.call(t, "SendMessage", `{"message":{"messageId":"n","role":"ROLE_USER"`+tc.message+`}}`, "Authorization", limitedTo(without(call.RespondApprovals, call.ReadRuns)...))
		if text := fmt.Sprint(n); !n.has("error") || strings.Contains(text, "bob") || strings.Contains(text, "audience") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// A change of the extension needs the scopes of its effects.
func TestScopes_changes(t *testing.T) {
	const create, cancel, respond = call.CreateRuns, call.CancelRuns, call.RespondApprovals
	for name, tc := range map[string]struct {
		method, params string
		needs          []call.Scope
	}{
		"rename":            {"objectives/update", `{"id":"` + objectiveID + `","name":"X"}`, []call.Scope{create}},
		"start":             {"objectives/update", `{"id":"` + objectiveID + `","status":"working"}`, []call.Scope{create}},
		"cancel":            {"objectives/update", `{"id":"` + objectiveID + `","status":"canceled"}`, []call.Scope{cancel}},
		"cancel and rename": {"objectives/update", `{"id":"` + objectiveID + `","status":"canceled","name":"X"}`, []call.Scope{cancel, create}},
		"complete":          {"objectives/update", `{"id":"` + objectiveID + `","status":"completed"}`, []call.Scope{respond}},
		"replan":            {"objectives/replan", `{"id":"` + objectiveID + `","reason":"x"}`, []call.Scope{create, cancel}},
		"fork":              {"objectives/fork", `{"id":"` + objectiveID + `"}`, []call.Scope{create, call.ReadRuns}},
		"skip":              {"plans/update", `{"id":"` + planID + `","status":"skipped"}`, []call.Scope{cancel}},
		"complete a plan":   {"plans/update", `{"id":"` + planID + `","status":"completed"}`, []call.Scope{respond}},
		"work by hand":      {"tasks/updateStatus", `{"id":"` + taskID + `","status":"working"}`, []call.Scope{create}},
		"complete a task":   {"tasks/updateStatus", `{"id":"` + taskID + `","status":"completed"}`, []call.Scope{respond}},
		"cancel a task":     {"tasks/updateStatus", `{"id":"` + taskID + `","status":"canceled"}`, []call.Scope{cancel}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			s.have(t)
			for _, missing := range tc.needs {
				s.unchanged(t, func() {
					n := s.call(t, tc.method, tc.params, "Authorization", limitedTo(without(missing)...))
					wantCode(t, n, "-32000")
				})
			}
			n := s.call(t, tc.method, tc.params, "Authorization", limitedTo(tc.needs...))
			if n.at("error", "code").String() == "-32000" {
				t.Errorf("refused with %v: %v", tc.needs, n)
			}
		})
	}
}

// A task that waits for a person is not moved by a caller who may not answer it.
func TestScopes_waitingTask(t *testing.T) {
	s := newService(t)
	s.send(t, "m", "approve")
	move := `{"id":"task-` + u("m") + `-1-0","status":"working"}`
	wantCode(t, s.call(t, "tasks/updateStatus", move, "Authorization", limitedTo(call.CreateRuns)), "-32000")
	if n := s.call(t, "tasks/updateStatus", move, "Authorization", limitedTo(call.CreateRuns, call.RespondApprovals)); n.has("error") {
		t.Errorf("refused: %v", n)
	}
}

// No one gets past an approval by changes of the plans around it who may not answer there.
func TestScopes_plansAroundAnApproval(t *testing.T) {
	s := newServiceIn(t, func(c *worldConfig) {
		c.Planner = func(opt.Objective, *a2a.Message) (servicetest.Made, bool) {
			return servicetest.Made{Plans: []opt.PlanSpec{
				{Name: "Check", Tasks: []opt.TaskSpec{{Name: "Approve", Ask: approval()}}}, {Name: "Publish", Tasks: []opt.TaskSpec{{Name: "Publish"}}},
			}}, true
		}
	})
	s.send(t, "m", "approve")
	check, publish := "plan-"+u("m")+"-1", "plan-"+u("m")+"-2"
	for _, tc := range []struct{ params, reason string }{
		{`{"id":"` + publish + `","dependencies":[]}`, "people are asked"},
		{`{"id":"` + publish + `","status":"working"}`, "Invalid status transition"},
		{`{"id":"` + check + `","metadata":{"opt/v1/optional":true}}`, "people are asked"},
		{`{"id":"` + check + `","status":"skipped"}`, "approvals:respond"},
	} {
		n := s.call(t, "plans/update", tc.params, "Authorization", limitedTo(without(call.RespondApprovals)...))
		if !n.has("error") || !strings.Contains(n.String(), tc.reason) {
			t.Errorf("%s: %v", tc.params, n)
		}
	}
	if n := s.call(t, "plans/update", `{"id":"`+check+`","status":"skipped"}`); n.has("error") {
		t.Errorf("by one who may answer: %v", n)
	}
}

// Only a caller who may answer can link a task that asks a person: the end of the
// linked task replaces the answer.
func TestScopes_linkedApproval(t *testing.T) {
	s := newServiceIn(t, func(c *worldConfig) {
		c.Planner = func(opt.Objective, *a2a.Message) (servicetest.Made, bool) {
			tasks := []opt.TaskSpec{{Name: "Write"}, {Name: "Approve", Ask: approval()}, {Name: "Publish"}}
			return servicetest.Made{Plans: []opt.PlanSpec{{Name: "Plan", Tasks: tasks}}}, true
		}
	})
	s.send(t, "m", "slow")
	task := "task-" + u("m") + "-1-"
	link := func(task string, scopes ...call.Scope) node {
		return s.call(t, "tasks/link", `{"id":"`+task+`","a2aTaskId":"task-of-another-server"}`, "Authorization", limitedTo(scopes...))
	}
	s.unchanged(t, func() {
		if got := wantCode(t, link(task+"1", without(call.RespondApprovals)...), "-32000"); !strings.Contains(got, "approvals:respond") {
			t.Errorf("refused with %q", got)
		}
	})
	if n := link(task+"1", call.CreateRuns, call.RespondApprovals); n.has("error") {
		t.Errorf("the approval: %v", n)
	}
	if n := link(task+"2", call.CreateRuns); n.has("error") {
		t.Errorf("another task: %v", n)
	}
}

// Without runs:read, the answer to a change still shows the link, the dependencies, and a pause.
func TestScopes_changesShowThemselves(t *testing.T) {
	s := newService(t)
	o := s.must(t, "objectives/create", `{"name":"x"}`).at("objective", "id").String()
	p := s.must(t, "plans/create", `{"objectiveId":"`+o+`","name":"p","tasks":[{"name":"a"},{"name":"b","dependencies":["task-0"]}]}`)
	a, b := p.at("plan", "tasks", "0", "id").String(), p.at("plan", "tasks", "1", "id").String()
	change := func(operation, params string) node {
		return s.call(t, operation, params, "Authorization", limitedTo(without(call.ReadRuns)...)).at("result")
	}
	linked := change("tasks/link", `{"id":"`+b+`","a2aTaskId":"other-1"}`)
	test.Is(t, "the linked task", "other-1", linked.at("task", "a2aTaskId").String())
	test.Is(t, "what it waits for", a, linked.at("task", "dependencies", "0").String())
	s.must(t, "objectives/update", `{"id":"`+o+`","status":"working"}`)
	paused := change("objectives/update", `{"id":"`+o+`","status":"blocked"}`)
	test.Is(t, "the objective is paused", "true", paused.at("objective", "metadata", "longhaul/v1/paused").String())
}
