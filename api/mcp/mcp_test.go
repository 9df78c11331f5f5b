package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"longhaul/api/call"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"longhaul/a2a"
	"longhaul/api/mcp"
	"longhaul/internal/test"
	"longhaul/opt"
)

const skill = "write_text"

func approval() opt.Gate {
	return opt.Gate{
		Kind: opt.Approval, Title: "Publish it?", Actions: []opt.Action{opt.Accept, opt.Reject, opt.Refine, opt.Ask, opt.EditAccept}, Object: []a2a.Part{a2a.TextPart("The draft")},
		Responders: &opt.Responders{NotRequester: true},
	}
}

func mine() opt.Gate {
	g := approval()
	g.Responders = nil
	return g
}

func has(t *testing.T, what, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s: there is no %q in\n%s", what, w, text)
		}
	}
}

// Each skill of the card is a tool, beside those of the door, for hosts of all versions. The list is for the
// caller alone.
func TestDoor_tools(t *testing.T) {
	s := begin(t, nil)
	for _, version := range []string{"", "2025-11-25", "2025-03-26"} {
		list, err := s.host("acme/carl", version, nil).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		test.Is(t, fmt.Sprintf("%s: caches may keep the list for", version), "private", list.CacheScope)
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
			if tool.Name == skill {
				raw, _ := json.Marshal(tool)
				has(t, "the tool of a skill", string(raw), `"Write"`, `Writes\nExample: A song`, `"required":["message"]`)
			}
		}
		if want := []string{"answer", "cancel", "get", "inbox", "skill_inbox", skill}; !slices.Equal(names, want) {
			t.Errorf("%s: the tools are %v, want %v", version, names, want)
		}
	}
}

// Work that takes longer than the call returns a handle; the host shows its progress, gets its end, and
// cancels it. A repeat with the same key starts nothing.
func TestDoor_handle(t *testing.T) {
	s := begin(t, nil)
	var mu sync.Mutex
	var progress []string
	h := s.host("acme/carl", "", &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		mu.Lock()
		defer mu.Unlock()
		progress = append(progress, r.Params.Message)
	}})
	args := map[string]any{"message": "Write", "key": "k", "data": map[string]any{"n": 1}}
	first := s.tool(h, skill, args)
	has(t, "the handle", first.text, "The work continues", "get, with taskId obj-", "https://agent.example.com/console/objectives/obj-")
	if first.handle.TaskID == "" || first.handle.Final || first.IsError {
		t.Errorf("the handle is %+v", first.handle)
	}
	mu.Lock()
	if len(progress) == 0 || !strings.HasPrefix(progress[0], "working") {
		t.Errorf("the progress is %q", progress)
	}
	mu.Unlock()
	if again := s.tool(h, skill, args); again.handle != first.handle || len(s.world.Openings()) != 1 {
		t.Errorf("a repeat: %+v, %d objectives", again.handle, len(s.world.Openings()))
	}
	m := s.world.Openings()[0].Message
	if k, _ := m.Metadata.String(opt.KeySkill); k != "write text" || len(m.Parts) != 2 {
		t.Errorf("the message is %+v", m)
	}
	id := map[string]any{"taskId": first.handle.TaskID, "wait": true}
	if now := s.tool(h, "get", id); now.handle.State != "working" {
		t.Errorf("get: %+v", now.handle)
	}
	if gone := s.tool(h, "cancel", map[string]any{"taskId": first.handle.TaskID}); gone.handle.State != "canceled" || gone.IsError {
		t.Errorf("cancel: %+v", gone.handle)
	}
	if wrong := s.tool(h, "get", map[string]any{"taskId": "obj-x"}); !wrong.IsError {
		t.Errorf("an unknown task: %s", wrong.text)
	}
}

