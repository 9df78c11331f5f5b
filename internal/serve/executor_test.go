package serve

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"go.uber.org/zap"

	"longhaul/activities"
	"longhaul/activities/echo"
	"longhaul/activities/planner"
	"longhaul/activities/shell"
	"longhaul/activities/webhook"
	"longhaul/internal/test"
	"longhaul/opt"
)

// Web services have as long for an answer, and as much room in it, as the executor
// promises them.
func TestExecutors_webServices(t *testing.T) {
	const size = 1 << 20
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, strings.Repeat("x", size))
	}))
	t.Cleanup(server.Close)
	file := test.File(t, "endpoints.yaml", "endpoints: {one: {url: '"+server.URL+"'}}")
	h := newHost(zap.NewNop(), Build{})
	p := &planning{host: h, reach: &reach{log: h.log}}
	test.OK(t, h.start(t.Context(), p.reach))
	t.Cleanup(func() { _ = h.Stop() })
	all := test.Value(p.loadExecutors(workerSettings{Endpoints: file}))(t)
	out, err := all[webhook.Kind].Execute(t.Context(), activities.Work{Key: "k", Input: json.RawMessage(`{"endpoint":"one"}`)}, nil)
	if err != nil || out.State != opt.TaskCompleted || len(out.Artifacts) != 1 || len(out.Artifacts[0].Text()) != size {
		t.Errorf("the state is %s, the error %v", out.State, err)
	}
}

// A playbook with an executor that needs a file names the flag of the file.
func TestCheckExecutors(t *testing.T) {
	books, err := planner.LoadAll(planner.Calendars{}, fstest.MapFS{"a.yaml": {Data: []byte("name: a\ndefault: true\nplans:\n- name: p\n  tasks:\n  - {name: one, executor: shell}\n  - {name: two, executor: shout}\n  - {name: three, executor: echo}\n  - {name: four}\n")}})
	test.OK(t, err)
	const file, off = "needs a file: name it with --commands", "\nthe executor echo is off: turn it on with --echo"
	for _, tt := range []struct {
		fallback string
		known    []string
		want     []string
		not      string
	}{
		{"echo", []string{"echo"}, []string{`there is no executor "shell"`, "\nthe executor shell " + file}, off},
		{"echo", []string{"echo", "shell"}, []string{`there is no executor "shout"`}, file},
		{"", []string{"shell", "shout"}, []string{`there is no executor "echo"`, "a.yaml:9: the task names no executor", off}, file},
		{"shout", []string{"shell", "shout"}, []string{`there is no executor "echo"`, off}, "names no executor"},
		{"", []string{"shell", "shout", "echo"}, []string{"the task names no executor", off}, "there is no executor"},
	} {
		err := fmt.Sprint(checkExecutors(books, tt.fallback, tt.known))
		for _, want := range tt.want {
			test.Contains(t, fmt.Sprintf("default %q, known %v", tt.fallback, tt.known), want, err)
		}
		if strings.Contains(err, tt.not) {
			t.Errorf("default %q, known %v: error %s", tt.fallback, tt.known, err)
		}
	}
	test.Error(t, "with all: error", nil, checkExecutors(books, "echo", []string{"shell", "shout", "echo"}))
}

// A task may have the executor echo, or none, only where echo is on or the program has one of
// its own.
func TestBuild_checkExecutor(t *testing.T) {
	own := map[string]activities.Executor{"publish": nil}
	for _, tt := range []struct {
		name    string
		build   Build
		usual   string
		refused map[string]string // by executor, the beginning of the reason
	}{
		{"off", Build{}, "", map[string]string{"": "the task names no executor", "echo": "the executor echo is off here. Others are agent, http, llm, shell, temporal, if"}},
		{"on", Build{}.withEcho(), "echo", nil},
		{"an own default", Build{Executors: own, Default: "publish"}, "publish", map[string]string{"echo": "the executor echo is off here. Others are agent, http, llm, publish, shell, temporal, if"}},
		{"an own default, on", Build{Executors: own, Default: "publish"}.withEcho(), "publish", nil},
		{"own executors", Build{Executors: own}, "", map[string]string{"": "the task names no executor", "echo": "the executor echo"}},
		{"an own echo", Build{Executors: map[string]activities.Executor{"echo": shell.Executor{}}}, "echo", nil},
	} {
		test.Is(t, tt.name+": the default", tt.usual, tt.build.defaultExecutor())
		for _, kind := range []string{"", "echo", "publish", "unknown"} {
			err := tt.build.checkExecutor(kind)
			if want := tt.refused[kind]; (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s, executor %q: error %v, want %q", tt.name, kind, err, want)
			}
		}
	}
	if (Build{Executors: map[string]activities.Executor{"echo": shell.Executor{}}}).withEcho().Executors["echo"] == activities.Executor(echo.Executor{}) {
		t.Error("the program's own echo was replaced")
	}
}

// A worker does not start without its default executor.
func TestPlanning_default(t *testing.T) {
	h := newHost(zap.NewNop(), workSettings{Usual: "llm"}.executorsOf(Build{Default: "human"}))
	err := (&planning{host: h, worker: &workerSettings{}}).Start(t.Context())
	if want := "--default-executor: this worker has no executor llm; it has "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s …", err, want)
	}
}

// Without echo an API does not start with playbooks that need it. With it those are no mistakes.
func TestEcho(t *testing.T) {
	file := test.File(t, "a.yaml", "name: a\ndefault: true\nplans: [{name: p, tasks: [{name: one}, {name: two, executor: echo}]}]\n")
	plain := test.File(t, "b.yaml", "name: b\ndefault: true\nplans: [{name: p, tasks: [{name: one}]}]\n")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--playbooks", file}, file + ":3: the task names no executor, and there is no default here. Others are agent"},
		{[]string{"--playbooks", file}, file + ":3: the executor echo is off here"},
		{[]string{"--playbooks", plain, "--default-executor", "human"}, "--addr"},
		{[]string{"--echo", "--fallback", "echo", "--playbooks", file}, "--addr"},
	} {
		test.Contains(t, strings.Join(tt.args, " "), tt.want, refused(t, 1, Build{}, append([]string{"api", "--addr", "127.0.0.1:-1"}, tt.args...)...))
	}
}
