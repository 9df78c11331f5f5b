package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/process"
	"longhaul/internal/seal"
	"longhaul/internal/signing"
	"longhaul/internal/test"
	"longhaul/opt"
)

// exported returns n decisions of one plan, the last of which closes the gate, with
// their head.
func exported(n int) decisionExport {
	var chain opt.Chain
	e := decisionExport{ObjectiveID: rootID, Decisions: []json.RawMessage{}, Head: &opt.DecisionHead{ObjectiveID: rootID, Count: int64(n), At: a2a.AtMillis(86_400_000)}}
	for i := range n {
		d := opt.Decision{
			ObjectiveID: rootID, PlanID: "plan-x-1", Attempt: 1, TaskID: stepID, GateID: gateID, Kind: opt.Approval, Action: opt.Accept,
			Verdict: opt.NotAllowed, DecidedBy: "eve", DecidedAt: a2a.AtMillis(int64(i+1) * 1000), MessageID: fmt.Sprint("m-", i),
		}
		if i == 2 {
			d.Verdict, d.Closed, d.ByHand, d.DecidedBy, d.Action = opt.Accepted, true, true, "ann", ""
		}
		e.Decisions = append(e.Decisions, a2a.DataPart(chain.Add(d)).Data)
	}
	if n > 0 {
		e.Head.Chains = []opt.ChainHead{{PlanID: "plan-x-1", Attempt: 1, Chain: chain}}
	}
	return e
}

func (e decisionExport) text(t *testing.T) string {
	t.Helper()
	raw := test.Value(json.Marshal(e))(t)
	return string(raw)
}

func TestDecisions(t *testing.T) {
	whole := exported(3)
	page := func(from, to int, next string) func(http.ResponseWriter) {
		e := whole
		e.Decisions, e.Next = whole.Decisions[from:to], next
		return func(w http.ResponseWriter) { fmt.Fprint(w, e.text(t)) }
	}
	f := newFakeAgent(t, page(0, 2, "p2"), page(2, 3, ""))
	r := f.run(&decisionsCommand{ID: gateID})
	want := `
WHEN GATE WHO ACTION VERDICT
1970-01-01 00:00:01 UTC ` + gateID + ` eve accept not-allowed
1970-01-01 00:00:02 UTC ` + gateID + ` eve accept not-allowed
1970-01-01 00:00:03 UTC ` + gateID + ` ann - counted, closed the gate by hand
`
	if diff := cmp.Diff(strings.Fields(want), strings.Fields(r.stdout.String())); diff != "" || r.err != nil {
		t.Errorf("%v; printed (-want +got):\n%s", r.err, diff)
	}
	calls := []string{"GET /v1/objectives/" + rootID + "/decisions?pageSize=100", "GET /v1/objectives/" + rootID + "/decisions?pageSize=100&pageToken=p2"}
	test.Equal(t, "calls", calls, f.calls)
	f = newFakeAgent(t, page(0, 2, "p2"), page(2, 3, ""))
	f.want(f.run(&decisionsCommand{ID: rootID, JSON: true}), 0, whole.text(t)+"\n")
	f = newFakeAgent(t, func(w http.ResponseWriter) { fmt.Fprint(w, exported(0).text(t)) })
	f.want(f.run(&decisionsCommand{ID: rootID}), 0, "No decisions.\n")
	f = newFakeAgent(t, func(w http.ResponseWriter) { http.NotFound(w, nil) })
	if r := f.run(&decisionsCommand{ID: rootID}); r.err == nil || !strings.Contains(r.err.Error(), "only a Longhaul server") {
		t.Errorf("an agent without the list: %v", r.err)
	}
	f = newFakeAgent(t, func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":"objective_not_found","message":"Objective not found"}`)
	})
	if r := f.run(&decisionsCommand{ID: rootID}); r.err == nil || strings.Contains(r.err.Error(), "only a Longhaul server") {
		t.Errorf("an objective that does not exist: %v", r.err)
	}
	f = newFakeAgent(t, page(1, 3, ""))
	if r := f.run(&decisionsCommand{ID: rootID}); r.err == nil || !strings.Contains(r.err.Error(), "decision 1: number 2 of plan-x-1, attempt 1 comes after number 0") {
		t.Errorf("a decision is missing: %v", r.err)
	}
}

