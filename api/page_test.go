package api_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"longhaul/internal/test"
)

// schema reads a JSON Schema from testdata.
func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	file := test.Value(os.Open("testdata/schema/" + name))(t)
	defer file.Close()
	doc := test.Value(jsonschema.UnmarshalJSON(file))(t)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	test.OK(t, c.AddResource(name, doc))
	s := test.Value(c.Compile(name))(t)
	return s
}

// wantValid checks JSON against a schema.
func wantValid(t *testing.T, s *jsonschema.Schema, text string) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err == nil {
		err = s.Validate(doc)
	}
	if err != nil {
		t.Errorf("%s\n%v", text, err)
	}
}

// The durable record and the run of a task in every state. A record has nothing else.
func TestTaskRecord_everyState(t *testing.T) {
	s, valid := newService(t), schema(t, "a2a-task-state.schema.json")
	for _, tc := range []struct{ text, state, kind, run string }{
		{"quiet", "submitted", "", "pending"},
		{"slow", "working", "", "running"},
		{"approve", "input-required", "approval", "waiting-approval"},
		{"clarify", "input-required", "clarification", "waiting-input"},
		{"auth", "auth-required", "", "waiting-input"},
		{"write", "completed", "", "completed"},
		{"fail", "failed", "", "failed"},
		{"slow cancel", "canceled", "", "cancelled"},
	} {
		task := s.send(t, tc.text, tc.text)
		id := task.at("id").String()
		if tc.state == "canceled" {
			task = s.must(t, "CancelTask", `{"id":"`+id+`"}`)
		}
		w := s.get(t, "/v1/a2a/tasks/"+id)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Cache-Control") != "no-store" {
			t.Fatalf("%s: %d %v %s", tc.text, w.Code, w.Header(), w.Body)
		}
		wantValid(t, valid, w.Body.String())
		want := fmt.Sprintf(`{"contextId":%q,"runId":%q,"state":%q,"taskId":%q,"updatedAt":%q}`,
			task.at("contextId"), id, tc.state, id, task.at("status", "timestamp"))
		if tc.kind != "" {
			want = strings.Replace(want, `"runId"`, `"interruptKind":"`+tc.kind+`","runId"`, 1)
		}
		test.Equal(t, tc.text+": record", want, parse(t, w.Body.Bytes()).String())
		run := parse(t, s.get(t, "/v1/runs/"+id).Body.Bytes())
		if run.at("status").String() != tc.run || run.at("runId").String() != id || run.at("workflowId").String() != id ||
			run.has("completedAt") != (tc.run == "completed" || tc.run == "failed" || tc.run == "cancelled") || run.has("error") != (tc.run == "failed") {
			t.Errorf("%s: run is %v, want %s", tc.text, run, tc.run)
		}
	}
	record := parse(t, s.get(t, "/v1/a2a/tasks/task-"+u("approve")+"-1-0").Body.Bytes())
	if record.at("runId").String() != "obj-"+u("approve") || record.at("interruptKind").String() != "approval" {
		t.Errorf("record of a plan task: %v", record)
	}
	if run := parse(t, s.get(t, "/v1/runs/obj-"+u("approve")).Body.Bytes()); run.at("currentNodeId").String() != "task-"+u("approve")+"-1-0" {
		t.Errorf("run that works on a task: %v", run)
	}
	if run := parse(t, s.get(t, "/v1/runs/obj-"+u("fail")).Body.Bytes()); run.at("error", "message").String() == "" {
		t.Errorf("run that has failed: %v", run)
	}
}
