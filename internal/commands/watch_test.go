package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/internal/test"
)

const (
	rootID = "obj-aaaaaaaaaaaaaaaaaaaaaaaaaa"
	stepID = "task-aaaaaaaaaaaaaaaaaaaaaaaaaa-1-0"
	gateID = stepID + ":1"
)

// A fakeAgent answers the calls of one method after another.
type fakeAgent struct {
	*httptest.Server
	t         *testing.T
	mu        sync.Mutex
	answers   []func(http.ResponseWriter)
	objective []string // results of objectives/get, the last one is repeated
	tasks     []string // results of ListTasks, likewise
	calls     []string
}

func newFakeAgent(t *testing.T, answers ...func(http.ResponseWriter)) *fakeAgent {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	f := &fakeAgent{t: t, answers: answers}
	f.Server = httptest.NewServer(http.HandlerFunc(f.answer))
	t.Cleanup(f.Close)
	return f
}

func (f *fakeAgent) answer(w http.ResponseWriter, r *http.Request) {
	var rpc struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.NewDecoder(r.Body).Decode(&rpc); err != nil && r.Method == http.MethodPost {
		f.t.Errorf("read a request: %v", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if rpc.Method == "objectives/get" {
		if len(f.objective) == 0 {
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no objective"}}`)
			return
		}
		next := f.objective[0]
		if len(f.objective) > 1 {
			f.objective = f.objective[1:]
		}
		sendResult(`{"objective":` + next + `}`)(w)
		return
	}
	if rpc.Method == "ListTasks" && len(f.tasks) > 0 {
		next := f.tasks[0]
		if len(f.tasks) > 1 {
			f.tasks = f.tasks[1:]
		}
		sendResult(next)(w)
		return
	}
	call := rpc.Method + " " + string(rpc.Params) + r.Header.Get("Last-Event-ID")
	if rpc.Method == "" {
		call = r.Method + " " + r.URL.String()
	}
	f.calls = append(f.calls, call)
	if len(f.answers) == 0 {
		f.t.Errorf("unexpected call: %s %s", rpc.Method, rpc.Params)
		http.Error(w, "unexpected", http.StatusTeapot)
		return
	}
	next := f.answers[0]
	f.answers = f.answers[1:]
	next(w)
}

func sendResult(result string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":%s}`, result)
	}
}

func sendError(code int, message string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":%q}}`, code, message)
	}
}

func sendEvents(results ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, result := range results {
			id, result, _ := strings.Cut(result, " ")
			fmt.Fprintf(w, "id: %s\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":%s}\n\n", id, result)
		}
	}
}

func wireTask(state, metadata string) string {
	return `{"task":{"id":"` + rootID + `","contextId":"` + rootID + `","status":{"state":"TASK_STATE_` + state + `","timestamp":"2026-03-01T09:30:00.000Z"},"metadata":{` + metadata + `}}}`
}

func wireStatus(state, text, metadata string) string {
	message := ""
	if text != "" {
		message = `,"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"` + text + `"}]}`
	}
	return `{"statusUpdate":{"taskId":"` + rootID + `","contextId":"` + rootID + `","status":{"state":"TASK_STATE_` + state + `","timestamp":"2026-03-01T09:30:01.000Z"` + message + `},"metadata":{` + metadata + `}}}`
}

func wireChunk(artifact, text string, more bool) string {
	return fmt.Sprintf(`{"artifactUpdate":{"taskId":%q,"contextId":"c","artifact":{"artifactId":%q,"name":"the %s","parts":[{"text":%q}]},"append":%v}}`, rootID, artifact, artifact, text, more)
}

// wireObjective is an objective of two plans, whose statuses are given.
func wireObjective(research, search, approve, writing, write string) string {
	return fmt.Sprintf(`{"id":%q,"name":"Tea","status":"working","metadata":{},"plans":[`+
		`{"id":"p1","name":"Research","status":%q,"metadata":{"opt/v1/blockedReason":"input"},"tasks":[{"id":"t1","name":"Search","status":%q},{"id":"t2","name":"Approve","status":%q}]},`+
		`{"id":"p2","name":"Writing","status":%q,"metadata":{},"tasks":[{"id":"t3","name":"Write","status":%q}]}]}`, rootID, research, search, approve, writing, write)
}