// keeper returns a keeper of signing keys, and the file with its public keys.
func keeper(t *testing.T) (k *signing.Keeper, file string) {
	t.Helper()
	box := test.Value(seal.New(make([]byte, 32)))(t)
	j := test.Value(journal.Open(t.Context(), journal.Config{Sealer: box}))(t)
	t.Cleanup(func() { _ = j.Close() })
	k = signing.New(signing.Config{Store: j.SigningKeys})
	set := test.Value(k.PublicKeys(t.Context()))(t)
	return k, test.File(t, "saved.json", string(set))
}

// signed returns e with a signed head.
func (e decisionExport) signed(t *testing.T, k *signing.Keeper) decisionExport {
	t.Helper()
	head := *e.Head
	var err error
	if head.Signature, err = k.SignStatement(t.Context(), head.Statement()); err != nil {
		t.Fatal(err)
	}
	e.Head = &head
	return e
}

func TestVerify(t *testing.T) {
	k, keys := keeper(t)
	other, otherKeys := keeper(t)
	whole := exported(3)
	hash := whole.Head.Chains[0].Hash
	unchanged := rootID + ": unchanged. Decisions: 3, chains: 1\n  plan-x-1, attempt 1: 3, the last is " + hash + "\n"
	matches := "The head matches these decisions: none is missing up to 1970-01-02T00:00:00Z. Who made the head was not checked: --jwks checks its signature.\n"
	with := func(change func(*decisionExport)) decisionExport {
		e := exported(3)
		change(&e)
		return e
	}
	paged := with(func(e *decisionExport) { e.Decisions, e.Next = e.Decisions[:1], "p2" }).text(t) + "\n" + with(func(e *decisionExport) { e.Decisions = e.Decisions[1:] }).text(t)
	for name, tt := range map[string]struct {
		text, earlier string
		keys          []string
		want, err     string
	}{
		"unchanged":   {text: whole.text(t), want: unchanged + matches},
		"pages":       {text: paged, want: unchanged + matches},
		"signed":      {text: whole.signed(t, k).text(t), keys: []string{otherKeys, keys}, want: unchanged + "The head of 1970-01-02T00:00:00Z is signed.\n"},
		"later ones":  {text: whole.signed(t, k).text(t), earlier: exported(2).signed(t, k).text(t), keys: []string{keys}, want: unchanged + "The head of 1970-01-02T00:00:00Z is signed.\nAll decisions of 1970-01-02T00:00:00Z are still there.\n"},
		"no head":     {text: with(func(e *decisionExport) { e.Head = nil }).text(t), want: unchanged + "There is no head: decisions may be missing at the end.\n"},
		"none so far": {text: exported(0).text(t), want: rootID + ": unchanged. Decisions: 0, chains: 0\n" + matches},

		"like a result, and none": {text: `{"objectiveId":"y\u001b[2K\nx: unchanged.","decisions":[]}`, want: "y‹U+001B›[2K x: unchanged.: unchanged. Decisions: 0, chains: 0\nThere is no head: decisions may be missing at the end.\n"},

		"changed":                 {text: strings.Replace(whole.text(t), `"ann"`, `"bob"`, 1), err: "decision 3: number 3 of plan-x-1, attempt 1 was changed"},
		"the last one removed":    {text: with(func(e *decisionExport) { e.Decisions = e.Decisions[:2] }).text(t), err: "decisions at the end of plan-x-1, attempt 1 are missing"},
		"a new head":              {text: exported(2).text(t), earlier: whole.text(t), err: "are missing: there are 2, the head counts 3"},
		"of another objective":    {text: with(func(e *decisionExport) { e.ObjectiveID = "obj-y"; e.Head = nil }).text(t), err: "not of obj-y"},
		"the head of another":     {text: with(func(e *decisionExport) { e.ObjectiveID = "obj-y" }).text(t), err: "the head of " + rootID},
		"signed by another":       {text: whole.signed(t, other).text(t), keys: []string{keys}, err: "not among the public keys"},
		"a head that was changed": {text: strings.Replace(whole.signed(t, k).text(t), "1970-01-02", "1970-01-03", 1), keys: []string{keys}, err: "the head was changed"},
		"not signed":              {text: whole.text(t), keys: []string{keys}, err: "not signed"},
		"signed without a head":   {text: with(func(e *decisionExport) { e.Head = nil }).text(t), keys: []string{keys}, err: "no head"},
		"one page":                {text: with(func(e *decisionExport) { e.Next = "p2" }).text(t), err: "not complete"},
		"like a result":           {text: with(func(e *decisionExport) { e.ObjectiveID = "y\x1b[2K\n" + rootID + ": unchanged."; e.Head = nil }).text(t), err: ": these are decisions of " + rootID + ", not of y‹U+001B›[2K " + rootID + ": unchanged."},
		"empty":                   {err: "nothing in it"},
		"something else":          {text: `{"tasks":[]}`, err: "no decisions"},
		"no JSON":                 {text: "hello", err: "no decisions"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := verifyCommand{File: test.File(t, "saved.json", tt.text), JWKS: tt.keys}
			if tt.earlier != "" {
				cmd.Earlier = test.File(t, "saved.json", tt.earlier)
			}
			var out bytes.Buffer
			err := cmd.Run(&process.Process{Ctx: t.Context(), Stdout: &out})
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("%v, want %q", err, tt.err)
			}
			test.Equal(t, "printed", tt.want, out.String())
		})
	}
}

