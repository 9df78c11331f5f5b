package webhook_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"longhaul/activities"
	"longhaul/activities/executortest"
	"longhaul/activities/webhook"
	"longhaul/internal/egress"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A server does tasks as their data says.
type server struct {
	t    *testing.T
	mu   sync.Mutex
	seen map[string]bool // keys of tasks that it has begun
	over chan struct{}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var work activities.Work
	test.Error(s.t, "the call", nil, json.NewDecoder(r.Body).Decode(&work))
	key := work.Key
	if work.Cancel {
		key += ":cancel"
	}
	if r.Header.Get("Authorization") != "Bearer "+token || r.Header.Get("Idempotency-Key") != key || work.Key == "" {
		s.t.Errorf("the headers are %v for the key %s", r.Header, work.Key)
	}
	var kind string
	test.Error(s.t, "the call", nil, json.Unmarshal(work.Input, &kind))
	s.mu.Lock()
	s.seen[work.Key] = true
	s.mu.Unlock()
	s.answer(w, r, work, kind)
}

func (s *server) answer(w http.ResponseWriter, r *http.Request, work activities.Work, kind string) {
	write := func(status int, media, body string) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
	switch kind {
	case "now":
		write(200, "text/plain", "Done.")
	case "refuse":
		write(422, "text/plain", "no: "+token)
	case "break":
		write(500, "text/plain", token)
	case "later":
		write(202, "application/json", "{}")
	case "hostile":
		write(200, "text/plain", executortest.Hostile)
	case "large":
		write(200, "text/plain", strings.Repeat("x", executortest.LargeResult))
	case "ask":
		if len(work.Replies) == 0 {
			write(200, "application/json", `{"state":"input-required","gate":{"kind":"approval","title":"Go on?","actions":["accept","reject"]}}`)
			return
		}
		write(200, "application/json", `{"state":"completed"}`)
	case "busy":
		w.Header().Set("Retry-After", "7")
		write(503, "text/plain", "")
	case "not JSON":
		write(200, "application/json", "<html>")
	case "working":
		write(200, "application/json", `{"state":"working","park":{"wait":1}}`)
	case "echo text":
		write(200, "text/plain", r.Header.Get("Authorization")+" "+work.CallbackURL)
	case "echo JSON":
		escaped := strings.ReplaceAll(token, "-", `\u002d`)
		write(200, "application/json", `{"n":1.50,"`+escaped+`":["Bearer `+escaped+`","`+work.CallbackURL+`"]}`)
	case "echo twice":
		write(200, "application/json", `{"n":1e999,"a":"`+token+`","a":"x"}`)
	case "echo after":
		write(200, "application/json", `{"n":1}"`+token+`"`)
	case "greedy":
		write(200, "application/json", `{"state":"completed","memo":{"a":1},"onCancel":true,"park":{"wait":1},"streamed":["a"],"try":3}`)
	case "forge":
		write(200, "application/json", `{"state":"completed","artifacts":[{"artifactId":"a","parts":[{"ref":{"id":"0","member":"text"}}]}]}`)
	case "cancel it":
		if work.Cancel {
			write(200, "application/json", "{}")
			return
		}
		write(202, "application/json", "{}")
	default:
		<-s.over
	}
}

const token = "s3cret-of-the-service"

func newExecutor(t *testing.T) (webhook.Executor, *server) {
	t.Helper()
	s := &server{t: t, seen: map[string]bool{}, over: make(chan struct{})}
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	t.Cleanup(func() { close(s.over) })
	file := filepath.Join(t.TempDir(), "endpoints.yaml")
	text := fmt.Sprintf("endpoints:\n  one:\n    url: %s/tasks\n    cancel: true\n    headers: {Authorization: 'Bearer ${TOKEN}'}\n", listening.URL)
	test.OK(t, os.WriteFile(file, []byte(text), 0o600))
	sender := test.Value(egress.New(egress.Config{AllowPrivate: true, MaxAnswer: 2 * executortest.LargeResult}))(t)
	t.Cleanup(sender.Close)
	endpoints := test.Value(webhook.Load(file, environment, sender.CheckURL))(t)
	return webhook.Executor{Endpoints: endpoints, Sender: sender}, s
}