const approvalGate = `"openwop":{"interrupt":{"kind":"approval","interruptId":"` + gateID + `","taskId":"` + stepID + `","title":"Ship it?","description":"It is for tea","actions":["accept","reject"]}}`

// shipIt is how approvalGate is shown.
const shipIt = `
Ship it?
It is for tea

The task waits for a decision. To decide:

  longhaul answer --url URL task-aaaaaaaaaaaaaaaaaaaaaaaaaa-1-0:1 accept
  longhaul answer --url URL task-aaaaaaaaaaaaaaaaaaaaaaaaaa-1-0:1 reject "what is wrong"
`

// run runs a command of this package, and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	p := &process.Process{Ctx: ctx, Stdout: stdout, Stderr: stderr}
	return p.Report(p.Start(args, &Commands{}))
}

// A commandRun is a command that was run.
type commandRun struct {
	stdout, stderr bytes.Buffer
	code           int
	err            error
}

func (f *fakeAgent) run(cmd interface {
	Run(*process.Process, *remote) error
}) *commandRun {
	r := &commandRun{}
	p := &process.Process{Ctx: f.t.Context(), Stdout: &r.stdout, Stderr: &r.stderr}
	r.err = cmd.Run(p, f.remote(p))
	if r.err != nil {
		r.err = p.Explain(r.err)
	}
	var exit *process.ExitError
	switch {
	case errors.As(r.err, &exit):
		r.code = exit.Code
	case r.err != nil:
		r.code = 1
	}
	return r
}

// remote returns f as the agent of a command.
func (f *fakeAgent) remote(p *process.Process) *remote {
	f.t.Helper()
	r := test.Value(f.settings().ProvideRemote(p))(f.t)
	return r
}

func (f *fakeAgent) settings() remoteSettings {
	return remoteSettings{URL: f.URL, Patience: time.Minute}
}

// want compares the output, in which the agent's URL is written as URL.
func (f *fakeAgent) want(r *commandRun, code int, stdout string) {
	f.t.Helper()
	got := strings.ReplaceAll(r.stdout.String(), f.URL, "URL")
	test.Equal(f.t, "printed", strings.TrimPrefix(stdout, "\n"), got)
	if r.code != code {
		f.t.Errorf("exit code %d, want %d: %v", r.code, code, r.err)
	}
}

// A waiting task is watched until it ends, also when the stream breaks.
func TestWatch(t *testing.T) {
	f := newFakeAgent(t,
		sendEvents(
			"1 "+wireTask("WORKING", `"opt/v1/objective":`+wireObjective("working", "working", "pending", "pending", "pending")),
			"2 "+wireStatus("INPUT_REQUIRED", "Ship it?", approvalGate)),
		sendEvents(
			"3 "+wireStatus("WORKING", "", ""),
			"4 "+wireChunk("draft", "Tea is", false), "5 "+wireChunk("draft", " old.\n", true),
			"6 "+wireStatus("COMPLETED", "", "")))
	f.objective = []string{
		wireObjective("blocked", "completed", "input-required", "pending", "pending"),
		wireObjective("working", "completed", "completed", "pending", "pending"),
		wireObjective("completed", "completed", "completed", "working", "working"),
		wireObjective("completed", "completed", "completed", "completed", "completed"),
	}
	f.want(f.run(&watchCommand{Task: rootID}), 0, `
Task obj-aaaaaaaaaaaaaaaaaaaaaaaaaa

Research: working
Research / Search: working
Working.
Research: waiting
Research / Search: completed
Research / Approve: waiting
`+shipIt+`
Research: working
Research / Approve: completed
Working.
Research: completed
Writing: working
Writing / Write: working

[the draft]
Tea is old.

Writing / Write: completed
Writing: completed
Completed.
`)
	want := []string{`SubscribeToTask {"id":"` + rootID + `"}`, `SubscribeToTask {"id":"` + rootID + `"}2`}
	test.Equal(t, "calls", want, f.calls)
}

const (
	otherStepID   = "task-aaaaaaaaaaaaaaaaaaaaaaaaaa-1-1"
	otherGateID   = otherStepID + ":1"
	otherQuestion = `"openwop":{"interrupt":{"kind":"clarification","interruptId":"` + otherGateID + `","taskId":"` + otherStepID + `","questions":[{"id":"q1","question":"Which color?"}]}}`
)

