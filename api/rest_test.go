package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// rest sends a request of 1.0 over plain HTTP.
func (s *fixture) rest(t *testing.T, verb, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	return s.serve(t, verb, path, body, append([]string{"A2A-Version", "1.0"}, headers...)...)
}

// Both bindings return the same bytes.
func TestREST_sameAsRPC(t *testing.T) {
	s := newService(t)
	id := s.send(t, "m-1", "Write").at("id").String()
	asks := s.send(t, "m-2", "approve it").at("id").String()
	for _, headers := range [][]string{nil, {"A2A-Extensions", a2a.ExtensionOPT}} {
		for path, call := range map[string]string{
			"tasks/" + id:                        `"GetTask","params":{"id":"` + id + `"}`,
			"tasks/" + id + "?historyLength=0":   `"GetTask","params":{"id":"` + id + `","historyLength":0}`,
			"tasks/" + opt.TaskID(planOf(id), 0): `"GetTask","params":{"id":"` + opt.TaskID(planOf(id), 0) + `"}`,
			"tasks/" + asks:                      `"GetTask","params":{"id":"` + asks + `"}`,
			"tasks":                              `"ListTasks","params":{}`,
			"tasks?pageSize=1&includeArtifacts=true&historyLength=5": `"ListTasks","params":{"pageSize":1,"includeArtifacts":true,"historyLength":5}`,
			"tasks?status=3&contextId=" + id:                         `"ListTasks","params":{"status":"TASK_STATE_COMPLETED","contextId":"` + id + `"}`,
		} {
			rest := s.rest(t, "GET", "/a2a/rest/"+path, "", headers...)
			rpc := s.post(t, `{"jsonrpc":"2.0","id":1,"method":`+call+`}`, append(headers, "A2A-Version", "1.0")...)
			want := `{"jsonrpc":"2.0","id":1,"result":` + rest.Body.String() + `}`
			if diff := cmp.Diff(want, rpc.Body.String()); diff != "" || rest.Code != 200 {
				t.Errorf("%s: status %d (-plain +rpc):\n%s", path, rest.Code, diff)
			}
			if got, want := rest.Header().Get("A2A-Extensions"), rpc.Header().Get("A2A-Extensions"); got != want {
				t.Errorf("%s: extensions %q and %q", path, got, want)
			}
		}
	}
}

func planOf(objectiveID string) string { return opt.PlanID(objectiveID, 1) }