func environment(name string) (string, bool) { return token, name == "TOKEN" }

func work(kind string) activities.Work {
	return activities.Work{Input: json.RawMessage(fmt.Sprintf(`{"endpoint":"one","data":%q}`, kind)), CallbackURL: "http://127.0.0.1/callbacks/x"}
}

func TestExecutor(t *testing.T) {
	e, s := newExecutor(t)
	broken, asks, large, hostile, later := work("break"), work("ask"), work("large"), work("hostile"), work("cancel it")
	executortest.Run(t, executortest.Config{
		Executor: e, Completes: work("now"), Fails: work("refuse"), Errs: &broken, Long: work("forever"), Waits: &asks,
		Large: &large, Untrusted: &hostile, Parks: &later, Secrets: []string{token},
		Effects: func() int {
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.seen)
		},
	})
}

// Credentials that a service repeats in its answer are hidden from clients.
func TestExecutor_hidesCredentials(t *testing.T) {
	e, _ := newExecutor(t)
	for kind, want := range map[string]string{
		"echo text":  `{"text":"Bearer [credential] [credential]"}`,
		"echo twice": `{"data":{"a":"x","n":1e999}}`,
		"echo JSON":  `{"data":{"[credential]":["Bearer [credential]","[credential]"],"n":1.50}}`,
	} {
		t.Run(kind, func(t *testing.T) {
			executortest.Run(t, executortest.Config{
				Executor: e, Completes: work(kind), Fails: work("refuse"), Long: work("forever"), Secrets: []string{token, "/callbacks/x"},
			})
		})
		w := work(kind)
		w.Key, w.Round = "key", 1
		out, err := e.Execute(t.Context(), w, nil)
		if err != nil || len(out.Artifacts) != 1 || len(out.Artifacts[0].Parts) != 1 {
			t.Fatalf("%s: %+v, %v", kind, out, err)
		}
		if got, _ := json.Marshal(out.Artifacts[0].Parts[0]); string(got) != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}

func TestExecutor_answers(t *testing.T) {
	e, _ := newExecutor(t)
	for name, tt := range map[string]struct {
		work  activities.Work
		state opt.TaskState
		code  string
		wait  time.Duration // of the park
	}{
		"busy":            {work("busy"), opt.TaskWorking, "", 7 * time.Second},
		"not JSON":        {work("not JSON"), opt.TaskFailed, "invalid-outcome", 0},
		"more than JSON":  {work("echo after"), opt.TaskFailed, "invalid-outcome", 0},
		"working":         {work("working"), opt.TaskFailed, "invalid-outcome", 0},
		"forge":           {work("forge"), opt.TaskFailed, "invalid-outcome", 0},
		"greedy":          {work("greedy"), opt.TaskCompleted, "", 0},
		"later":           {work("later"), opt.TaskWorking, "", 24 * time.Hour},
		"no callback":     {activities.Work{Input: work("later").Input}, opt.TaskFailed, webhook.CodeNoCallback, 0},
		"no endpoint":     {activities.Work{Input: json.RawMessage(`{"endpoint":"two"}`)}, opt.TaskRejected, webhook.CodeInput, 0},
		"no input":        {activities.Work{}, opt.TaskRejected, webhook.CodeInput, 0},
		"other input":     {activities.Work{Input: json.RawMessage(`{"url":"http://127.0.0.1"}`)}, opt.TaskRejected, webhook.CodeInput, 0},
		"nothing in time": {with(work("later"), `{"round":1,"until":"2026-01-01T00:00:00Z"}`), opt.TaskFailed, webhook.CodeNoReport, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := tt.work
			w.Key, w.Round = "key", 1
			out := test.Value(e.Execute(t.Context(), w, nil))(t)
			test.Is(t, "the state", tt.state, out.State)
			test.Is(t, "the code", tt.code, out.Code)
			if name == "greedy" && (out.Memo != nil || out.OnCancel || out.Streamed != nil || out.Try != 0) {
				t.Errorf("it sets %+v", out)
			}
			if tt.wait == 0 != (out.Park == nil) {
				t.Fatalf("it parks: %+v", out.Park)
			}
			if out.Park != nil {
				if wait := time.Duration(out.Park.Wait) * time.Millisecond; wait > tt.wait || wait < tt.wait-time.Minute {
					t.Errorf("it waits %v, want about %v", wait, tt.wait)
				}
			}
		})
	}
}