// twoGates is an objective of which two tasks wait.
const twoGates = `{"id":"` + rootID + `","name":"Tea","status":"blocked","metadata":{},"plans":[{"id":"p1","name":"Research","status":"blocked","metadata":{"opt/v1/blockedReason":"input"},"tasks":[` +
	`{"id":"t1","name":"Approve","status":"input-required","a2aTaskId":"` + stepID + `"},{"id":"t2","name":"Ask","status":"input-required","a2aTaskId":"` + otherStepID + `"}]}]}`

// bareTask is a result of GetTask for the task of a gate.
func bareTask(id, metadata string) string {
	task := strings.TrimSuffix(strings.TrimPrefix(wireTask("INPUT_REQUIRED", metadata), `{"task":`), "}")
	return strings.Replace(task, `"id":"`+rootID, `"id":"`+id, 1)
}

const twoQuestions = shipIt + `
Which color?

The task waits for an answer. To answer:

  longhaul answer --url URL task-aaaaaaaaaaaaaaaaaaaaaaaaaa-1-1:1 "your answer"
`

// All open gates are shown, each once.
func TestWatch_twoGates(t *testing.T) {
	gates := []func(http.ResponseWriter){sendResult(bareTask(stepID, approvalGate)), sendResult(bareTask(otherStepID, otherQuestion))}
	f := newFakeAgent(t, append([]func(http.ResponseWriter){sendEvents(
		"1 "+wireTask("INPUT_REQUIRED", approvalGate), "2 "+wireStatus("INPUT_REQUIRED", "Ship it?", approvalGate), "3 "+wireStatus("COMPLETED", "", ""))},
		slices.Concat(gates, gates)...)...)
	f.objective = []string{twoGates}
	r := f.run(&watchCommand{Task: rootID})
	f.want(r, 0, `
Task `+rootID+`

Research: waiting
Research / Approve: waiting
Research / Ask: waiting
`+twoQuestions+`
Completed.
`)
}

// An update about a plan or a task shows the question of its root task still, right after that was
// answered: it is not asked again.
func TestWatch_answered(t *testing.T) {
	f := newFakeAgent(t, sendEvents(
		"1 "+wireTask("INPUT_REQUIRED", ""), "2 "+wireStatus("INPUT_REQUIRED", "Ship it?", `"opt/v1/event":{"kind":"task","id":"t","to":"working"}`), "3 "+wireStatus("COMPLETED", "", "")))
	r := f.run(&watchCommand{Task: rootID})
	if strings.Contains(r.stdout.String(), "Ship it?") {
		t.Errorf("it asks again:\n%s", &r.stdout)
	}
}

// With --until-waiting a command in a script gets the control back at a gate.
func TestWatch_untilWaiting(t *testing.T) {
	f := newFakeAgent(t, sendEvents("1 "+wireTask("WORKING", ""), "2 "+wireStatus("INPUT_REQUIRED", "Ship it?", approvalGate), "3 "+wireStatus("COMPLETED", "", "")),
		sendResult(bareTask(stepID, approvalGate)), sendResult(bareTask(otherStepID, otherQuestion)))
	f.objective = []string{twoGates}
	f.want(f.run(&watchCommand{Task: rootID, UntilWaiting: true}), 3, `
Task `+rootID+`

Working.
Research: waiting
Research / Approve: waiting
Research / Ask: waiting
`+twoQuestions)
}

func TestSend_twoGates(t *testing.T) {
	f := newFakeAgent(t, sendEvents("1 "+wireTask("INPUT_REQUIRED", approvalGate)),
		sendResult(bareTask(stepID, approvalGate)), sendResult(bareTask(otherStepID, otherQuestion)))
	f.objective = []string{twoGates}
	f.want(f.run(&sendCommand{Text: []string{"x"}, Quiet: true}), 3, twoQuestions)
}

func TestWatch_after(t *testing.T) {
	f := newFakeAgent(t, sendEvents("8 "+wireStatus("FAILED", "The engine broke.", "")))
	r := f.run(&watchCommand{Task: rootID, After: "7"})
	f.want(r, 1, "Failed. The engine broke.\n")
	test.Is(t, "called", "SubscribeToTask {\"id\":\""+rootID+"\"}7", f.calls[0])
}

