package commands

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"longhaul/internal/test"
)

// The list has the highest costs, as a table or as the agent has them.
func TestCosts(t *testing.T) {
	const one = `{"of":"main","inputTokens":12000,"outputTokens":400,"cost":"0.42","seconds":12000}`
	page := func(w http.ResponseWriter) { fmt.Fprintf(w, `{"costs":[%s]}`, one) }
	f := newFakeAgent(t, page)
	f.want(f.run(&costsCommand{By: "context", Limit: 50}), 0, "OF    INPUT   OUTPUT  COST  RAN\nmain  12,000  400     0.42  3 h 20 min\n")
	f = newFakeAgent(t, page)
	f.want(f.run(&costsCommand{By: "model", Limit: 50}), 0, "OF    INPUT   OUTPUT  COST\nmain  12,000  400     0.42\n")
	f = newFakeAgent(t, page)
	f.want(f.run(&costsCommand{By: "model", Since: "7d", Limit: 50, JSON: true}), 0, one+"\n")
	if len(f.calls) != 1 || !strings.Contains(f.calls[0], "since=20") {
		t.Errorf("called %v", f.calls)
	}
	f = newFakeAgent(t)
	for _, wrong := range []*costsCommand{{Limit: 0}, {Limit: 101}, {Limit: 1, Since: "soon"}} {
		if r := f.run(wrong); r.err == nil || len(f.calls) > 0 {
			t.Errorf("%+v: called %v, error %v", wrong, f.calls, r.err)
		}
	}
}

// A task says what it has used beside its budget, and nothing if it has used nothing.
func TestGet_usage(t *testing.T) {
	f := newFakeAgent(t, sendResult(bareTask(rootID, `"longhaul/v1/usage":{"inputTokens":12000,"outputTokens":400,"cost":"0.42","seconds":90,"budget":{"tokens":50000}}`)))
	test.Contains(t, "the text", "Used: 12,400 of 50,000 tokens, cost 0.42, ran 1 min 30 s\n", f.run(&getCommand{Task: rootID}).stdout.String())
	f = newFakeAgent(t, sendResult(bareTask(rootID, `"longhaul/v1/usage":{"inputTokens":0,"outputTokens":0,"seconds":90}`)))
	test.Contains(t, "the text of time alone", "Used: ran 1 min 30 s\n", f.run(&getCommand{Task: rootID}).stdout.String())
	f = newFakeAgent(t, sendResult(bareTask(rootID, `"a":1`)))
	if out := f.run(&getCommand{Task: rootID}).stdout.String(); strings.Contains(out, "Used") {
		t.Errorf("printed %s", out)
	}
}
