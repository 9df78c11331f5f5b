package client_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/test"
)

const unavailable = `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"The engine cannot be reached","data":[` +
	`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"UNAVAILABLE","domain":"a2a-protocol.org"},` +
	`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"0.001s"}]}}`

// Every request names its version and its extension.
func TestClient_headers(t *testing.T) {
	a := newAgent(t, result(task("WORKING")), text(200, "application/json", `{}`))
	cfg := config(a.URL + "/")
	cfg.Token = "secret\n"
	c := client.New(cfg)
	test.OK(t, test.Err(c.Get(t.Context(), "t1", -1)))
	test.OK(t, test.Err(c.Card(t.Context())))
	for i, call := range a.calls {
		want := map[string]string{"A2A-Version": "1.0", "Authorization": "Bearer secret"}
		if i == 0 {
			want["Content-Type"], want["A2A-Extensions"] = "application/json", a2a.ExtensionOPT+", "+a2a.ExtensionCancel
		}
		for name, value := range want {
			test.Is(t, fmt.Sprintf("request %d: %s", i, name), value, call.header.Get(name))
		}
	}
}

func TestClient_tasks(t *testing.T) {
	a := newAgent(t,
		result(task("WORKING")),
		result(task("CANCELED")),
		result(`{"tasks":[`+task("WORKING")+`,`+task("FAILED")+`],"nextPageToken":"p2","pageSize":2,"totalSize":7}`),
		result(`{"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":0}`),
	)
	c := a.client()
	got, err := c.Get(t.Context(), "t1", 0)
	if err != nil || got.Status.State != a2a.Working {
		t.Errorf("Get: %+v, %v", got, err)
	}
	got, err = c.Cancel(t.Context(), "t1", "Superseded.")
	if err != nil || got.Status.State != a2a.Canceled {
		t.Errorf("Cancel: %+v, %v", got, err)
	}
	page, err := c.List(t.Context(), client.ListOptions{
		ContextID: "c1", State: a2a.InputRequired, Since: a2a.At(time.Unix(0, 0)), PageSize: 2, PageToken: "p1", History: -1, Artifacts: true,
	})
	if err != nil || len(page.Items) != 2 || page.Items[1].Status.State != a2a.Failed || page.NextPageToken != "p2" || page.TotalSize != 7 {
		t.Errorf("List: %+v, %v", page, err)
	}
	test.Is(t, "List of nothing", 0, len(test.Value(c.List(t.Context(), client.ListOptions{}))(t).Items))
	want := []string{
		`GetTask {"id":"t1","historyLength":0}`,
		`CancelTask {"id":"t1","metadata":{"urn:longhaul:cancel:v1":{"reason":"Superseded."}}}`,
		`ListTasks {"contextId":"c1","statusTimestampAfter":"1970-01-01T00:00:00.000Z","pageSize":2,"pageToken":"p1","includeArtifacts":true,"status":"TASK_STATE_INPUT_REQUIRED"}`,
		`ListTasks {"historyLength":0}`,
	}
	test.Equal(t, "calls", want, a.seen())
}

func TestClient_errors(t *testing.T) {
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   client.Error
		text   string
	}{
		{
			"typed", text(200, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Task not found","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org","metadata":{"taskId":"t1"}}]}}`),
			client.Error{Code: client.CodeTaskNotFound, Message: "Task not found", Reason: "TASK_NOT_FOUND", Info: map[string]string{"taskId": "t1"}, Status: 200},
			"Task not found (TASK_NOT_FOUND)",
		},
		{
			"without data", text(400, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid parameters"}}`),
			client.Error{Code: client.CodeInvalidParams, Message: "Invalid parameters", Status: 400},
			"Invalid parameters",
		},
		{
			"one object as data", text(401, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Who are you?","data":{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"UNAUTHENTICATED"}}}`),
			client.Error{Code: -32000, Message: "Who are you?", Reason: "UNAUTHENTICATED", Status: 401},
			"Who are you? (UNAUTHENTICATED)",
		},
		{
			"another kind of server", text(410, "text/html", `<p>Gone`),
			client.Error{Message: "URL answered 410 Gone with text/html, which is not A2A", Status: 410},
			"URL answered 410 Gone with text/html, which is not A2A",
		},
		{
			"neither result nor error", text(200, "application/json", `{"jsonrpc":"2.0","id":1}`),
			client.Error{Message: "URL answered 200 OK with application/json, which is not A2A", Status: 200},
			"URL answered 200 OK with application/json, which is not A2A",
		},
	}
	for _, tt := range tests {
		a := newAgent(t, tt.answer)
		_, err := a.client().Get(t.Context(), "t1", -1)
		var got *client.Error
		if !errors.As(err, &got) {
			t.Errorf("%s: %v is no *Error", tt.name, err)
			continue
		}
		got.Message = strings.ReplaceAll(got.Message, a.URL, "URL")
		if got.Error() != tt.text {
			t.Errorf("%s: text %q, want %q", tt.name, got, tt.text)
		}
		details := len(got.Details)
		got.Details = nil
		test.Equal(t, tt.name, tt.want, *got, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".after" }, cmp.Ignore()))
		if (details == 1) != (tt.want.Reason != "") || client.HasReason(err, "X") || client.HasReason(err, "") && tt.want.Reason != "" {
			t.Errorf("%s: %d details", tt.name, details)
		}
	}
}

