package opt_test

import (
	"encoding/json"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// Two gates have the same digest if they show the same: the order of parts, types
// and names count.
func TestGate_Digest(t *testing.T) {
	pdf := a2a.Part{Raw: []byte("x"), MediaType: "application/pdf", Filename: "a.pdf"}
	renamed := pdf
	renamed.Filename = "b.pdf"
	text, data := a2a.TextPart("x"), a2a.Part{Data: json.RawMessage(`{"a":1}`)}
	seen := map[string]int{}
	for i, parts := range [][]a2a.Part{{text}, {pdf}, {renamed}, {text, data}, {data, text}, {data}} {
		digest := (&opt.Gate{Object: parts}).Digest()
		if first, twice := seen[digest]; twice {
			t.Errorf("objects %d and %d have the same digest", first, i)
		}
		seen[digest] = i
	}
	test.Is(t, "the digest of nothing", "", (&opt.Gate{}).Digest())
	given := &opt.Gate{ArtifactData: json.RawMessage(`{ "a": 1.0 }`)}
	test.Is(t, "the digest of artifact data is", (&opt.Gate{Object: []a2a.Part{data}}).Digest(), given.Digest())
	// So that others can check it: the digest covers this text.
	// [{"sha256":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}]
	if got, want := (&opt.Gate{Object: []a2a.Part{text}}).Digest(), "sha256:"+a2a.TextPart(`[{"sha256":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}]`).Digest(); got != want {
		t.Errorf("the digest of a text is %s, want %s", got, want)
	}
}
