//go:build unix

package shell_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/executortest"
	"longhaul/activities/shell"
	"longhaul/internal/test"
	"longhaul/internal/tracing"
)

const file = `
commands:
  say: {run: [printf, '%s|', '{{.Values.text}}', 'n={{.Values.n}}', '{{.Text}}', '{{.Results}}']}
  repeat: {run: [cat], stdin: '{{.Objective}}: {{.Description}}'}
  work: {run: [cat], send-work: true, json: true}
  where: {run: [pwd]}
  there: {run: [pwd], dir: /}
  env: {run: [env], env: [SHELL_TEST_SHOWN]}
  three: {run: [sh, -c, 'echo secret >&2; exit 3']}
  signal: {run: [sh, -c, 'kill -9 $$']}
  missing: {run: [/no/such/program]}
  text: {run: [echo, not JSON], json: true}
  much: {run: [sh, -c, 'while :; do echo 0123456789; done'], output: 1000}
  slow: {run: [sleep, '3600'], timeout: 20ms}
  long: {run: [sleep, '3600']}
  option: {run: [sort, '--key={{.Values.text}}']}
  children: {run: [sh, -c, '(trap "" TERM; exec sleep 3600 > "$0") & wait', '{{.Values.pipe}}'], timeout: 300ms}
  forever: {run: [sh, -c, '(trap "" TERM; sleep 3600; :) > "$0" & wait', '{{.Values.pipe}}']}
  background: {run: [sh, -c, 'sleep 3600 & echo ok'], timeout: 2900ms}
`

func load(t *testing.T, text string) (map[string]*shell.Command, error) {
	t.Helper()
	path := test.File(t, "commands.yaml", text)
	return shell.Load(path)
}

func executor(t *testing.T) shell.Executor {
	t.Helper()
	commands := test.Value(load(t, file))(t)
	return shell.Executor{Commands: commands}
}

func task(input string) activities.Work { return activities.Work{Input: json.RawMessage(input)} }

func TestExecutor(t *testing.T) {
	errs, large, untrusted := task(`{"command":"three"}`), task(`{"command":"repeat"}`), task(`{"command":"repeat"}`)
	large.Description, untrusted.Description = strings.Repeat("x", executortest.LargeResult), executortest.Hostile
	executortest.Run(t, executortest.Config{
		Executor: executor(t), Completes: task(`{"command":"there"}`), Fails: task(`{"command":"other"}`), Errs: &errs, Long: task(`{"command":"long"}`),
		Secrets: []string{"secret"}, Large: &large, Untrusted: &untrusted,
	})
}

func TestExecutor_Execute(t *testing.T) {
	t.Setenv("SHELL_TEST_SHOWN", "shown")
	t.Setenv("SHELL_TEST_HIDDEN", "hidden")
	e := executor(t)
	for _, tt := range []struct{ input, want string }{
		{`{"command":"say","values":{"text":"$(id); 'x' && \"y\" > z","n":7}}`, `$(id); 'x' && "y" > z|n=7|the request|result one` + "\nresult two|"},
		{`{"command":"repeat"}`, "Objective: Description"},
		{`{"command":"there"}`, "/\n"},
		{`{"command":"env"}`, "SHELL_TEST_SHOWN=shown\nLONGHAUL_TASK_ID=task-1\nLONGHAUL_KEY=key-1\n"},
		{`{"command":"three"}`, "error exit-3: The command ended with code 3."},
		{`{"command":"signal"}`, "error exit: The command was ended by a signal."},
		{`{"command":"missing"}`, "error not-started: The command could not be started."},
		{`{"command":"text"}`, "error not-json: The command did not print JSON."},
		{`{"command":"slow"}`, "error command-timeout: The command took longer than 20ms."},
		{`{"command":"much"}`, "failed output-too-large: The command printed more than 1000 bytes."},
		{`{"command":"say"}`, "rejected bad-input: The input of the task misses a value that the command needs."},
		{`{"command":"say","values":{"text":"-rf","n":1}}`, "rejected bad-input: Argument 2 must not begin with a dash: the program would take it for an option."},
		{`{"command":"say","values":{"text":"a\u0000b","n":1}}`, "rejected bad-input: Argument 2 has a zero byte."},
		{`{"command":"say","values":{"text":["a"],"n":1}}`, `rejected bad-input: The value "text" must be a text, a number or a boolean.`},
		{`{"command":"other"}`, `rejected bad-input: There is no command "other" on this worker.`},
		{`{"run":["id"]}`, "rejected bad-input: The input of the task must have a command and may have values."},
		{``, "rejected bad-input: The input of the task must have a command and may have values."},
	} {
		w := task(tt.input)
		w.TaskID, w.Key, w.Objective, w.Description = "task-1", "key-1", "Objective", "Description"
		w.Messages = []a2a.Message{{Parts: []a2a.Part{a2a.TextPart("the request")}}, {Parts: []a2a.Part{a2a.TextPart("a note")}}}
		w.Notes = 1
		for _, text := range []string{"result one", "result two"} {
			w.Results = append(w.Results, activities.Result{Artifacts: []a2a.Artifact{{Parts: []a2a.Part{a2a.TextPart(text)}}}})
		}
		test.Equal(t, tt.input, tt.want, outcome(e.Execute(t.Context(), w, nil)))
	}
}

