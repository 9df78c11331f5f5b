package opt_test

import (
	"encoding/json"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
)

// A step may begin while something of each kind is left that it needs. 0 questions and calls are a limit.
func TestSpendLimit_Over(t *testing.T) {
	var l opt.SpendLimit
	test.OK(t, json.Unmarshal([]byte(`{"tokens":10,"cost":1,"time":60,"questions":0,"calls":2}`), &l))
	for _, tt := range []struct {
		name         string
		spent, needs opt.Usage
		over         string
	}{
		{"room", opt.Usage{Input: 5, Output: 4, Calls: 1}, opt.Usage{Output: 1, Cost: 1, Calls: 1}, `{}`},
		{"nothing is needed", opt.Usage{Input: 50, Calls: 9, Questions: 9, Seconds: 99}, opt.Usage{}, `{}`},
		{"tokens", opt.Usage{Input: 5, Output: 5}, opt.Usage{Output: 1, Cost: 1}, `{"tokens":10}`},
		{"cost", opt.Usage{Cost: 1_000_000}, opt.Usage{Output: 1, Cost: 1}, `{"cost":1}`},
		{"time", opt.Usage{Seconds: 60}, opt.Usage{Seconds: 1}, `{"time":60}`},
		{"questions", opt.Usage{}, opt.Usage{Questions: 1}, `{"questions":0}`},
		{"calls", opt.Usage{Calls: 2}, opt.Usage{Calls: 1}, `{"calls":2}`},
	} {
		over := l.Over(tt.spent, tt.needs)
		if doc, err := json.Marshal(over); err != nil || string(doc) != tt.over {
			t.Errorf("%s: over %s, %v, want %s", tt.name, doc, err, tt.over)
		}
		if next := over.Next(tt.spent); next.Or(l).Over(tt.spent, tt.needs) != (opt.SpendLimit{}) {
			t.Errorf("%s: the proposal %+v leaves no room", tt.name, next)
		}
	}
	for _, wrong := range []string{"-1", "0.5", `"1"`} {
		if err := json.Unmarshal([]byte(wrong), new(opt.Cap)); err == nil {
			t.Errorf("%s is a limit", wrong)
		}
	}
}

// The rest keeps a limit of 0, and no limit stays none.
func TestSpendLimit_Left(t *testing.T) {
	var l opt.SpendLimit
	test.OK(t, json.Unmarshal([]byte(`{"tokens":10,"time":60,"calls":1}`), &l))
	left, ok := l.Left(opt.Usage{Input: 4, Calls: 1, Seconds: 10, Questions: 7})
	if doc, _ := json.Marshal(left); !ok || string(doc) != `{"tokens":6,"time":50,"calls":0}` {
		t.Errorf("left %s, %v", doc, ok)
	}
	if _, ok := l.Left(opt.Usage{Input: 10}); ok {
		t.Error("work may begin without tokens")
	}
}
