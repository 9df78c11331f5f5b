package doors_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A rule is an answer to a gate that ann has asked for, and what must come of it.
type rule struct {
	name, who, action string
	id                string // of the answer, the same for a repeat; "" for the name
	other             bool   // the sender has seen another object
	want              outcome
	says              string // the words of every door, as a regular expression
	closedBy          string // who has decided after it; "" for no one
}

// The rules of a gate that one editor decides. They are tried in order, at one gate for each door.
var single = []rule{
	{name: "requester", who: "ann", action: "accept", want: refused, says: `thers (decide|answer) here`},
	{name: "stranger", who: "mallory", action: "reject", want: refused, says: `thers (decide|answer) here`},
	{name: "other tenant", who: "rival", action: "accept", want: refused, says: `(?i)not found|nothing to answer`},
	{name: "other object", who: "bob", action: "accept", other: true, want: refused, says: `objectDigest is not|not the one that you have seen|earlier state|object has changed`},
	{name: "valid", who: "bob", action: "accept", want: accepted, closedBy: "bob"},
	{name: "replay", who: "bob", action: "accept", id: "valid", want: accepted, closedBy: "bob"},
	{name: "late", who: "carol", action: "reject", want: refused, says: `Accepted by bob|bob was first`, closedBy: "bob"},
}

// Those of a gate that needs two.
var quorum = []rule{
	{name: "first vote", who: "bob", action: "accept", want: accepted},
	{name: "again", who: "bob", action: "reject", want: refused, says: `have (decided|answered) here`},
	{name: "requester votes", who: "ann", action: "accept", want: refused, says: `thers (decide|answer) here`},
	{name: "second vote", who: "carol", action: "accept", want: accepted, closedBy: "carol"},
	{name: "late vote", who: "dave", action: "accept", want: refused, says: `Accepted by carol|carol was first`, closedBy: "carol"},
}

// Those of a gate at which deputies of erin, who is absent, decide: dora, who is no editor, and not ann.
var deputies = []rule{
	{name: "requester", who: "ann", action: "accept", want: refused, says: `thers (decide|answer) here`},
	{name: "deputy", who: "dora", action: "accept", want: accepted, closedBy: "dora"},
	{name: "deputy again", who: "dora", action: "accept", id: "deputy", want: accepted, closedBy: "dora"},
	{name: "late absent one", who: "erin", action: "reject", want: refused, says: `Accepted by dora for erin|dora for erin was first`, closedBy: "dora"},
}

// The same rules hold at every door.
func TestRules(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.site.Start(harness.AllInOne)
	for _, deputy := range []string{"ann", "dora"} {
		away := fmt.Sprintf(`{"deputy":%q,"until":%q}`, deputy, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		if status, body := o.call(t.Context(), http.DefaultClient, http.MethodPost, "/v1/absences", away, o.with("erin", jsonType)); status != http.StatusOK {
			t.Fatalf("an absence: %d %s", status, body)
		}
	}
	for i, d := range doors {
		for _, g := range []struct {
			text  string
			rules []rule
		}{{"Write", single}, {"Write twice", quorum}, {"Write for deputies", deputies}} {
			t.Run(d.name+", "+g.text, func(t *testing.T) {
				root := o.ask(fmt.Sprintf("%d-%d", i, len(g.rules)), g.text)
				for _, r := range g.rules {
					o.try(t, d, root, r)
				}
			})
		}
	}
}

// try tries a rule at a door.
func (o *office) try(t *testing.T, d door, root *harness.Task, r rule) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	a := try{who: r.who, thread: root.ContextID, gate: root.Gate, digest: root.Gate.Digest, action: r.action, id: root.ID + r.name}
	if r.id != "" {
		a.id = root.ID + r.id
	}
	if r.other {
		a.digest = "sha256:00"
	}
	before, _ := o.decisions(root)
	got, says := d.answer(o, ctx, a)
	for got == unknown && ctx.Err() == nil { // such as a platform that has not waited for the answer
		got, says = d.answer(o, ctx, a)
	}
	if replay := r.id != "" && got == refused; got != r.want && !replay || replay && !regexp.MustCompile(`by (bob|dora)|bob was first|answered here already|used before`).MatchString(says) {
		t.Errorf("%s: %s, want %s: %s", r.name, got, r.want, says)
	}
	if got == refused && r.says != "" && !regexp.MustCompile(r.says).MatchString(says) {
		t.Errorf("%s: the door says %q, want %s", r.name, says, r.says)
	}
	after, _ := o.decisions(root)
	test.Is(t, fmt.Sprintf("%s: the gate was closed by", r.name), r.closedBy, closedBy(t, after))
	if n := len(after) - len(before); r.id != "" && (n > 1 || n == 1 && after[len(after)-1].Verdict == opt.Accepted) {
		t.Errorf("%s: it counts again: %+v", r.name, after)
	}
}