func TestWatch_json(t *testing.T) {
	f := newFakeAgent(t, sendEvents("1 "+wireTask("WORKING", ""), "2 "+wireStatus("CANCELED", "", "")))
	f.want(f.run(&watchCommand{Task: rootID, JSON: true}), 1, wireTask("WORKING", "")+"\n"+wireStatus("CANCELED", "", "")+"\n")
}

// A task that has already ended is shown.
func TestWatch_ended(t *testing.T) {
	task := strings.TrimSuffix(strings.TrimPrefix(wireTask("COMPLETED", ""), `{"task":`), "}")
	task = strings.Replace(task, `"metadata"`, `"artifacts":[{"artifactId":"a","parts":[{"text":"Tea."},{"url":"https://example.com/tea"},{"data":{"cups":2}},{"raw":"AAE=","filename":"tea.bin","mediaType":"application/octet-stream"}]}],"metadata"`, 1)
	f := newFakeAgent(t, sendError(-32004, "This operation is not supported"), sendResult(task))
	f.want(f.run(&watchCommand{Task: rootID}), 0, `
Task obj-aaaaaaaaaaaaaaaaaaaaaaaaaa

[a]
Tea.
https://example.com/tea
{"cups":2}
tea.bin (application/octet-stream, 2 bytes)

Completed.
`)
}

// If the agent cannot be reached any more, the error says how to continue later.
func TestWatch_givesUp(t *testing.T) {
	f := newFakeAgent(t, sendEvents("4 "+wireTask("WORKING", "")), func(w http.ResponseWriter) { http.Error(w, "gone", http.StatusGone) })
	r := f.run(&watchCommand{Task: rootID})
	if want := "longhaul watch --url " + f.URL + " " + rootID + " --after 4"; r.code != 1 || !strings.Contains(r.err.Error(), want) {
		t.Errorf("code %d, error %v, want one with %q", r.code, r.err, want)
	}
}

// The plans are read repeatedly while no event comes.
func TestWatching_tick(t *testing.T) {
	f := newFakeAgent(t)
	f.objective = []string{wireObjective("working", "working", "pending", "pending", "pending")}
	ctx, cancel := context.WithCancel(t.Context())
	r := f.remote(&process.Process{Ctx: t.Context(), Stderr: io.Discard})
	tick, out := make(chan time.Time, 1), &printedThen{cancel: cancel}
	w := taskWatcher{display: &printer{out: out, asked: map[string]bool{}, seen: map[string]string{}}, noRepeat: r.noRepeat, outage: r.outage, tick: tick, objectiveID: rootID}
	tick <- time.Time{}
	_, err := w.run(ctx, func(ctx context.Context) eventStream {
		return func(func(client.Event, error) bool) { <-ctx.Done() }
	})
	if got := out.String(); !errors.Is(err, context.Canceled) || !strings.Contains(got, "Research / Search: working\n") {
		t.Errorf("printed %q, %v", got, err)
	}
}

// printedThen cancels once a whole look at the plans was printed.
type printedThen struct {
	bytes.Buffer
	cancel context.CancelFunc
}

func (p *printedThen) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "Search") {
		p.cancel()
	}
	return p.Buffer.Write(b)
}

func TestTrouble(t *testing.T) {
	var out bytes.Buffer
	tr := &outage{note: func(text string) { out.WriteString(text) }, url: "http://h", startHint: "Start one.\n"}
	refused := fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
	tr.failed(refused, 0) // never heard of: at once, with what to do
	tr.failed(refused, 0)
	tr.recovered()
	tr.failed(errors.New("EOF"), 0) // a single failure
	tr.recovered()
	for range 3 {
		tr.failed(refused, 0)
	}
	tr.recovered()
	tr = &outage{note: tr.note, url: "http://i", startHint: "Start one.\n"}
	tr.failed(refused, 0)
	tr.since = tr.since.Add(-adviceAfter) // it has lasted
	tr.failed(refused, 0)
	tr.failed(refused, 0)
	got := regexp.MustCompile(`\d\d:\d\d:\d\d`).ReplaceAllString(out.String(), "TIME")
	want := `longhaul: no answer from http://h, trying until TIME: dial: connection refused
Start one.
longhaul: connected to http://h
longhaul: no answer from http://h, trying until TIME: dial: connection refused
longhaul: connected to http://h
longhaul: no answer from http://i, trying until TIME: dial: connection refused
Start one.
Still no answer. Look at what the server has printed: a file that it refuses ends its start, which the command check finds. Or this is not its address: --url names another.
`
	test.Equal(t, "printed lines", want, got)
}