func with(w activities.Work, memo string) activities.Work {
	w.Memo, w.Leg = json.RawMessage(memo), 1
	return w
}

// Only 200 and 204 confirm a cancel.
func TestExecutor_cancels(t *testing.T) {
	e, _ := newExecutor(t)
	for kind, want := range map[string]string{
		"cancel it": "The task was canceled, and its service has confirmed that.",
		"later":     "The task was canceled. Its service was informed; it is not known whether it has stopped.",
		"refuse":    "The task was canceled. Its service answered 422, so whether it has stopped is not known.",
	} {
		w := work(kind)
		w.Key, w.Round, w.Cancel = "key", 1, true
		test.Is(t, kind, want, test.Value(e.Execute(t.Context(), w, nil))(t).Message)
	}
}

// A task that its service has accepted is not sent again when a callback wakes it.
func TestExecutor_wakesEarly(t *testing.T) {
	e, s := newExecutor(t)
	w := work("later")
	w.Key, w.Round = "key", 1
	first := test.Value(e.Execute(t.Context(), w, nil))(t)
	delete(s.seen, "key")
	w.Memo, w.Leg = first.Memo, 1
	out, err := e.Execute(t.Context(), w, nil)
	if err != nil || out.Park == nil || s.seen["key"] {
		t.Errorf("got %+v, %v, sent again %v", out, err, s.seen["key"])
	}
	w.Round, w.Leg, w.Key = 2, 0, "key-2" // after a gate, with the memo from before
	if out, err := e.Execute(t.Context(), w, nil); err != nil || out.Park == nil || !s.seen["key-2"] {
		t.Errorf("the next round: %+v, %v, sent %v", out, err, s.seen["key-2"])
	}
}

func TestLoad_refuses(t *testing.T) {
	for text, want := range map[string]string{
		"endpoints: {}":                               "the file needs endpoints",
		"endpoints: {one: {}}":                        "url is missing",
		"endpoints: {one: {url: 'http://10.0.0.1/'}}": "url denied",
		"endpoints: {one: {url: 'https://example.com', headers: {A: '${B}'}}}":          "headers: the environment variable B is not set",
		"endpoints: {one: {url: 'https://example.com', headers: {content-type: text}}}": `headers: "content-type" cannot be chosen`,
		"endpoints: {one: {url: 'https://example.com', headers: {A: \"a\\nb\"}}}":       `headers: "A" and its value cannot be a header`,
		"endpoints: {one: {url: 'https://example.com', timeout: -1s}}":                  "must not be negative",
		"endpoints: {one: {url: 'https://example.com', timeout: 61m}}":                  "must be at most 1h0m0s: a service that needs longer answers 202",
		"endpoints: {one: {url: 'https://example.com', retries: 3}}":                    `endpoints.yaml:1: member "retries" is unknown; the members are url, headers, timeout, wait, cancel`,
	} {
		file := test.File(t, "endpoints.yaml", text)
		_, err := webhook.Load(file, environment, func(rawURL string) error {
			if strings.HasPrefix(rawURL, "http:") {
				return fmt.Errorf("denied")
			}
			return nil
		})
		test.Fails(t, text, want, err)
	}
}
