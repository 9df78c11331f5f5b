package api_test

import (
	"strings"
	"testing"

	"longhaul/internal/test"
)

func wantArtifact(t *testing.T, s *fixture, id, want string) {
	t.Helper()
	got := s.must(t, "GetTask", `{"id":"`+id+`"}`)
	if text := got.at("artifacts", "0", "parts", "0", "text").String(); text != want {
		t.Errorf("the artifact is %q, want %q: %v", text, want, got)
	}
}

// A decision with the digest of an earlier object is refused and leaves the gate
// unchanged.
func TestGate_objectDigest(t *testing.T) {
	s := newService(t)
	root, task := "obj-"+u("m"), "task-"+u("m")+"-1-1"
	digest := func() string {
		return s.must(t, "GetTask", `{"id":"`+root+`"}`).at("metadata", "openwop", "interrupt", "objectDigest").String()
	}
	s.send(t, "m", "outline")
	first := digest()
	s.say(t, task, "r", `{"data":{"action":"refine","feedback":"shorter"}}`, "")
	second := digest()
	if first == second || !strings.HasPrefix(second, "sha256:") {
		t.Errorf("the digests of two objects are %q and %q", first, second)
	}
	accept := func(id, digest string) node {
		return s.say(t, task, id, `{"data":{"action":"accept","objectDigest":"`+digest+`"}}`, "")
	}
	refused := accept("r2", first)
	if got, reason := wantCode(t, refused, "-32602"), refused.at("error", "data", "0", "reason").String(); !strings.Contains(got, "objectDigest") || reason != "OBJECT_CHANGED" {
		t.Errorf("the refusal says %q, for the reason %q", got, reason)
	}
	test.Is(t, "after the refusal the gate is about", second, digest())
	if n := accept("r3", second); n.has("error") {
		t.Errorf("the decision about the present object is refused: %v", n)
	}
	wantArtifact(t, s, root, "From: Outline, shorter")
}