// A server of this machine that has ended with an error ends commands that wait for it, which say
// why it has ended. The end of a server at another address does not.
func TestRun_serverEnded(t *testing.T) {
	f := newFakeAgent(t)
	f.Close()
	dir := t.TempDir()
	process.End{Addr: strings.TrimPrefix(f.URL, "http://"), Reason: "a.yaml:3: a task needs a name", At: time.Now().Add(time.Minute)}.Keep(dir)
	t.Setenv("LONGHAUL_DATA_DIR", dir)
	for _, args := range [][]string{{"send", "x"}, {"watch", rootID}, {"list"}} {
		var stderr bytes.Buffer
		code := run(t.Context(), append(args, "--url", f.URL), io.Discard, &stderr) // else it would wait for two minutes
		if said := stderr.String(); code != 1 || !strings.Contains(said, ": a.yaml:3: a task needs a name\n") || strings.Contains(said, "trying until") {
			t.Errorf("%s: exit code %d\n%s", args, code, said)
		}
	}
	if _, ok := process.EndOf(dir, "http://127.0.0.1:1"); ok {
		t.Error("the end of a server at another address counts")
	}
	process.ForgetEnd(dir)
	if _, ok := process.EndOf(dir, f.URL); ok {
		t.Error("the end is not forgotten")
	}
}

// The end of the server before ends no command while another one may be about to start; when it is
// still there after a while it does, and so does an end that comes meanwhile.
func TestTrouble_oldEnd(t *testing.T) {
	dir, refused := t.TempDir(), fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
	var gaveUp error
	tr := &outage{note: func(text string) { t.Errorf("it says %s", text) }, url: "http://127.0.0.1:7999", dataDir: dir, giveUp: func(err error) { gaveUp = err }}
	end := process.End{Addr: "127.0.0.1:7999", Reason: "a mistake", At: time.Now().Add(-time.Minute)}
	end.Keep(dir)
	if tr.failed(refused, 0); gaveUp != nil {
		t.Errorf("an end before it began: %v", gaveUp)
	}
	tr.since = tr.since.Add(-endCounts) // it has lasted
	if tr.failed(refused, 0); gaveUp == nil {
		t.Error("an end that stays does not count")
	}
	tr, gaveUp = &outage{url: tr.url, dataDir: dir, giveUp: tr.giveUp}, nil
	end.At = time.Now().Add(time.Minute)
	end.Keep(dir)
	if tr.failed(refused, 0); gaveUp == nil {
		t.Error("an end while it waits does not count")
	}
}

// A command that prints JSON prints its error and all that it says beside the result as JSON: what
// the agent has said, and what to do about it.
func TestRun_jsonErrors(t *testing.T) {
	f := newFakeAgent(t, func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Task not found","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND"}]}}`)
	})
	closed := newFakeAgent(t)
	closed.Close()
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"get", rootID, "--json", "--url", f.URL}, 1, `{"error":{"code":-32001,"reason":"TASK_NOT_FOUND","message":"Task not found (TASK_NOT_FOUND)","hint":"The id may be wrong`},
		{[]string{"list", "--json", "--limit", "0"}, 2, `{"error":{"reason":"WRONG_ARGUMENTS","message":"--limit must be 1 or more","hint":"See longhaul list --help.","exitCode":2}}`},
		{[]string{"list", "--json", "--no-such"}, 2, `{"error":{"reason":"WRONG_ARGUMENTS",`},
		{[]string{"list", "--json", "--patience", "0s", "--url", closed.URL}, 1, `{"error":{"reason":"UNREACHABLE",`},
		{[]string{"list", "--json", "--patience", "1s", "--url", closed.URL}, 1, `{"note":"longhaul: no answer from `},
	} {
		var stderr bytes.Buffer
		if code := run(t.Context(), tt.args, io.Discard, &stderr); code != tt.code || !strings.HasPrefix(stderr.String(), tt.want) {
			t.Errorf("%s: exit code %d\n%s\nwant\n%s", tt.args, code, &stderr, tt.want)
		}
		for line := range strings.Lines(stderr.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: this line is not JSON: %s", tt.args, line)
			}
		}
	}
}