// outcome returns an outcome as text.
func outcome(o activities.Outcome, err error) string {
	var failed *activities.Error
	switch {
	case errors.As(err, &failed):
		return "error " + failed.Error()
	case err != nil:
		return "error " + err.Error()
	case o.Code != "":
		return string(o.State) + " " + o.Code + ": " + o.Message
	}
	return a2a.Message{Parts: o.Artifacts[0].Parts}.Text()
}

// A program continues the trace of its task, with the state of the trace. Without a trace
// it has no variable of one.
func TestExecutor_Execute_trace(t *testing.T) {
	const id, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for name, tt := range map[string]struct{ state, want string }{
		"no state": {"", "TRACEPARENT=00-" + id + "-" + span + "-01\n"},
		"a state":  {"acme=7", "TRACEPARENT=00-" + id + "-" + span + "-01\nTRACESTATE=acme=7\n"},
	} {
		header := http.Header{"Traceparent": {"00-" + id + "-" + span + "-01"}, "Tracestate": {tt.state}}
		ctx := tracing.Received(t.Context(), header)
		test.Is(t, name+": the environment", "LONGHAUL_TASK_ID=\nLONGHAUL_KEY=\n"+tt.want, outcome(executor(t).Execute(ctx, task(`{"command":"env"}`), nil)))
	}
}

// A command that asks for it gets the work, as executors in other languages do.
func TestExecutor_Execute_work(t *testing.T) {
	w := task(`{"command":"work"}`)
	w.Name = "Count"
	got, err := executor(t).Execute(t.Context(), w, nil)
	var seen activities.Work
	if err != nil || json.Unmarshal(got.Artifacts[0].Parts[0].Data, &seen) != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	test.Equal(t, "work", w, seen)
}

// Each task has an empty directory, which is removed.
func TestExecutor_Execute_directory(t *testing.T) {
	e := executor(t)
	var seen []string
	for range 2 {
		got := test.Value(e.Execute(t.Context(), task(`{"command":"where"}`), nil))(t)
		dir := strings.TrimSpace(*got.Artifacts[0].Parts[0].Text)
		test.Error(t, dir, os.ErrNotExist, test.Err(os.Stat(dir)))
		seen = append(seen, dir)
	}
	if seen[0] == seen[1] {
		t.Errorf("both tasks ran in %s", seen[0])
	}
}

// The standard error of a program goes to the log, not to clients.
func TestExecutor_Execute_log(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	e := executor(t)
	e.Log = zap.New(core)
	if _, err := e.Execute(t.Context(), task(`{"command":"three"}`), nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
	if logs.FilterField(zap.ByteString("stderr", []byte("secret\n"))).Len() != 1 {
		t.Errorf("log: %v", logs.All())
	}
}

// The log says why a program could not be started; clients do not see that.
func TestExecutor_Execute_logCause(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	e := executor(t)
	e.Log = zap.New(core)
	_, err := e.Execute(t.Context(), task(`{"command":"missing"}`), nil)
	test.Is(t, "the outcome", "error not-started: The command could not be started.", outcome(activities.Outcome{}, err))
	if all := logs.All(); len(all) != 1 || !strings.Contains(fmt.Sprint(all[0].ContextMap()["cause"]), "no such file or directory") {
		t.Errorf("log: %v", all)
	}
}

// A program that is stopped takes along those that it has started, also if they
// ignore the signal.
func TestExecutor_Execute_children(t *testing.T) {
	pipe, ended := openPipe(t)
	_, err := executor(t).Execute(t.Context(), task(`{"command":"children","values":{"pipe":"`+pipe+`"}}`), nil)
	if got := outcome(activities.Outcome{}, err); !strings.HasPrefix(got, "error command-timeout") {
		t.Error(got)
	}
	awaitClosed(t, pipe, ended)
}

// openPipe makes a pipe with a name. ended gets a value when no process has it open any more.
func openPipe(t *testing.T) (path string, ended <-chan error) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pipe")
	test.OK(t, syscall.Mkfifo(path, 0o600))
	read := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(path)
		read <- err
	}()
	return path, read
}

