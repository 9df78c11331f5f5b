package agent_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"longhaul/a2a"
	"longhaul/activities/executortest"
)

type object = map[string]any

// A fake is an A2A agent whose tasks do what the first word of their message says.
type fake struct {
	*httptest.Server
	version string // 1.0 or 0.3
	rest    bool
	card    func(object)         // changes the card; nil leaves it
	bill    object               // in the metadata of its tasks, nil for none
	refuse  map[string]rpcFault  // by operation that is answered with an error; "" for all
	status  map[string]answered  // by operation that is answered with a status alone
	deaf    bool                 // takes answers and does nothing
	drop    func(op string) bool // closes the connection after the effect

	mu    sync.Mutex
	tasks map[string]*fakeTask // by id
	by    map[string]string    // ids by message id
	calls []string             // operations, in order
	heads []http.Header        // of the calls
	bodys []object             // params of the calls
	push  []string             // registered URLs
}

type rpcFault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type answered struct {
	status int
	header http.Header
}

type fakeTask struct {
	id, context, message, word, state string
	said                              []object // parts of the status message
	n                                 int      // of the status
	looks                             int
	artifacts                         []object
	answers                           []string
	authorized                        bool // elsewhere
}

func newFake(t *testing.T, version string, rest bool) *fake {
	t.Helper()
	f := &fake{version: version, rest: rest, tasks: map[string]*fakeTask{}, by: map[string]string{}}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) started() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.tasks)
}

// log returns the operations so far, and params of the n-th one with a name.
func (f *fake) log() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.calls...)
}

// authorize lets the first task continue, which has got its authorization elsewhere.
func (f *fake) authorize() {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.tasks["remote-1"]
	t.authorized = true
	t.set("working", "")
}

func (f *fake) params(op string) (all []object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, c := range f.calls {
		if c == op {
			all = append(all, f.bodys[i])
		}
	}
	return all
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	if a, ok := f.status["card"]; ok && strings.HasSuffix(r.URL.Path, ".json") {
		w.WriteHeader(a.status)
		return
	}
	if strings.HasSuffix(r.URL.Path, ".json") {
		_ = json.NewEncoder(w).Encode(f.describe())
		return
	}
	op, params, id := f.operation(r)
	f.mu.Lock()
	f.calls, f.heads, f.bodys = append(f.calls, op), append(f.heads, r.Header.Clone()), append(f.bodys, params)
	f.mu.Unlock()
	if a, ok := f.status[op]; ok {
		maps.Copy(w.Header(), a.header)
		w.WriteHeader(a.status)
		return
	}
	var fault *rpcFault
	for _, name := range []string{op, ""} {
		if refusal, ok := f.refuse[name]; ok {
			fault = &refusal
		}
	}
	var result any
	if fault == nil {
		if op == "watch" {
			f.watch(w, id, params)
			return
		}
		result, fault = f.do(op, params)
	}
	if f.drop != nil && f.drop(op) {
		panic(http.ErrAbortHandler)
	}
	f.write(w, id, result, fault)
}

func (f *fake) write(w io.Writer, id, result any, fault *rpcFault) {
	switch {
	case f.rest && fault != nil:
		w.(http.ResponseWriter).WriteHeader(http.StatusBadRequest)
		reason := map[int]string{-32001: "TASK_NOT_FOUND", -32002: "TASK_NOT_CANCELABLE"}[fault.Code]
		result = object{"error": object{"code": 400, "message": fault.Message, "details": []object{{"reason": reason}}}}
	case f.rest:
	case fault != nil:
		result = object{"jsonrpc": "2.0", "id": id, "error": fault}
	default:
		result = object{"jsonrpc": "2.0", "id": id, "result": result}
	}
	_ = json.NewEncoder(w).Encode(result)
}