// Without a server, a command says so and how to start one, once.
func TestRun_noServer(t *testing.T) {
	f := newFakeAgent(t)
	f.Close()
	for _, args := range [][]string{
		{"send", "x"}, {"send", "--no-wait", "x"}, {"watch", rootID}, {"list"}, {"inbox"}, {"get", rootID}, {"cancel", rootID},
		{"objective", rootID}, {"card"}, {"answer", rootID, "accept"},
	} {
		var out, errs strings.Builder
		code := run(t.Context(), append(args, "--url", f.URL, "--patience", "0s"), &out, &errs)
		if got := errs.String(); code != 1 || strings.Count(got, "go run ./dev") != 1 || !strings.Contains(got, "nothing serves at "+f.URL) {
			t.Errorf("%v: exit code %d, said %q", args, code, got)
		}
	}
}

// Commands say what to do about an agent with TLS.
func TestRun_needsTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	for url, want := range map[string]string{
		s.URL: "name a file with it: --ca or LONGHAUL_CA",
		strings.Replace(s.URL, "https", "http", 1): "try https instead of http",
	} {
		var errs strings.Builder
		code := run(t.Context(), []string{"get", rootID, "--url", url, "--patience", "0s"}, io.Discard, &errs)
		if code != 1 || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: exit code %d, no %q in %q", url, code, want, &errs)
		}
	}
}

// An agent without TLS is not tried again with https, so the error is printed once, with what to do.
func TestRun_withoutTLS(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	var errs strings.Builder
	code := run(t.Context(), []string{"get", rootID, "--url", strings.Replace(s.URL, "http", "https", 1)}, io.Discard, &errs)
	if said := errs.String(); code != 1 || strings.Count(said, "HTTP response") != 1 || !strings.HasSuffix(said, "try http instead of https in --url or LONGHAUL_URL\n") {
		t.Errorf("exit code %d, said %q", code, said)
	}
}