func awaitClosed(t *testing.T, pipe string, ended <-chan error) {
	t.Helper()
	// If the child was stopped before it opened the pipe, this ends the reader.
	if f, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		_ = f.Close()
	}
	test.Error(t, "the call", nil, <-ended)
}

// workerPipe is the variable of a worker that runs a program until it is killed.
const workerPipe = "SHELL_TEST_WORKER"

// The programs of a worker that is killed end, too: another worker does their tasks.
func TestExecutor_killed(t *testing.T) {
	t.Parallel()
	if pipe := os.Getenv(workerPipe); pipe != "" {
		e := executor(t)
		if got := outcome(e.Execute(t.Context(), task(`{"command":"there"}`), nil)); got != "/\n" { // one that has ended
			t.Fatal(got)
		}
		go func() {
			for shell.Guarded() == 0 {
				time.Sleep(time.Millisecond)
			}
			fmt.Println("guarded")
		}()
		_, _ = e.Execute(t.Context(), task(`{"command":"forever","values":{"pipe":"`+pipe+`"}}`), nil)
		t.Fatal("the program has ended")
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	test.OK(t, syscall.Mkfifo(pipe, 0o600))
	p := exec.Command(os.Args[0], "-test.run=^TestExecutor_killed$")
	p.Env = append(os.Environ(), workerPipe+"="+pipe)
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	test.OK(t, err)
	f, err := os.Open(pipe) // waits for the program
	test.OK(t, err)
	defer f.Close()
	test.Is(t, "the result", "guarded\n", test.Value(bufio.NewReader(out).ReadString('\n'))(t))
	_ = p.Process.Kill()
	_ = p.Wait()
	test.OK(t, f.SetReadDeadline(time.Now().Add(20*time.Second)))
	if _, err := io.ReadAll(f); err != nil { // until no program has it open
		t.Error(err)
	}
}

// A program that ends with 0 has succeeded, also if one that it has started keeps its output open
// until the time of the command is over.
func TestExecutor_Execute_background(t *testing.T) {
	t.Parallel()
	test.Is(t, "the outcome", "ok\n", outcome(executor(t).Execute(t.Context(), task(`{"command":"background"}`), nil)))
}

func TestLoad(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "the file needs commands"},
		{"commands: {a: {rum: [x]}}", `.yaml:1: member "rum" is unknown (did you mean run?); the members are run, dir, env, stdin, send-work, json, timeout, output`},
		{"commands: {a: }", "command a: needs run: a program and its arguments"},
		{"commands: {a: {run: ['{{.Text}}']}}", "command a: the program must not be a template"},
		{"commands: {a: {run: [x, '{{.Texd}}']}}", "command a: argument 1: template: :1:2: executing"},
		{"commands: {a: {run: [x, '{{']}}", "command a: argument 1: template: :1: unclosed action"},
		{"commands: {a: {run: [x], stdin: '{{', dir: /}}", "command a: stdin: template"},
		{"commands: {a: {run: [x], stdin: y, send-work: true}}", "command a: has stdin or send-work, not both"},
		{"commands: {a: {run: [x], dir: here}}", `command a: dir must be an absolute path, not "here"`},
		{"commands: {a: {run: [x], output: -1}}", "command a: has a limit below 0"},
		{"commands: {b: {run: []}, a: {run: []}}", "command b: needs run"},
		{"commands: {a: {run: [x, '{{', '{{'], dir: here, output: -1}}", "command a: argument 2: template"},
		{"commands: {a: {run: [x, '{{', '{{'], dir: here, output: -1}}", "command a: has a limit below 0"},
	} {
		test.Fails(t, tt.text, tt.want, test.Err(load(t, tt.text)))
	}
	test.Error(t, "no file", os.ErrNotExist, test.Err(shell.Load(filepath.Join(t.TempDir(), "none.yaml"))))
}
