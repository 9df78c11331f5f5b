package opt_test

import (
	"encoding/json"
	"testing"

	"longhaul/opt"
)

// What others return is an outcome if it has a state, and a result otherwise.
func TestReadOutcome(t *testing.T) {
	for result, want := range map[string]string{
		``:                               `{"state":"completed"}`,
		`null`:                           `{"state":"completed"}`,
		` "Done." `:                      `{"state":"completed","artifacts":[{"artifactId":"result","parts":[{"text":"Done."}]}]}`,
		`[1,2]`:                          `{"state":"completed","artifacts":[{"artifactId":"result","parts":[{"data":[1,2]}]}]}`,
		`3`:                              `{"state":"completed","artifacts":[{"artifactId":"result","parts":[{"data":3}]}]}`,
		`{"width":3}`:                    `{"state":"completed","artifacts":[{"artifactId":"result","parts":[{"data":{"width":3}}]}]}`,
		`{"state":"failed","code":"no"}`: `{"state":"failed","code":"no"}`,
	} {
		got, err := json.Marshal(opt.ReadOutcome(json.RawMessage(result)))
		if err != nil || string(got) != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", result, got, err, want)
		}
	}
	if out := opt.ReadOutcome(json.RawMessage(`{"state":3}`)); out.State != opt.TaskFailed || out.Code != "invalid-outcome" {
		t.Errorf("a number as state: %+v", out)
	}
}

// Others may end a round, and nothing else.
func TestOutcome_Returns(t *testing.T) {
	for state, ok := range map[opt.TaskState]bool{
		opt.TaskCompleted: true, opt.TaskFailed: true, opt.TaskRejected: true, opt.TaskCanceled: false, opt.TaskWorking: false,
		opt.TaskPending: false, opt.TaskInputRequired: false, "else": false,
	} {
		if problem := (opt.Outcome{State: state}).Returns(); (problem == "") != ok {
			t.Errorf("%s: %q", state, problem)
		}
	}
	if problem := (opt.Outcome{State: opt.TaskAuthRequired, Gate: &opt.Gate{}}).Returns(); problem != "" {
		t.Errorf("a gate: %q", problem)
	}
}
