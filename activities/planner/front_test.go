package planner_test

import (
	"encoding/json"
	"testing"

	"longhaul/a2a"
	"longhaul/opt"
)

// Messages that no playbook takes go to the agent, whichever skill they ask for, and those of a
// playbook with front to another one.
func TestPlaybooks_WithFront(t *testing.T) {
	books := load(t, "name: legal\nfront: lawyers\nmatch: {keywords: [contract]}\n", "name: tea\nskills: [{id: brew, name: B, description: D, tags: [x]}]\nplans: [{name: P, tasks: [{name: Boil}]}]\n").WithFront("writers", true)
	for text, want := range map[string]struct{ skill, book, input string }{
		"Check this contract":     {"", "legal", `{"agent":"lawyers","whole":true}`},
		"A letter":                {"", "front", `{"agent":"writers","whole":true,"ids":true}`},
		"Translate this contract": {"translate", "front", `{"agent":"writers","whole":true,"ids":true}`},
		"hello":                   {"tea", "tea", ""},
	} {
		m := a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(text)}}
		if want.skill != "" {
			m.Metadata = m.Metadata.With(opt.KeySkill, want.skill)
		}
		name, plans, reason, err := books.Match(m)
		if err != nil || name != want.book || len(plans) != 1 || books.Refusal(m) != "" {
			t.Errorf("%s: playbook %q, %d plans, reason %q, error %v", text, name, len(plans), reason, err)
			continue
		}
		if task := plans[0].Tasks[0]; want.input != "" && (task.Executor != "agent" || task.Name != text || !sameJSON(task.Input, want.input)) {
			t.Errorf("%s: the task is %+v with the input %s", text, task, task.Input)
		}
	}
	if err := books.CheckExecutors("echo", "echo"); err == nil {
		t.Error("the executor agent is not missed")
	}
}

// Messages that no playbook takes, also trivial ones, are the work of one executor.
func TestPlaybooks_WithExecutor(t *testing.T) {
	books := load(t, "name: legal\nfront: lawyers\nmatch: {keywords: [contract]}\n").WithExecutor("served")
	for text, want := range map[string]string{"Check this contract": "agent", "hello": "served"} {
		m := a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(text)}}
		_, plans, _, err := books.Match(m)
		if err != nil || len(plans) != 1 || plans[0].Tasks[0].Executor != want || plans[0].Tasks[0].Name != text || books.Refusal(m) != "" {
			t.Errorf("%s: %+v, error %v", text, plans, err)
		}
	}
}

func sameJSON(a json.RawMessage, b string) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}