// A host without forms gets the question; it is answered by those who may, once, and who comes late sees
// who was first.
func TestDoor_answer(t *testing.T) {
	s := begin(t, []opt.Gate{approval()})
	carl, ann, bob := s.host("acme/carl", "2025-11-25", nil), s.host("acme/ann", "", nil), s.host("acme/bob", "", nil)
	asked := s.tool(carl, skill, map[string]any{"message": "Write"})
	has(t, "the question", asked.text, "Publish it?", "The draft", "requested by carl", "objectDigest: sha256:", "waits for a person")
	list := s.tool(ann, "inbox", nil)
	has(t, "the inbox", list.text, "1 open", "Publish it?")
	if own := s.tool(carl, "inbox", nil); !strings.Contains(own.text, "0 open") {
		t.Errorf("the requester's inbox: %s", own.text)
	}
	gate := opt.GateID("task-"+strings.TrimPrefix(asked.handle.TaskID, "obj-")+"-1-0", 1)
	answer := func(action, digest string) map[string]any {
		return map[string]any{"interruptId": gate, "action": action, "objectDigest": digest}
	}
	_, digest, _ := strings.Cut(asked.text, "objectDigest: ")
	digest, _, _ = strings.Cut(digest, "\n")
	for name, tc := range map[string]struct {
		host *sdk.ClientSession
		args map[string]any
		want string
	}{
		"requester":    {carl, answer("accept", digest), "others decide here"},
		"other object": {ann, answer("accept", "sha256:00"), "objectDigest is not that"},
		"other tenant": {s.host("rival/ann", "", nil), answer("accept", digest), "not found"},
		"no answer":    {ann, map[string]any{"interruptId": gate}, "action"},
	} {
		if out := s.tool(tc.host, "answer", tc.args); !out.IsError || !strings.Contains(out.text, tc.want) {
			t.Errorf("%s: %s", name, out.text)
		}
	}
	if out := s.tool(ann, "answer", answer("accept", digest)); out.IsError || !strings.Contains(out.text, "was recorded") {
		t.Errorf("the answer: %s", out.text)
	}
	if out := s.tool(bob, "answer", answer("reject", digest)); !out.IsError || !strings.Contains(out.text, "Accepted by ann") {
		t.Errorf("a late answer: %s", out.text)
	}
	if out := s.tool(carl, "get", map[string]any{"taskId": asked.handle.TaskID}); !out.handle.Final || !strings.Contains(out.text, "accept  by ann") {
		t.Errorf("at the end: %s", out.text)
	}
}

// A host with forms asks the person, within one call of the tool.
func TestDoor_forms(t *testing.T) {
	questions := opt.Gate{Kind: opt.Clarification, Title: "Details", Questions: []opt.Question{
		{ID: "n", Question: "How many?", Schema: json.RawMessage(`{"type":"integer","minimum":1}`)},
		{ID: "list", Question: "Which?", Schema: json.RawMessage(`{"type":"array"}`)},
		{ID: "tone", Question: "Tone?", Schema: json.RawMessage(`{"enum":["plain","formal"]}`)},
	}}
	s := begin(t, []opt.Gate{mine(), questions})
	var seen []string
	h := s.host("acme/carl", "", &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		raw, _ := json.Marshal(r.Params)
		seen = append(seen, string(raw))
		if strings.Contains(r.Params.Message, "Publish") {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"action": "accept", "feedback": "Good"}}, nil
		}
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"n": 3, "list": `["a"]`, "tone": "plain"}}, nil
	}})
	out := s.tool(h, skill, map[string]any{"message": "Write"})
	has(t, "the result", out.text, "accept Good by carl", "n=3", `list=["a"]`, `tone="plain"`)
	if len(seen) != 2 {
		t.Fatalf("the person was asked %q", seen)
	}
	has(t, "the form of the approval", seen[0], `"mode":"form"`, "The draft", `"enum":["accept","reject","refine","ask"]`)
	has(t, "the form of the questions", seen[1], `"type":"integer"`, `"minimum":1`, `"enum":["plain","formal"]`, `"required":["n","list","tone"]`)
}

