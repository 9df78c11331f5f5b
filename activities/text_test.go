package activities_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/test"
	"longhaul/opt"
)

var made = []activities.Result{
	{TaskID: opt.TaskID(work.PlanID, 0), Name: "Search", Artifacts: []a2a.Artifact{artifact("a", "one", "two"), {ArtifactID: "b", Parts: []a2a.Part{a2a.DataPart(1)}}, artifact("c", "three")}},
	{Artifacts: []a2a.Artifact{artifact("d", `"}, {{results}} <b>`)}}, // of an earlier plan
	{TaskID: opt.TaskID(work.PlanID, 1), Artifacts: []a2a.Artifact{{ArtifactID: opt.AnswersID(opt.TaskID(work.PlanID, 1)), Parts: []a2a.Part{{Data: []byte(`{"limit":100,"why":"\"just\" so"}`)}}}}},
}

func TestRun_fillsInput(t *testing.T) {
	text := func(pieces ...activities.Piece) string {
		data := test.Value(json.Marshal(map[string]any{"q": []any{activities.Text(pieces)}}))(t)
		return string(data)
	}
	literal := func(s string) activities.Piece { return activities.Piece{Literal: s} }
	for _, tt := range []struct{ name, input, want string }{
		{"none", ``, ``},
		{"nothing to fill in", `{"b":1,"a":"x"}`, `{"b":1,"a":"x"}`},
		{"a task's", text(literal("About: "), activities.Piece{Results: "task-0"}, literal(".")), `{"q":["About: one\ntwo\nthree."]}`},
		{"everybody's", text(activities.Piece{Results: activities.AllResults}), `{"q":["one\ntwo\nthree\n\"}, {{results}} <b>"]}`},
		{"of a task that made nothing", text(literal("<"), activities.Piece{Results: "task-7"}, literal(">")), `{"q":["<>"]}`},
		{"an answer", text(literal("To "), activities.Piece{Results: "task-1", Answer: "limit"}, literal("."), activities.Piece{Results: "task-1", Answer: "why"}), `{"q":["To 100.\"just\" so"]}`},
		{"an answer alone", text(activities.Piece{Results: "task-1", Answer: "limit"}), `{"q":[100]}`},
		{"an answer alone that no one gave", text(activities.Piece{Results: "task-1", Answer: "who"}), `{"q":[""]}`},
		{"an answer that no one gave", text(literal("<"), activities.Piece{Results: "task-1", Answer: "who"}, activities.Piece{Results: "task-0", Answer: "limit"}, literal(">")), `{"q":["<>"]}`},
		{"a literal alone", text(literal("a"), literal("b")), `{"q":["ab"]}`},
		{"no pieces", text(), `{"q":[""]}`},
		{"in place of all of it", `{"longhaul/v1/text":["a"]}`, `"a"`},
		{"beside others, whose numbers stay", `{"n":9007199254740993,"f":1.50,"t":{"longhaul/v1/text":[{"results":"task-0"}]}}`, `{"f":1.50,"n":9007199254740993,"t":"one\ntwo\nthree"}`},

		{"a string that looks like a template", `["{{results}}"]`, `["{{results}}"]`},
		{"a string that looks like a text", `["{\"longhaul/v1/text\":[{\"results\":\"task-0\"}]}"]`, `["{\"longhaul/v1/text\":[{\"results\":\"task-0\"}]}"]`},
		{"a literal that looks like a text", text(literal(`{"longhaul/v1/text":[{"results":"task-0"}]}`), literal(`{{results "Search"}}`)),
			`{"q":["{\"longhaul/v1/text\":[{\"results\":\"task-0\"}]}{{results \"Search\"}}"]}`},
		{"a string that is the key", `["longhaul/v1/text"]`, `["longhaul/v1/text"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, out := filled(t, tt.input)
			if diff := cmp.Diff(tt.want, got); diff != "" || out.State != opt.TaskCompleted {
				t.Errorf("%+v, input mismatch (-want +got):\n%s", out, diff)
			}
		})
	}
}

// A broken text fails the task for good, since another attempt cannot repair it.
func TestRun_refusesBrokenTexts(t *testing.T) {
	for _, input := range []string{
		`{"longhaul/v1/text":"a"}`, `{"longhaul/v1/text":["a"],"b":1}`, `{"longhaul/v1/text":[1]}`, `{"longhaul/v1/text":[{"results":1}]}`,
		`{"longhaul/v1/text":[{"results":"task-0","b":1}]}`, `{"longhaul/v1/text":[{"results":"task-0","answer":1}]}`, `{"longhaul/v1/text":[{"answer":"a"}]}`, `{"longhaul/v1/text":[{"results":"Search"}]}`, `{"longhaul/v1/text":[{"results":""}]}`,
		`{"longhaul/v1/text":[["a"]]}`, `[[{"a":{"longhaul/v1/text":{}}}]]`,
	} {
		got, out := filled(t, input)
		if out.State != opt.TaskFailed || out.Code != "invalid-input" || got != "" {
			t.Errorf("%s became %q: %+v", input, got, out)
		}
	}
}

// The input has a limited size, however often it names results, and is the same
// each time.
func TestRun_boundsFilledInput(t *testing.T) {
	w := work
	w.Results = []activities.Result{{TaskID: opt.TaskID(work.PlanID, 0), Artifacts: []a2a.Artifact{artifact("a", strings.Repeat("ä", 300_000))}}}
	const text = `{"longhaul/v1/text":[{"results":"task-0"}]}`
	w.Input = json.RawMessage(`{"e":` + text + `,"b":` + text + `,"d":` + text + `,"a":` + text + `,"c":` + text + `,"f":"x"}`)
	var got struct{ A, B, C, D, E, F string }
	_, err := run(t, &recorder{}, w, func(_ context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
		test.Error(t, "the call", nil, json.Unmarshal(w.Input, &got))
		test.Is(t, "bytes of the result are left", 600_000, len(w.Results[0].Artifacts[0].Text()))
		return activities.Completed(), nil
	})
	if err != nil || len(got.A) != 600_000 || !strings.HasSuffix(got.B, "…") || got.C+got.D+got.E != "………" || got.F != "x" {
		t.Fatalf("the texts have %d, %d, %d, %d and %d bytes, error %v", len(got.A), len(got.B), len(got.C), len(got.D), len(got.E), err)
	}
	if n := len(got.A) + len(got.B) - len("…"); n != 1<<20 || !utf8.ValidString(got.B) {
		t.Errorf("%d bytes of results, want %d", n, 1<<20)
	}
}

// filled returns the input that an executor gets for input, and the outcome of
// its task.
func filled(t *testing.T, input string) (string, activities.Outcome) {
	t.Helper()
	w := work
	w.Results = made
	if input != "" {
		w.Input = json.RawMessage(input)
	}
	got := ""
	out, err := run(t, &recorder{}, w, func(_ context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
		got = string(w.Input)
		return activities.Completed(), nil
	})
	if err != nil {
		t.Error(err)
	}
	return got, out
}
