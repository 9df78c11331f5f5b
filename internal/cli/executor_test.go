package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"go.uber.org/zap"

	"longhaul/activities"
	"longhaul/activities/planner"
	"longhaul/activities/webhook"
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
	file := filepath.Join(t.TempDir(), "endpoints.yaml")
	if err := os.WriteFile(file, []byte("endpoints: {one: {url: '"+server.URL+"'}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newService(zap.NewNop(), Build{})
	if err := s.openClients(egressSettings{AllowPrivateEgress: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.stop() })
	all, err := executors(s, workerSettings{Endpoints: file})
	if err != nil {
		t.Fatal(err)
	}
	out, err := all[webhook.Kind].Execute(t.Context(), activities.Work{Key: "k", Input: json.RawMessage(`{"endpoint":"one"}`)}, nil)
	if err != nil || out.State != opt.TaskCompleted || len(out.Artifacts) != 1 || len(out.Artifacts[0].Text()) != size {
		t.Errorf("the state is %s, the error %v", out.State, err)
	}
	if got := serviceLimits(); got.Timeout < webhook.LongestTimeout || got.MaxAnswer < webhook.MaxAnswer {
		t.Errorf("the limits are %+v", got)
	}
}

// A playbook with an executor that needs a file names the flag of the file.
func TestCheckExecutors(t *testing.T) {
	books, err := planner.LoadAll(fstest.MapFS{"a.yaml": {Data: []byte("name: a\ndefault: true\nplans:\n- name: p\n  tasks:\n  - {name: one, executor: shell}\n  - {name: two, executor: shout}\n")}})
	if err != nil {
		t.Fatal(err)
	}
	err = checkExecutors(books, []string{"echo"})
	if err == nil || !strings.Contains(err.Error(), `there is no executor "shell"`) || !strings.HasSuffix(err.Error(), "\nthe executor shell needs a file: name it with --commands") {
		t.Errorf("error %v", err)
	}
	if err := checkExecutors(books, []string{"shell"}); err == nil || strings.Contains(err.Error(), "needs a file") {
		t.Errorf("with shell: error %v", err)
	}
	if err := checkExecutors(books, []string{"shell", "shout"}); err != nil {
		t.Errorf("with all: error %v", err)
	}
}