// A refusal for want of a scope says how a key gets it.
func TestRun_scopes(t *testing.T) {
	const info = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"PERMISSION_DENIED","metadata":{"scope":"runs:read runs:create"}}`
	for name, answer := range map[string]func(http.ResponseWriter){
		"GetTask": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no","data":[`+info+`]}}`)
		},
		"a page": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"error":"permission_denied","message":"no","details":{"scope":"runs:read runs:create"}}`)
		},
	} {
		args := []string{"get", rootID}
		if name == "a page" {
			args = []string{"schedule", "show", "nightly"}
		}
		f, errs := newFakeAgent(t, answer), strings.Builder{}
		code := run(t.Context(), append(args, "--url", f.URL), io.Discard, &errs)
		if code != 1 || !strings.Contains(errs.String(), "To make one, where the server runs: longhaul keys create NAME --scopes runs:read, and") {
			t.Errorf("%s: exit code %d, said %q", name, code, &errs)
		}
	}
}

// A task that no worker begins is remarked on once.
func TestWatching_remark(t *testing.T) {
	for _, tt := range []struct {
		name   string
		state  a2a.TaskState
		queued bool
		want   string
	}{
		{"no worker", a2a.Submitted, false, "longhaul: no worker has begun the task yet. It is stored, and begins as soon as a worker runs.\nStart one.\n"},
		{"in the queue", a2a.Submitted, true, "longhaul: the task waits for its turn in its context\n"},
		{"working", a2a.Working, false, ""},
	} {
		var out bytes.Buffer
		w := taskWatcher{display: rawDisplay{}, outage: &outage{note: func(text string) { out.WriteString(text) }, startHint: "Start one.\n"}, state: tt.state, queued: tt.queued}
		for range 3 * idleTicks {
			w.printIdle()
		}
		test.Is(t, tt.name+": said", tt.want, out.String())
	}
}

// An objective shows who has answered what, at all of its gates.
func TestGetCommand_answers(t *testing.T) {
	decision := func(gate, more string) string {
		return `"openwop":{"decision":{"interruptId":"` + gate + `","decidedAt":"2026-03-01T09:30:02.000Z",` + more + `}}`
	}
	closed := func(n int, task, gate string) string {
		return fmt.Sprintf(`{"n":%d,"taskId":"%s","interruptId":"%s","closed":true}`, n, task, gate)
	}
	latest := decision(otherGateID, `"action":"accept","decidedBy":"bea"`)
	f := newFakeAgent(t, sendResult(bareTask(rootID, latest)), func(w http.ResponseWriter) {
		fmt.Fprintf(w, `{"decisions":[%s,{"n":2,"taskId":"%s"},%s],"nextPageToken":""}`, closed(1, stepID, gateID), otherStepID, closed(3, otherStepID, otherGateID))
	}, sendResult(bareTask(stepID, decision(gateID, `"decidedBy":"ann","answers":[{"id":"color","answer":"blue"},{"id":"words","answer":200},{"id":"ways","answer":["train","foot"]}]`))))
	got := f.run(&getCommand{Task: rootID}).stdout.String()
	if want := "Task " + rootID + "\n\nAnswered by ann: color = blue, words = 200, ways = train and foot ("; !strings.HasPrefix(got, want) || !strings.Contains(got, "\nAccepted by bea (") {
		t.Errorf("got\n%s\nwant it to begin with\n%s", got, want)
	}
}

// An objective whose tasks wait for a worker, and such a task, say so with the words of the server: get does, and watch
// does it once while the numbers change.
func TestGetCommand_waits(t *testing.T) {
	const why = "Waits for a worker of the queue of tasks, where %d tasks wait for up to 1 min, or has just got one"
	waiting := func(n int) string {
		return strings.Replace(wireObjective("working", "working", "pending", "pending", "pending"), `{"id":"t1","name":"Search",`, `{"id":"`+stepID+`","name":"Search","metadata":{"longhaul/v1/statusText":"`+fmt.Sprintf(why, n)+`"},`, 1)
	}
	line := "Research / Search: " + fmt.Sprintf(why, 3) + "\n"
	for id, want := range map[string]string{rootID: line, stepID: line, otherStepID: ""} {
		task := strings.TrimSuffix(strings.TrimPrefix(wireTask("WORKING", ""), `{"task":`), "}")
		f := newFakeAgent(t, sendResult(strings.Replace(task, `"id":"`+rootID, `"id":"`+id, 1)))
		f.objective = []string{waiting(3)}
		f.want(f.run(&getCommand{Task: id}), 0, "Task "+id+"\n\nWorking.\n"+want)
	}
	f := newFakeAgent(t, sendEvents("1 "+wireTask("WORKING", ""), "2 "+wireStatus("WORKING", "", ""), "3 "+wireStatus("COMPLETED", "", "")))
	f.objective = []string{waiting(3), waiting(2), wireObjective("completed", "completed", "completed", "completed", "completed")}
	if out := f.run(&watchCommand{Task: rootID}).stdout.String(); !strings.Contains(out, "Research / Search: working\n"+line) || strings.Count(out, "Waits for") != 1 {
		t.Errorf("watch printed\n%s", out)
	}
}

// The object of a gate is printed alone, to be edited.
func TestGetCommand_object(t *testing.T) {
	gate := strings.Replace(approvalGate, `"title"`, `"artifactData":{"cups":1},"title"`, 1)
	f := newFakeAgent(t, sendResult(bareTask(stepID, gate)))
	f.want(f.run(&getCommand{Task: gateID, Object: true}), 0, "{\n  \"cups\": 1\n}")
}

// An attempt that is not the latest names that one.
func TestGetCommand_retried(t *testing.T) {
	task := func(id string) string {
		return strings.NewReplacer("INPUT_REQUIRED", "FAILED").Replace(bareTask(id, ""))
	}
	unknown := sendError(-32001, "Task not found")
	var out strings.Builder
	f := newFakeAgent(t, sendResult(task(rootID)), sendResult(task(rootID+"~2")), sendResult(task(rootID+"~3")), unknown)
	run(t.Context(), []string{"get", "--url", f.URL, rootID}, &out, io.Discard)
	test.Contains(t, "the text", "\nThe objective was retried. Its latest attempt:\n\n  longhaul get --url "+f.URL+" "+rootID+"~3\n", out.String())
	out.Reset()
	f = newFakeAgent(t, sendResult(task(rootID+"~3")), unknown)
	run(t.Context(), []string{"get", "--url", f.URL, rootID + "~3"}, &out, io.Discard)
	if strings.Contains(out.String(), "latest") {
		t.Errorf("the latest attempt: got\n%s", out.String())
	}
}
