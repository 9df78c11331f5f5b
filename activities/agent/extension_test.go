package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/test"
	"longhaul/opt"
)

// extended declares extensions on the card of a fake.
func extended(f *fake, uris ...string) {
	f.card = func(c object) {
		list := []object{}
		for _, uri := range uris {
			list = append(list, object{"uri": uri})
		}
		c["capabilities"].(object)["extensions"] = list
	}
}

// budgeted is a task of a request with a budget of 100 tokens, of which its objective has spent some.
func budgeted(message string, spent int64) activities.Work {
	w := attempt("task-1", message)
	m := a2a.Message{MessageID: "m", Metadata: a2a.Metadata{a2a.ExtensionBudget: json.RawMessage(`{"tokens":100,"onExceeded":"fail"}`)}}
	w.Messages, w.Spent = []a2a.Message{m}, opt.Usage{Input: spent}
	return w
}

// The rest of a budget goes to an agent that keeps budgets, whose bill counts here.
func TestExecutor_budget(t *testing.T) {
	for _, d := range dialects {
		f := newFake(t, d.version, d.rest)
		extended(f, a2a.ExtensionBudget)
		f.bill = object{"spent": object{"inputTokens": 20, "outputTokens": 5}}
		p, got := play(t, executor(t, f, ""), budgeted("go", 30))
		if diff := cmp.Diff(&opt.Usage{Input: 20, Output: 5}, p.Outcome.Usage); got != "completed|result=Done: go " || diff != "" {
			t.Errorf("%s: %q, usage (-want +got):\n%s", d.name, got, diff)
		}
		m := f.params("send")[0]["message"].(object)
		want := object{"tokens": 70.0, "onExceeded": "fail"}
		test.Equal(t, d.name+": the budget in the message", want, m["metadata"].(object)[a2a.ExtensionBudget])
		for i, h := range f.heads {
			test.Is(t, fmt.Sprintf("%s: %s turns on", d.name, f.calls[i]), a2a.ExtensionBudget, h.Get("A2A-Extensions")+h.Get("X-A2A-Extensions"))
		}
	}
}

// A spent budget stops the work before another agent gets some. An agent that keeps no budgets gets
// none, and what it says of costs does not count, nor do costs below zero.
func TestExecutor_budgetElsewhere(t *testing.T) {
	f := newFake(t, "1.0", false)
	f.bill = object{"spent": object{"inputTokens": 20}}
	if _, got := play(t, executor(t, f, ""), budgeted("go", 100)); got != "failed|budget: The budget of the request is spent." || f.started() != 0 {
		t.Errorf("with a spent budget: %q, %d remote tasks", got, f.started())
	}
	p, _ := play(t, executor(t, f, ""), budgeted("go", 0))
	if data, _ := json.Marshal(f.params("send")); p.Outcome.Usage != nil || strings.Contains(string(data), a2a.ExtensionBudget) {
		t.Errorf("without the extension: usage %+v, sent %s", p.Outcome.Usage, data)
	}
	f = newFake(t, "1.0", false)
	extended(f, a2a.ExtensionBudget)
	f.bill = object{"spent": object{"inputTokens": -20}}
	if p, _ := play(t, executor(t, f, ""), budgeted("go", 0)); p.Outcome.Usage != nil {
		t.Errorf("a bill below zero counts as %+v", p.Outcome.Usage)
	}
}

// An agent that takes reasons of cancellations gets that of the client.
func TestExecutor_cancelReason(t *testing.T) {
	for _, d := range dialects {
		for _, takes := range []bool{true, false} {
			f := newFake(t, d.version, d.rest)
			if takes {
				extended(f, a2a.ExtensionCancel)
			}
			e := executor(t, f, "")
			p, _ := play(t, e, task("long"))
			w := p.Work
			w.Cancel, w.Reason = true, "Superseded."
			if _, got := play(t, e, w); got != "failed|canceled-confirmed: Agent other confirmed that it canceled the task." {
				t.Errorf("%s: got %q", d.name, got)
			}
			metadata, _ := f.params("cancel")[0]["metadata"].(object)
			want := object(nil)
			if takes {
				want = object{a2a.ExtensionCancel: object{"reason": "Superseded."}}
			}
			test.Equal(t, d.name+": metadata of the cancellation", want, metadata)
		}
	}
}

// The call counts before it is made, and an agent that keeps all limits gets the rest of all. The plan that
// keeps the budget gets the needs of the leg, and asks.
func TestExecutor_budgetOfCalls(t *testing.T) {
	f := newFake(t, "1.0", false)
	f.card = func(c object) {
		c["capabilities"].(object)["extensions"] = []object{{"uri": a2a.ExtensionBudget, "params": object{"units": []string{"tokens", "calls"}}}}
	}
	w := budgeted("go", 30)
	w.Limits = &opt.Budget{SpendLimit: opt.SpendLimit{Tokens: 100, Time: 60, Calls: 3}}
	w.Spent.Seconds = 20
	play(t, executor(t, f, ""), w)
	want := object{"tokens": 70.0, "time": 40.0, "calls": 1.0}
	test.Equal(t, "the budget in the message", want, f.params("send")[0]["message"].(object)["metadata"].(object)[a2a.ExtensionBudget])
	out, err := executor(t, f, "").Execute(t.Context(), w, nil)
	if err != nil || out.Park == nil || out.Park.Needs.Calls != 1 {
		t.Errorf("before the call: %+v, %v", out, err)
	}
	w.Spent.Input = 100
	out, err = executor(t, f, "").Execute(t.Context(), w, nil)
	if err != nil || out.Park == nil || out.Park.Needs != (opt.Usage{Output: 1, Cost: 1, Calls: 1}) {
		t.Fatalf("with a spent budget: %+v, %v", out, err)
	}
	w.Memo, w.Leg, w.Limits.Tokens = out.Memo, 1, 250 // after the raise, when the call has been counted
	w.Spent.Calls++
	play(t, executor(t, f, ""), w)
	want["tokens"] = 150.0
	test.Equal(t, "the budget after a raise", want, f.params("send")[1]["message"].(object)["metadata"].(object)[a2a.ExtensionBudget])
}