// Bad input is refused with a 4xx status, and neither the engine nor the journal
// is changed.
func TestREST_badInput(t *testing.T) {
	s := newService(t, func(c *config) { c.MaxBody = 1 << 20 })
	long := strings.Repeat("x", 65<<10)
	parts := strings.Repeat(`{"text":"x"},`, 100) + `{"text":"x"}`
	for _, tc := range []struct {
		verb, path, body string
		status           int
		where            string // field or reason
	}{
		{"POST", "message:send", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[` + parts + `]}}`, 400, "message.parts"},
		{"POST", "message:send", `{"message":` + messageJSON("m", "x", `,"metadata":{"k":"`+long+`"}`) + `}`, 400, "message.metadata"},
		{"POST", "message:send", `{"message":` + messageJSON("m", "x", "") + `,"metadata":{"k":"` + long + `"}}`, 400, "metadata"},
		{"POST", "message:send", `{"message":` + messageJSON("m", strings.Repeat("x", 1<<20), "") + `}`, 413, "INVALID_REQUEST"},
		{"POST", "message:send", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"raw":"aGk=","mediaType":"video/x"}]}}`, 400, "CONTENT_TYPE_NOT_SUPPORTED"},
		{"POST", "message:send", `{"message":` + messageJSON("m", "x", `,"taskId":"t"`) + `}`, 404, "TASK_NOT_FOUND"},
		{"POST", "message:send", `{"message":` + messageJSON("m", "x", "") + `,"configuration":{"taskPushNotificationConfig":{}}}`, 400, "PUSH_NOTIFICATION_NOT_SUPPORTED"},
		{"POST", "message:send", `{"message":` + messageJSON("m", "x", "") + `,"tenant":"globex"}`, 400, "tenant"},
		{"POST", "acme/message:send", `{"message":` + messageJSON("m", "x", "") + `,"tenant":"globex"}`, 400, "tenant"},
		{"POST", "message:send", `{"message":1}`, 400, "message"},
		{"POST", "message:stream", strings.Repeat("[", 200), 400, "PARSE_ERROR"},
		{"POST", "message:stream", "\xff", 400, "PARSE_ERROR"},
		{"POST", "tasks/x:cancel", `{"id":7}`, 400, "id"},
		{"POST", "tasks/x:cancel", `{"metadata":7}`, 400, "metadata"},
		{"POST", "tasks/x:pause", ``, 405, "METHOD_NOT_FOUND"},
		{"DELETE", "tasks/x", ``, 405, "METHOD_NOT_FOUND"},
		{"GET", "tasks/x?historyLength=-1", ``, 400, "historyLength"},
		{"GET", "tasks?pageSize=0", ``, 400, "pageSize"},
		{"GET", "tasks?pageSize=99999999999", ``, 400, "pageSize"},
		{"GET", "tasks?status=9", ``, 400, "status"},
		{"GET", "tasks?contextId=%00", ``, 400, "contextId"},
		{"GET", "tasks/%00", ``, 404, "TASK_NOT_FOUND"},
		{"GET", "tasks/" + strings.Repeat("x", 300), ``, 404, "TASK_NOT_FOUND"},
		{"GET", "nothing", ``, 404, "METHOD_NOT_FOUND"},
		{"GET", "tasks/a%20/%20b/c", ``, 404, "TASK_NOT_FOUND"},
		{"GET", "", ``, 404, "METHOD_NOT_FOUND"},
	} {
		w := s.rest(t, tc.verb, "/a2a/rest/"+tc.path, tc.body)
		e := parse(t, w.Body.Bytes()).at("error")
		where := e.at("details", "0", "reason").String()
		if field := e.at("details", "1", "fieldViolations", "0", "field").String(); where == "INVALID_PARAMS" {
			where = field
		}
		if w.Code != tc.status || where != tc.where || e.at("code").String() != fmt.Sprint(tc.status) || e.at("message").String() == "" {
			t.Errorf("%s %.60s: status %d at %q, want %d at %q: %.300s", tc.verb, tc.path, w.Code, where, tc.status, tc.where, w.Body)
		}
		test.Is(t, fmt.Sprintf("%s %.60s: content type", tc.verb, tc.path), "application/json", w.Header().Get("Content-Type"))
	}
	s.untouched(t)
}

// The content types of answers and of errors, by the Accept header.
func TestREST_contentType(t *testing.T) {
	const plain, named = "application/json", "application/a2a+json"
	s := newService(t)
	for accept, want := range map[string][2]string{
		"":                                    {named, plain},
		"*/*":                                 {plain, plain},
		"application/*":                       {plain, plain},
		plain:                                 {plain, plain},
		"text/event-stream":                   {plain, plain},
		named:                                 {named, named},
		named + ", " + plain:                  {named, named},
		plain + ";q=0.5," + named:             {named, named},
		plain + "," + named + ";q=0":          {plain, plain},
		"Application/A2A+JSON; charset=utf-8": {named, named},
	} {
		for i, path := range []string{"/tasks", "/tasks/x"} {
			test.Is(t, fmt.Sprintf("Accept %q: %s has type", accept, path), want[i], s.rest(t, "GET", path, "", "Accept", accept).Header().Get("Content-Type"))
		}
	}
}

