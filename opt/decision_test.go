package opt_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// recorded returns two chains with three decisions each, one after the other in turn.
func recorded(t *testing.T) (docs []json.RawMessage, head opt.DecisionHead) {
	t.Helper()
	var first, second opt.Chain
	for n := range 3 {
		for attempt, chain := range []*opt.Chain{&first, &second} {
			d := chain.Add(opt.Decision{
				ObjectiveID: "obj-a", PlanID: "plan-a-1", Attempt: attempt + 1, TaskID: "task-a-1-0", GateID: "task-a-1-0:1", Kind: opt.Approval,
				Action: opt.Accept, Verdict: opt.NotAllowed, DecidedBy: "bob <b>", Groups: []string{"editors"}, DecidedAt: a2a.AtMillis(int64(1000 * n)),
				MessageID: "m", ObjectDigest: "sha256:00",
			})
			docs = append(docs, a2a.DataPart(d).Data)
		}
	}
	head = opt.DecisionHead{ObjectiveID: "obj-a", Count: 6, At: a2a.AtMillis(5000), Chains: []opt.ChainHead{
		{PlanID: "plan-a-1", Attempt: 1, Chain: first}, {PlanID: "plan-a-1", Attempt: 2, Chain: second},
	}}
	return docs, head
}

// check adds decisions and returns the chains, with the first error.
func check(docs []json.RawMessage) (*opt.Chains, error) {
	c := new(opt.Chains)
	for _, doc := range docs {
		if err := c.Add(doc); err != nil {
			return c, err
		}
	}
	return c, nil
}

// The hash can be computed by any program: it is the SHA-256 of this text.
func TestChain_Add(t *testing.T) {
	c := opt.Chain{N: 1, Hash: "sha256:aa"}
	d := c.Add(opt.Decision{
		ObjectiveID: "obj-a", PlanID: "plan-a-1", Attempt: 1, TaskID: "task-a-1-0", GateID: "task-a-1-0:1",
		Verdict: opt.Accepted, Closed: true, DecidedBy: "ann <a>", DecidedAt: a2a.AtMillis(1_000),
	})
	// printf '%s' '{"attempt":1,"closed":true,"decidedAt":"1970-01-01T00:00:01.000Z","decidedBy":"ann <a>","interruptId":"task-a-1-0:1","n":2,
	// "objectiveId":"obj-a","planId":"plan-a-1","previous":"sha256:aa","taskId":"task-a-1-0","verdict":"accepted"}' | sha256sum, on one line
	want := opt.Chain{N: 2, Hash: "sha256:876931e7217529b55a0939d41af7555980725758398cf9a8b54d19d2f42abb9b"}
	if diff := cmp.Diff(want, c); diff != "" || d.N != 2 || d.Previous != "sha256:aa" || d.Hash != want.Hash {
		t.Errorf("decision %+v, the chain (-want +got):\n%s", d, diff)
	}
}

func TestChains(t *testing.T) {
	docs, head := recorded(t)
	c := test.Value(check(docs))(t)
	test.Error(t, "the call", nil, c.End(head))
	test.Equal(t, "heads", head.Chains, c.Heads())
}