// Where the URL of an agent is not its interface, its card says where that is. Another host gets
// nothing.
func TestClient_findsInterface(t *testing.T) {
	notFound, working := text(http.StatusNotFound, "text/html", "Cannot POST /"), result(task("WORKING"))
	host := ""
	card := func(w http.ResponseWriter, r *http.Request) {
		text(200, "application/json", `{"name":"A","supportedInterfaces":[{"url":"`+host+`/a2a/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`)(w, r)
	}
	a := newAgent(t, notFound, card, working, working, notFound, card)
	host = a.URL
	c := a.client()
	for range 2 {
		_, err := c.Get(t.Context(), "t1", 0)
		check(t, "Get", err)
	}
	test.Fails(t, "the interface is gone: no error", "", test.Err(c.Get(t.Context(), "t1", 0)))
	var methods []string
	for _, line := range a.seen() {
		method, _, _ := strings.Cut(line, " {")
		methods = append(methods, method)
	}
	test.Equal(t, "requests", []string{"GetTask", "GET " + client.CardPath, "POST /a2a", "POST /a2a", "POST /a2a", "GET " + client.CardPath}, methods)
	a = newAgent(t, notFound, card)
	host = newAgent(t).URL
	test.Fails(t, "the interface is elsewhere", "is not A2A", test.Err(a.client().Get(t.Context(), "t1", 0)))
}

// Calls that read are repeated until they succeed; calls that create are not.
func TestClient_repeats(t *testing.T) {
	troubles := []http.HandlerFunc{
		text(200, "application/json", unavailable),
		text(503, "text/html", "<p>starting"),
		text(502, "text/html", "<p>proxy"),
		func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	}
	a := newAgent(t, append(troubles, result(task("WORKING")))...)
	cfg := config(a.URL)
	cfg.HTTP = &http.Client{Transport: &refusing{left: 3}}
	told := 0
	cfg.Retrying = func(error, time.Duration) { told++ }
	test.Error(t, "Get", nil, test.Err(client.New(cfg).Get(t.Context(), "t1", -1)))
	test.Is(t, "repeats were reported", 7, told)

	cfg.HTTP = &http.Client{Transport: &refusing{left: 1}}
	c := client.New(cfg)
	if _, err := c.CreateObjective(t.Context(), client.NewObjective{Name: "n"}); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("CreateObjective: %v, want that the connection was refused", err)
	}
	a.answers = []http.HandlerFunc{text(200, "application/json", unavailable)}
	if _, err := c.Send(t.Context(), hello(), client.SendOptions{}); !client.HasReason(err, client.ReasonUnavailable) {
		t.Errorf("Send: %v, want that it was not repeated", err)
	}
}

func TestClient_givesUp(t *testing.T) {
	refused := &http.Client{Transport: &refusing{left: 1 << 20}}
	tests := []struct {
		name string
		cfg  client.Config
		want string
	}{
		{"no patience", client.Config{Patience: -1}, "connection refused"},
		{"patience ends", client.Config{Patience: time.Nanosecond}, "gave up after"},
		{"first wait is too long", client.Config{Patience: time.Second, Backoff: func(int) time.Duration { return time.Hour }}, "gave up after 0s"},
	}
	for _, tt := range tests {
		tt.cfg.URL, tt.cfg.HTTP = "http://127.0.0.1:9", refused
		_, err := client.New(tt.cfg).Get(t.Context(), "t1", -1)
		if !errors.Is(err, syscall.ECONNREFUSED) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	for _, url := range []string{"ftp://127.0.0.1", "127.0.0.1:7420", "http://"} {
		if _, err := client.New(config(url)).Get(t.Context(), "t1", -1); err == nil || strings.Contains(err.Error(), "gave up") {
			t.Errorf("%s: %v, want an error at once", url, err)
		}
	}
	if _, err := client.New(client.Config{URL: "http://127.0.0.1:9", HTTP: refused}).Get(canceled(t), "t1", -1); !errors.Is(err, t.Context().Err()) && err.Error() != "context canceled" {
		t.Errorf("canceled: %v", err)
	}
}

// An attempt that takes too long is replaced by another.
func TestClient_attemptTimesOut(t *testing.T) {
	a := newAgent(t,
		func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		result(task("WORKING")))
	cfg := config(a.URL)
	cfg.Timeout = 50 * time.Millisecond
	test.Error(t, "the call", nil, test.Err(client.New(cfg).Get(t.Context(), "t1", -1)))
}

// A restart of the server at the same address causes no error.
func TestClient_restart(t *testing.T) {
	first := newAgent(t)
	address := first.Listener.Addr().String()
	first.Close()

	second := &agent{t: t, answers: []http.HandlerFunc{result(`{"task":` + task("WORKING") + `}`), result(task("COMPLETED"))}}
	cfg := config("http://" + address)
	cfg.Retrying = func(err error, _ time.Duration) {
		test.Error(t, "unexpected trouble", syscall.ECONNREFUSED, err)
		if second.Server == nil {
			second.Server = restart(t, address, second.answer)
		}
	}
	c := client.New(cfg)
	e, err := c.Send(t.Context(), hello(), again)
	if err != nil || e.Task.Status.State != a2a.Working {
		t.Fatalf("Send: %+v, %v", e, err)
	}
	second.Server.Close()
	second.Server = nil
	got, err := c.Get(t.Context(), "t1", -1)
	if err != nil || got.Status.State != a2a.Completed {
		t.Errorf("Get: %+v, %v", got, err)
	}
}

// restart serves at an address that was used before.
func restart(t *testing.T, address string, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatalf("listen where the server was: %v", err)
	}
	s := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
	s.Start()
	t.Cleanup(s.Close)
	return s
}