// A fork names the record in its original that it keeps, which must be there as it says.
func TestVerify_original(t *testing.T) {
	export := func(d opt.Decision) (decisionExport, opt.Decision) {
		var chain opt.Chain
		d = *chain.Add(d)
		return decisionExport{ObjectiveID: d.ObjectiveID, Decisions: []json.RawMessage{a2a.DataPart(d).Data}}, d
	}
	then := opt.Decision{ObjectiveID: rootID, PlanID: "p", Attempt: 1, TaskID: "t", GateID: "t:1", Kind: opt.Approval, Action: opt.Accept, Verdict: opt.Accepted, Closed: true, DecidedBy: "ann", ObjectDigest: "sha256:x"}
	for name, tt := range map[string]struct {
		change func(then *opt.Decision, o *opt.Original)
		want   string
	}{
		"as it was":           {func(*opt.Decision, *opt.Original) {}, "as they are in the original: 1\n"},
		"of another one":      {func(_ *opt.Decision, o *opt.Original) { o.ObjectiveID = "obj-z" }, "of another original: 1\n"},
		"by another one":      {func(_ *opt.Decision, o *opt.Original) { o.DecidedBy = "bob" }, "not in"},
		"with another one":    {func(_ *opt.Decision, o *opt.Original) { o.By = append(o.By, opt.Vote{DecidedBy: "bob"}) }, "not in"},
		"at another time":     {func(_ *opt.Decision, o *opt.Original) { o.At = a2a.AtMillis(1) }, "not in"},
		"by no one":           {func(_ *opt.Decision, o *opt.Original) { o.By = nil }, "not in"},
		"of another plan":     {func(_ *opt.Decision, o *opt.Original) { o.Head.PlanID = "q" }, "not in"},
		"not there":           {func(_ *opt.Decision, o *opt.Original) { o.Head.Hash = "sha256:0" }, "not in"},
		"a rejection":         {func(then *opt.Decision, _ *opt.Original) { then.Action = opt.Reject }, "not in"},
		"about another thing": {func(then *opt.Decision, _ *opt.Original) { then.ObjectDigest = "sha256:y" }, "not in"},
		"no head":             {func(_ *opt.Decision, o *opt.Original) { o.Head = nil }, "not in"},
	} {
		t.Run(name, func(t *testing.T) {
			of, o := then, &opt.Original{ObjectiveID: rootID, TaskID: "t", GateID: "t:1", ObjectDigest: "sha256:x", Action: opt.Accept, DecidedBy: "ann", By: []opt.Vote{{DecidedBy: "ann"}}, Head: &opt.ChainHead{PlanID: "p"}}
			head := o.Head
			tt.change(&of, o)
			original, recorded := export(of)
			head.N = recorded.N
			if head.Hash == "" {
				head.Hash = recorded.Hash
			}
			fork, _ := export(opt.Decision{ObjectiveID: "obj-y", PlanID: "q", Attempt: 1, Action: opt.Accept, Closed: true, DecidedBy: opt.ByOriginal, ObjectDigest: "sha256:x", Kept: o})
			cmd := verifyCommand{File: test.File(t, "saved.json", fork.text(t)), Original: test.File(t, "saved.json", original.text(t))}
			var out bytes.Buffer
			err := cmd.Run(&process.Process{Ctx: t.Context(), Stdout: &out})
			if refuses := tt.want == "not in"; refuses != (err != nil) || !strings.Contains(fmt.Sprint(out.String(), err), tt.want) {
				t.Errorf("%v, want %q: %s", err, tt.want, out.String())
			}
		})
	}
}