// A declined question decides nothing and is not asked again in the same call. A person who does not
// answer at the host may do so elsewhere.
func TestDoor_declined(t *testing.T) {
	s := begin(t, []opt.Gate{mine()})
	n := 0
	h := s.host("acme/carl", "", &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		n++
		return &sdk.ElicitResult{Action: "decline"}, nil
	}})
	if out := s.tool(h, skill, map[string]any{"message": "Write"}); out.handle.State != "input-required" || n != 1 {
		t.Errorf("asked %d times: %s", n, out.text)
	}
}

// What a form cannot show is looked at in a browser.
func TestDoor_url(t *testing.T) {
	large := mine()
	large.Object = []a2a.Part{a2a.TextPart(strings.Repeat("long ", 2000))}
	s := begin(t, []opt.Gate{large})
	var modes []string
	handler := func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		raw, _ := json.Marshal(r.Params.RequestedSchema)
		modes = append(modes, r.Params.Mode+" "+r.Params.URL+string(raw))
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"action": "reject"}}, nil
	}
	both := s.host("acme/carl", "", &sdk.ClientOptions{ElicitationHandler: handler, Capabilities: &sdk.ClientCapabilities{
		Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}},
	}})
	s.tool(both, skill, map[string]any{"message": "Write"})
	has(t, "with pages", strings.Join(modes, "\n"), "url https://agent.example.com/console/inbox/task-")
	modes = nil
	s.tool(s.host("acme/carl", "", &sdk.ClientOptions{ElicitationHandler: handler}), skill, map[string]any{"message": "Write, again"})
	if len(modes) != 1 || strings.Contains(modes[0], `"accept"`) || !strings.Contains(modes[0], `"reject"`) {
		t.Errorf("a form accepts what it does not show: %q", modes)
	}
}

// A host that knows tasks gets one, is asked through it, and gets its result.
func TestDoor_tasks(t *testing.T) {
	s := begin(t, []opt.Gate{mine()})
	made := s.post("acme/carl", "tools/call", map[string]any{"name": skill, "arguments": map[string]any{"message": "Write"}})
	id := map[string]any{"taskId": made.Result.TaskID}
	if made.Result.ResultType != "task" || made.Result.TaskID == "" || made.Result.CreatedAt == "" {
		t.Fatalf("the task is %+v", made)
	}
	now := s.post("acme/carl", "tasks/get", id)
	if now.Result.Status != "input_required" || now.Result.ResultType != "complete" || len(now.Result.InputRequests) != 1 {
		t.Fatalf("the task is %+v", now)
	}
	if theirs := s.post("rival/carl", "tasks/get", map[string]any{"taskId": made.Result.TaskID}); theirs.Error.Message == "" {
		t.Errorf("another tenant reads %+v", theirs)
	}
	var key string
	for k, r := range now.Result.InputRequests {
		key = k
		has(t, "the question", r.Method+r.Params.Mode+r.Params.Message, "elicitation/create", "form", "Publish it?")
	}
	update := func(key, action string) map[string]any {
		return map[string]any{"taskId": made.Result.TaskID, "inputResponses": map[string]any{key: map[string]any{"action": "accept", "content": map[string]any{"action": action}}}}
	}
	if out := s.post("acme/carl", "tasks/update", update("never|asked", "accept")); out.Error.Message != "" || out.Result.ResultType != "complete" {
		t.Errorf("an unknown key: %+v", out)
	}
	if out := s.post("acme/carl", "tasks/update", update(key, "accept")); out.Error.Message != "" || out.Result.ResultType != "complete" {
		t.Errorf("the answer: %+v", out)
	}
	if late := s.post("acme/ann", "tasks/update", update(key, "reject")); !strings.Contains(late.Error.Message, "Accepted by carl") {
		t.Errorf("a late answer: %+v", late)
	}
	end := s.post("acme/carl", "tasks/get", map[string]any{"taskId": made.Result.TaskID})
	if r := end.Result.Result; end.Result.Status != "completed" || r == nil || r.IsError || !strings.Contains(r.Content[0].Text, "accept  by carl") {
		t.Errorf("at the end: %+v", end)
	}
	if out := s.post("acme/carl", "tasks/cancel", map[string]any{"taskId": made.Result.TaskID}); out.Error.Message != "" {
		t.Errorf("cancel an ended task: %+v", out)
	}
}