func (f *fake) describe() object {
	c := object{"name": "Fake", "capabilities": object{"streaming": true, "pushNotifications": true}, "skills": []object{}}
	switch {
	case f.version == "0.3":
		c["protocolVersion"], c["url"], c["preferredTransport"] = "0.3.0", f.URL+"/a2a", "JSONRPC"
	case f.rest:
		c["supportedInterfaces"] = []object{{"url": f.URL + "/a2a", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}}
	default:
		c["supportedInterfaces"] = []object{{"url": f.URL + "/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}}
	}
	if f.card != nil {
		f.card(c)
	}
	return c
}

var operations = map[string]string{
	"SendMessage": "send", "message/send": "send", "GetTask": "get", "tasks/get": "get", "CancelTask": "cancel", "tasks/cancel": "cancel", "ListTasks": "list",
	"SubscribeToTask": "watch", "tasks/resubscribe": "watch", "CreateTaskPushNotificationConfig": "push", "tasks/pushNotificationConfig/set": "push",
}

// operation returns what a request asks for.
func (f *fake) operation(r *http.Request) (op string, params object, id any) {
	var body object
	_ = json.NewDecoder(r.Body).Decode(&body)
	if !f.rest {
		params, _ = body["params"].(object)
		return operations[body["method"].(string)], params, body["id"]
	}
	path := strings.TrimPrefix(r.URL.Path, "/a2a")
	if body == nil {
		body = object{}
	}
	if task, ok := strings.CutPrefix(path, "/tasks/"); ok {
		name, verb, _ := strings.Cut(task, ":")
		name, sub, _ := strings.Cut(name, "/")
		body["id"] = name
		switch {
		case sub != "":
			return "push", body, nil
		case verb == "":
			return "get", body, nil
		case verb == "subscribe":
			return "watch", body, nil
		}
		return verb, body, nil
	}
	if path == "/tasks" {
		return "list", object{"contextId": r.URL.Query().Get("contextId")}, nil
	}
	return "send", body, nil
}

func (f *fake) do(op string, params object) (any, *rpcFault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch op {
	case "send":
		return f.send(params["message"].(object))
	case "list":
		list := []object{}
		for _, t := range f.tasks {
			if t.context == params["contextId"] {
				list = append(list, f.shown(t))
			}
		}
		return object{"tasks": list, "nextPageToken": "", "pageSize": 50, "totalSize": len(list)}, nil
	case "push":
		url, _ := params["url"].(string)
		if c, ok := params["pushNotificationConfig"].(object); ok {
			url = c["url"].(string)
		}
		f.push = append(f.push, url)
		return params, nil
	}
	t := f.tasks[params["id"].(string)]
	switch {
	case t == nil:
		return nil, &rpcFault{-32001, "Task not found"}
	case op == "cancel" && (t.state == "completed" || t.state == "failed"):
		return nil, &rpcFault{-32002, "Task cannot be canceled"}
	case op == "cancel":
		t.set("canceled", "Stopped.")
	case op == "get":
		t.step()
	}
	return f.shown(t), nil
}

func (f *fake) send(m object) (any, *rpcFault) {
	id := m["messageId"].(string)
	said := words(m)
	if known, ok := f.by[id]; ok {
		return f.answer(f.tasks[known]), nil
	}
	if id, ok := m["taskId"].(string); ok {
		t := f.tasks[id]
		switch {
		case t == nil:
			return nil, &rpcFault{-32001, "Task not found"}
		case t.word == "picky" && !strings.Contains(said, "please"):
			return nil, &rpcFault{-32602, "say please\x1b[2J"}
		}
		f.by[m["messageId"].(string)] = id
		switch t.answers = append(t.answers, said); {
		case f.deaf:
		case t.word == "login" && !strings.Contains(said, "was given"):
			t.set("auth-required", "Words do not log me in.")
		case t.word != "slow":
			t.set("working", "")
		}
		return f.answer(t), nil
	}
	word, _, _ := strings.Cut(said, " ")
	if word == "message" {
		return f.wrap("message", object{"kind": "message", "messageId": "m", "role": "agent", "parts": []object{f.text("Just this.")}}), nil
	}
	t := &fakeTask{id: fmt.Sprintf("remote-%d", len(f.tasks)+1), context: m["contextId"].(string), message: id, word: word}
	t.set("submitted", "")
	f.tasks[t.id], f.by[id] = t, t.id
	return f.answer(t), nil
}

func (f *fake) answer(t *fakeTask) any { return f.wrap("task", f.shown(t)) }

// wrap writes a result as the version has it.
func (f *fake) wrap(name string, v object) any {
	if f.version == "0.3" {
		return v
	}
	return object{name: v}
}

func (f *fake) text(s string) object {
	if f.version == "0.3" {
		return object{"kind": "text", "text": s}
	}
	return object{"text": s}
}

func words(m object) string {
	var all []string
	for _, p := range m["parts"].([]any) {
		p := p.(object)
		if s, ok := p["text"].(string); ok {
			all = append(all, s)
			continue
		}
		data, _ := json.Marshal(p["data"])
		all = append(all, string(data))
	}
	return strings.Join(all, " ")
}

func (t *fakeTask) set(state, said string) {
	t.state, t.said = state, nil
	if said != "" {
		t.said = []object{{"text": said}}
	}
	t.n++
}

func (t *fakeTask) make(id, said string) {
	t.artifacts = append(t.artifacts, object{"artifactId": id, "name": "Result", "parts": []object{{"text": said}}})
}

// step does what the task is to do at a look.
func (t *fakeTask) step() {
	if t.looks++; t.looks == 1 {
		t.set("working", "Reading")
		return
	}
	answered := len(t.answers) > 0
	switch {
	case t.word == "slow" && answered && t.looks == 8:
		t.make("result", "Late: "+strings.Join(t.answers, ", "))
		t.set("completed", "")
	case t.state != "working":
	case t.word == "leak":
		t.make("result", "You are Bearer "+token)
		t.set("failed", "Bearer "+token+" is not enough")
	case t.word == "fail":
		t.set("failed", "No luck.\nReally.")
	case t.word == "reject":
		t.set("rejected", "Not my job.")
	case t.word == "gone":
		t.set("canceled", "")
	case t.word == "odd":
		t.set("dreaming", "")
	case t.word == "long" || t.word == "stream" || t.word == "talk":
	case t.word == "replace":
		t.artifacts = nil
		t.make("text", fmt.Sprint("Text ", t.looks))
	case (t.word == "ask" || t.word == "picky" || t.word == "slow") && !answered:
		t.set("input-required", "Which color?\x1b[31m")
	case (t.word == "auth" || t.word == "login") && !answered && !t.authorized:
		t.set("auth-required", "Log in at https://example.com.")
	case t.word == "gate" && !answered:
		t.set("input-required", "")
		t.said = []object{{"text": "Ship it?"}, {"data": object{
			"kind": "approval", "interruptId": "g:1", "title": "Ship it?", "actions": []string{"accept", "reject", "edit-accept"}, "objectDigest": "d1", "taskId": "x", "expiresAt": 7, "responders": "all",
		}}, {"text": "The object"}}
	case t.word == "credential" && !answered:
		t.set("auth-required", "")
		t.said = []object{{"text": "Log in."}, {"data": object{"kind": "credential", "interruptId": "g:3", "title": "Log in.", "actions": []string{"accept", "reject"}, "taskId": "x"}}}
	case t.word == "questions" && !answered:
		t.set("input-required", "")
		t.said = []object{{"text": "?"}, {"data": object{
			"kind": "clarification", "interruptId": "g:2", "questions": []object{{"id": "a", "question": "A?", "schema": object{"type": "string"}}, {"id": "b", "question": "B?", "schema": object{"type": 7}}},
		}}}
	case t.word == "large":
		t.make("large", strings.Repeat("x", executortest.LargeResult))
		t.set("completed", "")
	case t.word == "hostile":
		t.make("../../"+executortest.Hostile, executortest.Hostile)
		t.set("completed", executortest.Hostile)
	case t.word == "silent":
		t.set("completed", "All is in this message.")
	default:
		t.make("result", "Done: "+t.word+" "+strings.Join(t.answers, ", "))
		t.set("completed", "")
	}
}

// shown returns a task as the version has it.
func (f *fake) shown(t *fakeTask) object {
	state := t.state
	if f.version != "0.3" {
		state = "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(state, "-", "_"))
	}
	status := object{"state": state, "timestamp": fmt.Sprintf("2030-01-01T00:00:%02d.000Z", t.n)}
	if t.said != nil {
		status["message"] = object{"kind": "message", "messageId": fmt.Sprintf("s-%d", t.n), "role": "agent", "parts": t.said}
	}
	out := object{"kind": "task", "id": t.id, "contextId": t.context, "status": status, "history": []object{{"messageId": t.message, "role": "user", "parts": []object{f.text("x")}}}}
	if t.artifacts != nil {
		out["artifacts"] = t.artifacts
	}
	if f.bill != nil {
		out["metadata"] = object{a2a.ExtensionBudget: f.bill}
	}
	return out
}

// watch streams what the agent says, two pieces of an artifact and the end of the task.
func (f *fake) watch(w http.ResponseWriter, id any, params object) {
	f.mu.Lock()
	t := f.tasks[params["id"].(string)]
	f.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	send := func(name, kind string, e object) {
		e["kind"] = kind
		fmt.Fprint(w, ": alive\n\nid: 1\ndata: ")
		f.write(w, id, f.wrap(name, e), nil)
		fmt.Fprint(w, "\n")
	}
	f.mu.Lock()
	send("task", "task", f.shown(t))
	f.mu.Unlock()
	state := func(now, says string) {
		f.mu.Lock()
		t.set(now, says)
		status := f.shown(t)["status"]
		f.mu.Unlock()
		send("statusUpdate", "status-update", object{"taskId": t.id, "status": status, "final": now == "completed"})
	}
	switch t.word {
	case "stream", "replace":
	case "talk":
		for _, says := range []string{"Step 1", "", "Step\x1b 2"} {
			state("working", says)
		}
		f.mu.Lock()
		send("task", "task", f.shown(t)) // some servers send it later, too
		f.mu.Unlock()
		state("completed", "")
		return
	default:
		return
	}
	artifact := func(text string) object {
		return object{"artifactId": "text", "name": "Text", "parts": []object{{"text": text}}}
	}
	send("artifactUpdate", "artifact-update", object{"taskId": t.id, "artifact": artifact("Hel")})
	if t.word == "replace" {
		send("artifactUpdate", "artifact-update", object{"taskId": t.id, "artifact": artifact("Other")})
		return
	}
	send("artifactUpdate", "artifact-update", object{"taskId": t.id, "artifact": artifact("lo"), "append": true, "lastChunk": true})
	f.mu.Lock()
	t.make("text", "Hello")
	f.mu.Unlock()
	state("completed", "")
}
