package check_test

import (
	"encoding/json"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/check"
	"longhaul/internal/test"
	"longhaul/opt"
)

// run returns what a check finds about an object.
func run(t *testing.T, in check.Input, object ...a2a.Part) opt.Finding {
	t.Helper()
	raw := test.Value(json.Marshal(in))(t)
	made := opt.Result{TaskID: opt.TaskID("plan-1", 0), Artifacts: []a2a.Artifact{{Parts: object}}}
	other := opt.Result{TaskID: opt.TaskID("plan-1", 1), Artifacts: []a2a.Artifact{{Parts: []a2a.Part{a2a.TextPart(`{"amount": 1000000}`)}}}}
	out := test.Value(check.Executor{}.Execute(t.Context(), activities.Work{PlanID: "plan-1", Name: "c", Input: raw, Results: []opt.Result{other, made}}, nil))(t)
	task := opt.Task{Name: "c", State: out.State, Artifacts: out.Artifacts}
	return task.Finding()
}

// A check is about the object alone, and what it cannot judge is for people.
func TestExecutor(t *testing.T) {
	object := func(s string) []a2a.Part { return []a2a.Part{a2a.TextPart(s)} }
	data := func(v any) []a2a.Part { return []a2a.Part{a2a.DataPart(v)} }
	for _, tt := range []struct {
		name   string
		in     check.Input
		object []a2a.Part
		want   opt.Action
		reason string
	}{
		{"a condition holds", check.Input{Holds: "object.amount <= 500"}, object(`{"amount": 500}`), opt.Accept, ""},
		{"it does not", check.Input{Holds: "object.amount <= 500"}, data(map[string]any{"amount": 500.5}), opt.Reject, "It is not so that object.amount <= 500"},
		{"it asks else", check.Input{Holds: "!(object.amount > 500)", Else: opt.Ask}, object(`{"amount": 501}`), opt.Ask, "not so"},
		{"a member is missing", check.Input{Holds: "object.amount <= 500"}, object(`{}`), opt.Ask, "could not be worked out"},
		{"an object that is not JSON", check.Input{Holds: "object.amount <= 500"}, object(`amount: 5`), opt.Ask, "could not be worked out"},
		{"more than one value", check.Input{Holds: "object.amount <= 500"}, append(object(`{"amount": 5}`), a2a.DataPart(map[string]int{"amount": 1000})), opt.Ask, "no condition sees"},
		{"a file", check.Input{Holds: `!text.contains("prod")`}, []a2a.Part{{Raw: []byte("drop prod")}}, opt.Ask, "no condition sees"},
		{"nothing", check.Input{Holds: `!text.contains("prod")`}, nil, opt.Ask, "has nothing"},
		{"the text of data", check.Input{Holds: `!text.contains("prod")`}, data("drop prod"), opt.Reject, "not so"},
		{"a text", check.Input{Holds: `text.contains("tea")`}, object(`Drink tea.`), opt.Accept, ""},
		{"too much work", check.Input{Holds: `object.all(a, object.all(b, object.all(c, a + b + c < 10)))`}, data(make([]int, 400)), opt.Ask, "cost"},
		{"a schema fits", check.Input{Schema: json.RawMessage(`{"required": ["amount"]}`)}, object(`{"amount": 1}`), opt.Accept, ""},
		{"it does not fit", check.Input{Schema: json.RawMessage(`{"required": ["amount"]}`)}, object(`{}`), opt.Reject, "amount"},
		{"a schema of no JSON", check.Input{Schema: json.RawMessage(`{"type": "object"}`)}, object(`none`), opt.Reject, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.Of = []string{"task-0"}
			got := run(t, tt.in, tt.object...)
			if got.Verdict != tt.want || !strings.Contains(got.Reason, tt.reason) || got.Digest == "" {
				t.Errorf("found %s, want %s with %q", got, tt.want, tt.reason)
			}
		})
	}
}

func TestInput_Valid(t *testing.T) {
	for _, in := range []check.Input{
		{}, {Holds: "object.a >"}, {Holds: "1 + 1"}, {Holds: "unknown > 1"}, {Schema: json.RawMessage(`{"type": 3}`)}, {Holds: "true", Schema: json.RawMessage(`{}`)},
	} {
		if err := in.Valid(); err == nil {
			t.Errorf("%+v is valid", in)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("the problem has several lines: %q", err)
		}
	}
}
