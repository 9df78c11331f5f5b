package llm

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"longhaul/internal/test"
	"longhaul/opt"
)

// A policy that asks says who decides; without a word about that it is not who asked for the work.
func TestReadPolicy(t *testing.T) {
	for text, want := range map[string]policy{
		`ask`:   {ask, byOthers},
		`allow`: {allow, byOthers},
		`ask: {groups: [operators], accepts: 2, veto: false}`: {ask, &opt.Responders{Groups: []string{"operators"}, Accepts: 2, NoVeto: true, NotRequester: true, AnonymousMay: true}},
		`ask: {principals: [ann], not-requester: true}`:       {ask, &opt.Responders{Principals: []string{"ann"}, NotRequester: true}},
		`ask: {not-requester: false}`:                         {ask, nil},
	} {
		got, wrong := policyOf(t, text)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(policy{})); diff != "" || wrong != nil {
			t.Errorf("%s: %v, mismatch (-want +got):\n%s", text, wrong, diff)
		}
	}
	for text, want := range map[string]string{
		`[ask]`:                                "or ask with who decides",
		`maybe`:                                "the policy must be allow, ask or deny",
		`ask: {group: [x]}`:                    "group",
		`ask: {accepts: 101}`:                  "accepts must be",
		`ask: {principals: [ann], accepts: 2}`: "1 principals cannot accept 2 times",
	} {
		if _, wrong := policyOf(t, text); wrong == nil || !strings.Contains(wrong.Error(), want) || strings.Contains(wrong.Error(), "\n") {
			t.Errorf("%s: %v, want %q", text, wrong, want)
		}
	}
}

// One of those who decide about a call decides whether it is made again.
func TestPolicy_again(t *testing.T) {
	for text, want := range map[string]*opt.Responders{
		`ask`:   byOthers,
		`allow`: nil,
		`ask: {groups: [operators], accepts: 2, veto: false}`: {Groups: []string{"operators"}, NotRequester: true, AnonymousMay: true},
		`ask: {not-requester: false}`:                         nil,
	} {
		p, _ := policyOf(t, text)
		test.Equal(t, text, want, p.again())
	}
}

func policyOf(t *testing.T, text string) (policy, error) {
	t.Helper()
	var doc yaml.Node
	test.OK(t, yaml.Unmarshal([]byte(text), &doc))
	return readPolicy(*doc.Content[0])
}
