package opt_test

import (
	"encoding/json"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A returned value with a state is an outcome; any other value is a result.
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

// A callback or an external worker can end the round, and not more.
func TestOutcome_Returns(t *testing.T) {
	for state, ok := range map[opt.TaskState]bool{
		opt.TaskCompleted: true, opt.TaskFailed: true, opt.TaskRejected: true, opt.TaskCanceled: false, opt.TaskWorking: false,
		opt.TaskPending: false, opt.TaskInputRequired: false, "else": false,
	} {
		if problem := (opt.Outcome{State: state}).Returns(); (problem == "") != ok {
			t.Errorf("%s: %q", state, problem)
		}
	}
	test.Is(t, "a gate", "", (opt.Outcome{State: opt.TaskAuthRequired, Gate: &opt.Gate{}}).Returns())
}

// Artifacts and gates from outside must have content, and no references to stored
// contents.
func TestOutcome_Returns_contents(t *testing.T) {
	const forged = `{"ref":{"id":"0","member":"text","size":1}}`
	for outcome, ok := range map[string]bool{
		`{"state":"completed","artifacts":[{"artifactId":"a","parts":[{"text":""}]}]}`:                                 true,
		`{"state":"completed","artifacts":[{"parts":[{"text":"x"}]}]}`:                                                 false,
		`{"state":"completed","artifacts":[{"artifactId":"` + strings.Repeat("a", 129) + `","parts":[{"text":"x"}]}]}`: false,
		`{"state":"completed","artifacts":[{"artifactId":"a"}]}`:                                                       false,
		`{"state":"completed","artifacts":[{"artifactId":"a","parts":[{"text":"x"},` + forged + `]}]}`:                 false,
		`{"state":"input-required","gate":{"kind":"approval","object":[{"text":"x"}]}}`:                                true,
		`{"state":"input-required","gate":{"kind":"approval","object":[` + forged + `]}}`:                              false,
	} {
		if problem := opt.ReadOutcome(json.RawMessage(outcome)).Returns(); (problem == "") != ok {
			t.Errorf("%.90s: %q", outcome, problem)
		}
	}
}

// Callbacks and external workers cannot set members for the plan.
func TestOutcome_Allowed(t *testing.T) {
	allowed := opt.Outcome{
		State: opt.TaskCompleted, Artifacts: []a2a.Artifact{{ArtifactID: "a"}}, Code: "c", Message: "m", Gate: &opt.Gate{}, Usage: &opt.Usage{Input: 1},
	}
	all := allowed
	all.Streamed, all.Try, all.Park, all.Memo, all.OnCancel = []string{"a"}, 2, &opt.Park{}, json.RawMessage(`{}`), true
	test.Equal(t, "got", allowed, all.Allowed())
}