// A live stream over plain HTTP: bare events with their numbers, the same ones for
// every reader, by GET and by POST, resumed after any of them.
func TestREST_streams(t *testing.T) {
	s := newService(t)
	url := s.listen(t) + "/a2a/rest"
	version := []string{"A2A-Version", "1.0"}
	sent := follow(t, "POST", url+"/message:stream", `{"message":`+messageJSON("m", "slow", "")+`}`, version...)
	first := sent.event()
	id := first.data.at("task", "id").String()
	if first.id != "9" || id == "" || len(first.data.v.(map[string]any)) != 1 {
		t.Fatalf("first event is %+v", first)
	}
	get := follow(t, "GET", url+"/tasks/"+id+":subscribe?A2A-Version=1.0", "")
	post := follow(t, "POST", url+"/tasks/"+id+":subscribe", "", version...)
	rpc := open(t, strings.TrimSuffix(url, "/a2a/rest")+"/a2a", "1.0", "SubscribeToTask", `{"id":"`+id+`"}`)
	resumed := follow(t, "GET", url+"/tasks/"+id+":subscribe", "", append(version, "Last-Event-ID", "8")...)
	s.finish(opt.TaskID(planOf(id), 0))
	want := []string{"working", "1-0-post", "1-0-post", "completed"}
	test.Equal(t, "by GET", want, get.states())
	for e, ok := post.next(); ok; e, ok = post.next() {
		same, ok := rpc.next()
		if got := same.data.at("result").String(); !ok || e.id != same.id || e.data.String() != got {
			t.Errorf("event %s is %v by POST; over JSON-RPC, event %s is %s", e.id, e.data, same.id, got)
		}
	}
	for name, r := range map[string]*reader{"sent": sent, "resumed": resumed} {
		if got := r.states(); !slices.Equal(got[len(got)-3:], want[1:]) {
			t.Errorf("%s: %v", name, got)
		}
	}
	after := follow(t, "GET", url+"/tasks/"+id+":subscribe", "", append(version, "Last-Event-ID", "9")...)
	if e := after.event(); e.id != "10" || !e.data.has("artifactUpdate") {
		t.Errorf("after 9 comes %+v", e)
	}
	s.until(t, func() bool { return s.journal.watches.Load() <= 1 })
}

// An idle stream is kept alive, and an error in the middle of it is its last event.
func TestREST_streamBreaks(t *testing.T) {
	s := newService(t, func(c *config) { c.Heartbeat = time.Millisecond })
	id := s.send(t, "m", "slow").at("id").String()
	r := follow(t, "GET", s.listen(t)+"/tasks/"+id+":subscribe", "", "A2A-Version", "1.0")
	r.event()
	if e, ok := r.next(); !ok || e.comment != ": keep-alive" {
		t.Fatalf("an idle stream says %+v", e)
	}
	s.journal.fail(io.ErrUnexpectedEOF)
	e := r.event()
	if got := e.data.String(); e.id != "" || got != `{"error":{"code":500,"message":"Internal error","status":"INTERNAL"}}` {
		t.Errorf("the last event is %+v", e)
	}
	if e, ok := r.next(); ok {
		t.Errorf("the stream continues: %+v", e)
	}
}

// Every request gets an answer in JSON that is not an internal error.
func FuzzREST(f *testing.F) {
	for _, seed := range [][3]string{
		{"GET", "/a2a/rest/tasks?pageSize=1&status=2&includeArtifacts=true&contextId=%zz", ""},
		{"GET", "/tasks/%2561%2F:subscribe?historyLength=1e1&lastUpdatedAfter=2026-01-01T00:00:00Z", ""},
		{"POST", "/a2a/rest//t/tasks/x%3Acancel:cancel", `{"id":"x"}`},
		{"DELETE", "/tasks/tasks/x/pushNotificationConfigs/", ""},
		{"POST", "/message:send?A2A-Version=0.3", `{"message":{"parts":[{"data":null}]}}`},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, verb, target, body string) {
		r, err := http.NewRequestWithContext(t.Context(), verb, target, strings.NewReader(body))
		if err != nil || !strings.HasPrefix(target, "/") || verb == "HEAD" || verb == "OPTIONS" {
			return
		}
		r.Header.Set("A2A-Version", "1.0")
		w := httptest.NewRecorder()
		newService(t).ServeHTTP(w, r)
		isStream := strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream")
		if w.Code >= 500 || !isStream && !json.Valid(bytes.TrimSpace(w.Body.Bytes())) {
			t.Errorf("%s %s: %d %s", verb, target, w.Code, w.Body)
		}
	})
}