// Each kind of change is found, at the first decision that is not as it was.
func TestChains_finds(t *testing.T) {
	member := func(doc json.RawMessage, name string, value any) json.RawMessage {
		var m map[string]any
		test.OK(t, json.Unmarshal(doc, &m))
		if m[name] = value; value == nil {
			delete(m, name)
		}
		return a2a.DataPart(m).Data
	}
	rehashed := func(doc json.RawMessage, action opt.Action) json.RawMessage {
		var d opt.Decision
		test.OK(t, json.Unmarshal(doc, &d))
		d.Action = action
		return a2a.DataPart((&opt.Chain{N: d.N - 1, Hash: d.Previous}).Add(d)).Data
	}
	replace := func(i int, change func(json.RawMessage) json.RawMessage) func([]json.RawMessage) []json.RawMessage {
		return func(docs []json.RawMessage) []json.RawMessage {
			docs[i] = change(docs[i])
			return docs
		}
	}
	for name, tt := range map[string]struct {
		change   func([]json.RawMessage) []json.RawMessage
		position int
		reason   string
	}{
		"a changed member": {replace(2, func(d json.RawMessage) json.RawMessage { return member(d, "verdict", "accepted") }), 3, "was changed"},
		"a removed member": {replace(2, func(d json.RawMessage) json.RawMessage { return member(d, "groups", nil) }), 3, "was changed"},
		"an added member":  {replace(2, func(d json.RawMessage) json.RawMessage { return member(d, "note", "x") }), 3, "was changed"},
		"another hash":     {replace(2, func(d json.RawMessage) json.RawMessage { return member(d, "hash", "sha256:00") }), 3, "was changed"},
		"a member that is there twice": {replace(2, func(d json.RawMessage) json.RawMessage {
			return json.RawMessage(`{"verdict":"accepted",` + string(d[1:]))
		}), 3, "twice"},
		"a text that is not valid": {replace(2, func(d json.RawMessage) json.RawMessage {
			return json.RawMessage(strings.Replace(string(d), `"bob`, `"\ud800bob`, 1))
		}), 3, "not valid"},
		"a removed one":            {func(d []json.RawMessage) []json.RawMessage { return slices.Delete(d, 2, 3) }, 4, "removed"},
		"the first one removed":    {func(d []json.RawMessage) []json.RawMessage { return d[1:] }, 2, "removed"},
		"two that changed places":  {func(d []json.RawMessage) []json.RawMessage { d[2], d[4] = d[4], d[2]; return d }, 3, "removed"},
		"one that is there twice":  {func(d []json.RawMessage) []json.RawMessage { return slices.Insert(d, 3, d[2]) }, 4, "added"},
		"one that was added":       {func(d []json.RawMessage) []json.RawMessage { return slices.Insert(d, 2, rehashed(d[2], opt.Reject)) }, 4, "added"},
		"one that was hashed anew": {replace(2, func(d json.RawMessage) json.RawMessage { return rehashed(d, opt.Reject) }), 5, "follow on"},
		"one of another objective": {func(d []json.RawMessage) []json.RawMessage {
			return append(d, a2a.DataPart(new(opt.Chain).Add(opt.Decision{ObjectiveID: "obj-b", PlanID: "plan-b-1", Attempt: 1})).Data)
		}, 7, "another objective"},
		"one without a chain": {replace(2, func(d json.RawMessage) json.RawMessage { return member(d, "attempt", nil) }), 3, "to which chain"},
		"no JSON":             {replace(2, func(json.RawMessage) json.RawMessage { return json.RawMessage(`[]`) }), 3, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			docs, _ := recorded(t)
			_, err := check(tt.change(docs))
			bad, ok := errors.AsType[*opt.DecisionError](err)
			if !ok || bad.Position != tt.position || !strings.Contains(bad.Reason, tt.reason) {
				t.Errorf("%v, want decision %d: …%s…", err, tt.position, tt.reason)
			}
		})
	}
}

// A head shows changes at the end of a chain.
func TestChains_head(t *testing.T) {
	whole, head := recorded(t)
	other := head
	other.ObjectiveID = "obj-b"
	forged := head
	forged.Chains = slices.Clone(head.Chains)
	forged.Chains[1].Hash = "sha256:00"
	more := head
	more.Count++
	second := slices.DeleteFunc(slices.Clone(whole), func(d json.RawMessage) bool { return strings.Contains(string(d), `"attempt":1`) })
	for name, tt := range map[string]struct {
		docs        []json.RawMessage
		head        opt.DecisionHead
		reach, ends string // texts of the errors, "" for none
	}{
		"the last one removed":  {whole[:5], head, "missing", "missing"},
		"a whole chain removed": {second, head, "all decisions of plan-a-1, attempt 1 are missing", "missing"},
		"all removed":           {nil, head, "missing", "missing"},
		"another objective":     {whole, other, "another objective", "another objective"},
		"replaced by others":    {whole, forged, "replaced", "replaced"},
		"another count":         {whole, more, "", "counts 7"},
		"later ones":            {whole, opt.DecisionHead{ObjectiveID: "obj-a", Count: 1, Chains: head.Chains[:1]}, "", "added"},
	} {
		t.Run(name, func(t *testing.T) {
			c := test.Value(check(tt.docs))(t)
			for _, check := range []struct {
				err  error
				want string
			}{{c.Reach(tt.head), tt.reach}, {c.End(tt.head), tt.ends}} {
				if (check.err == nil) != (check.want == "") || check.err != nil && !strings.Contains(check.err.Error(), check.want) {
					t.Errorf("%v, want %q", check.err, check.want)
				}
			}
		})
	}
}

func TestDecisionHead_Statement(t *testing.T) {
	h := opt.DecisionHead{ObjectiveID: "obj-a", At: a2a.AtMillis(1_000), Signature: "x"}
	want := `{"at":"1970-01-01T00:00:01.000Z","chains":[],"count":0,"objectiveId":"obj-a"}`
	test.Is(t, "statement", want, string(h.Statement()))
}
