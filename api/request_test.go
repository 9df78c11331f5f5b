package api_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"longhaul/api/call"
	"longhaul/internal/test"
)

// A compressed body is refused with the reason, and the answer says what to send.
func TestCompressedBody(t *testing.T) {
	s := newService(t)
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	_, _ = z.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}`))
	_ = z.Close()
	for _, path := range []string{"/a2a", "/message:send"} {
		for coding, status := range map[string]int{"gzip": 415, "br, identity": 415, "Identity": 0, "": 0} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, bytes.NewReader(body.Bytes()))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("A2A-Version", "1.0")
			r.Header.Set("Content-Encoding", coding)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			got := w.Body.String()
			if status == 0 {
				if w.Code == 415 || !strings.Contains(got, "Parse error") {
					t.Errorf("%s: coding %q: %d %s", path, coding, w.Code, got)
				}
				continue
			}
			if w.Code != status || w.Header().Get("Accept-Encoding") != "identity" || !strings.Contains(got, "Content-Encoding") {
				t.Errorf("%s: coding %q: %d, %q, %s", path, coding, w.Code, w.Header().Get("Accept-Encoding"), got)
			}
		}
	}
}

// The JSON of the proto allows integers as strings: in 1.0, but not in metadata,
// and not in 0.3, which is not made from a proto.
func TestIntegers_asStrings(t *testing.T) {
	s := newService(t)
	id := s.send(t, "m", "write").at("id").String()
	for _, tc := range []struct {
		version, method, member, value, code string
	}{
		{"1.0", "GetTask", "historyLength", `"5"`, ""},
		{"1.0", "GetTask", "historyLength", `"1e1"`, ""},
		{"1.0", "GetTask", "history_length", `"0"`, ""},
		{"1.0", "ListTasks", "pageSize", `"10"`, ""},
		{"1.0", "ListTasks", "pageSize", `"101"`, "-32602"},
		{"1.0", "GetTask", "historyLength", `"-1"`, "-32602"},
		{"1.0", "GetTask", "historyLength", `"1.5"`, "-32602"},
		{"1.0", "GetTask", "historyLength", `" 1"`, "-32602"},
		{"1.0", "GetTask", "historyLength", `""`, "-32602"},
		{"1.0", "GetTask", "historyLength", `"99999999999"`, "-32602"},
		{"1.0", "GetTask", "historyLength", `"true"`, "-32602"},
		{"0.3", "tasks/get", "historyLength", `"5"`, "-32602"},
		{"1.0", "GetTask", "metadata", `{"longhaul/v1/after":"5"}`, "-32602"},
	} {
		n := s.callIn(t, tc.version, tc.method, `{"id":"`+id+`","`+tc.member+`":`+tc.value+`}`)
		test.Is(t, fmt.Sprintf("%s %s %s: code", tc.method, tc.member, tc.value), tc.code, n.at("error", "code").String())
	}
	n := s.call(t, "SendMessage", `{"message":`+messageJSON("m-2", "write", "")+`,"configuration":{"historyLength":"0"}}`)
	if n.has("error") || n.at("result", "task").has("history") {
		t.Errorf("a send with a length of \"0\": %v", n)
	}
}

// A client may escape the colons of paths.
func TestREST_escapedColons(t *testing.T) {
	s := newService(t)
	for n, base := range []string{"", "/a2a/rest", "/acme", "/a2a/rest/acme"} {
		name := fmt.Sprint("m", n)
		id := s.send(t, name, "slow").at("id").String()
		for _, colon := range []string{"%3A", "%3a"} {
			body := `{"message":` + messageJSON(name, "slow", "") + `}`
			if w := s.rest(t, "POST", base+"/message"+colon+"send", body); w.Code != 200 {
				t.Errorf("%s/message%ssend: %d %s", base, colon, w.Code, w.Body)
			}
		}
		w := s.rest(t, "POST", base+"/tasks/"+id+"%3Acancel", "")
		if n := parse(t, w.Body.Bytes()); w.Code != 200 || n.at("status", "state").String() != "TASK_STATE_CANCELED" {
			t.Errorf("%s: cancel: %d %v", base, w.Code, n)
		}
	}
	if w := s.rest(t, "GET", "/tasks/no%253Acancel", ""); !strings.Contains(w.Body.String(), `"no%3Acancel"`) {
		t.Errorf("an id is unescaped twice: %s", w.Body)
	}
}

// HEAD is GET without the content, for reads that end.
func TestREST_head(t *testing.T) {
	s := newService(t)
	id := s.send(t, "m", "write").at("id").String()
	url := s.listen(t)
	for path, status := range map[string]int{
		"/tasks/" + id: 200, "/a2a/rest/tasks": 200, "/tasks?pageSize=0": 400, "/tasks/none": 404,
		"/tasks/" + id + ":subscribe": 405, "/message:send": 405,
	} {
		head, get := exchange(t, "HEAD", url+path), exchange(t, "GET", url+path)
		test.Is(t, fmt.Sprintf("HEAD %s", path), status, head.StatusCode)
		if status == 405 {
			continue
		}
		if get.StatusCode != status || get.ContentLength != head.ContentLength || get.Header.Get("Content-Type") != head.Header.Get("Content-Type") {
			t.Errorf("%s: GET %v, HEAD %v", path, get, head)
		}
	}
	test.Is(t, "allowed", "GET, HEAD, OPTIONS", exchange(t, "OPTIONS", url+"/tasks").Header.Get("Allow"))
}

// exchange sends a request of 1.0 without content, and returns the answer without its
// content.
func exchange(t *testing.T, verb, url string) *http.Response {
	t.Helper()
	r := test.Value(http.NewRequestWithContext(t.Context(), verb, url, nil))(t)
	r.Header.Set("A2A-Version", "1.0")
	w := test.Value(http.DefaultClient.Do(r))(t)
	_ = w.Body.Close()
	return w
}

// A probe may be one of HTTP/1.0, which has no Host.
func TestHealth_http10(t *testing.T) {
	s := newService(t, func(c *config) { c.Hosts = []string{"localhost"} })
	rest := dial(t, s.HTTP(), "GET /healthz HTTP/1.0\r\n\r\n")
	answer := test.Value(http.ReadResponse(rest, nil))(t)
	_ = answer.Body.Close()
	test.Is(t, "status", http.StatusOK, answer.StatusCode)
}

// A person who opens the URL of the server is led to the console, or reads what it is; a program that
// sends GET is refused as before.
func TestRoot_browser(t *testing.T) {
	plain := newService(t).listen(t)
	withConsole := newService(t, func(c *config) { c.Console = pages{} }).listen(t)
	for _, tt := range []struct {
		url, accept string
		status      int
		location    string
		body        string
	}{
		{plain + "/", "text/html,*/*;q=0.8", 200, "", "This is an A2A agent, for programs"},
		{withConsole + "/", "text/html,*/*;q=0.8", 303, "/console/", ""},
		{withConsole, "text/html", 303, "/console/", ""},
		{withConsole + "/", "application/json", 405, "", "method_not_allowed"},
		{plain + "/", "", 405, "", "method_not_allowed"},
	} {
		r := test.Value(http.NewRequestWithContext(t.Context(), "GET", tt.url, nil))(t)
		r.Header.Set("Accept", tt.accept)
		res := test.Value(http.DefaultTransport.RoundTrip(r))(t)
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != tt.status || res.Header.Get("Location") != tt.location || !strings.Contains(string(body), tt.body) {
			t.Errorf("GET %s for %q: %d to %q\n%s", tt.url, tt.accept, res.StatusCode, res.Header.Get("Location"), body)
		}
		if allow := res.Header.Get("Allow"); tt.status == 405 && allow != "OPTIONS, POST" {
			t.Errorf("GET %s: allowed are %s", tt.url, allow)
		}
	}
}

// pages is a console without pages.
type pages struct{}

func (pages) Serve(*call.Call, http.ResponseWriter, *http.Request)     {}
func (pages) Rewrite(r *http.Request, _ string) (*http.Request, error) { return r, nil }