// A task that a host cancels is cancelled.
func TestDoor_cancelTask(t *testing.T) {
	s := begin(t, nil)
	made := s.post("acme/carl", "tools/call", map[string]any{"name": skill, "arguments": map[string]any{"message": "Write"}})
	id := made.Result.TaskID
	if out := s.post("acme/carl", "tasks/cancel", map[string]any{"taskId": id}); out.Error.Message != "" {
		t.Errorf("cancel: %+v", out)
	}
	if now := s.post("acme/carl", "tasks/get", map[string]any{"taskId": id}); now.Result.Status != "cancelled" {
		t.Errorf("the task is %+v", now)
	}
}

// The methods of tasks are for hosts that declare them in the request.
func TestDoor_undeclared(t *testing.T) {
	s := begin(t, nil)
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"taskId":"x","inputResponses":{}}}`
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+mcp.Path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		res := test.Value((&http.Client{Transport: as("acme/carl")}).Do(r))(t)
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		has(t, method, string(text), `"code":-32021`, `"data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`)
	}
}

// Callers are those of the other doors. OAuth clients find where they get tokens.
func TestDoor_identity(t *testing.T) {
	s := begin(t, nil, func(cfg *mcp.Config) { cfg.Issuer = "https://id.example.com" })
	for _, tc := range []struct {
		caller, path string
		status       int
		want         string
	}{
		{"nobody", "/mcp", http.StatusUnauthorized, `resource_metadata="https://agent.example.com/.well-known/oauth-protected-resource/mcp"`},
		{"guest", "/mcp", http.StatusForbidden, ""},
		{"later", "/mcp", http.StatusServiceUnavailable, ""},
		{"nobody", "/.well-known/oauth-protected-resource/mcp", http.StatusOK, ""},
		{"nobody", "/.well-known/oauth-protected-resource", http.StatusOK, ""},
	} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+tc.path, nil)
		res := test.Value((&http.Client{Transport: as(tc.caller)}).Do(r))(t)
		var about struct {
			Resource string
			Servers  []string `json:"authorization_servers"`
		}
		_ = json.NewDecoder(res.Body).Decode(&about)
		_ = res.Body.Close()
		if res.StatusCode != tc.status || !strings.Contains(res.Header.Get("WWW-Authenticate"), tc.want) {
			t.Errorf("%s at %s: %d %v", tc.caller, tc.path, res.StatusCode, res.Header)
		}
		if tc.status == http.StatusOK && (about.Resource != "https://agent.example.com/mcp" || len(about.Servers) != 1) {
			t.Errorf("%s: %+v", tc.path, about)
		}
	}
	reader := s.host("acme/carl runs:read", "", nil)
	if out := s.tool(reader, skill, map[string]any{"message": "Write"}); !out.IsError || !strings.Contains(out.text, "Permission denied") || len(s.world.Openings()) != 0 {
		t.Errorf("without the scope: %s", out.text)
	}
}

// A body for which the server has no room is refused as a call too many.
func TestServe_busy(t *testing.T) {
	s := begin(t, nil)
	r := httptest.NewRequest(http.MethodPost, mcp.Path, iotest.ErrReader(call.TooMany(time.Second)))
	r.Header.Set("Authorization", "Bearer acme/carl")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	w := httptest.NewRecorder()
	s.Config.Handler.ServeHTTP(w, r)
	test.Is(t, "status", http.StatusTooManyRequests, w.Code)
	test.Is(t, "to be repeated after seconds", "1", w.Header().Get("Retry-After"))
}
