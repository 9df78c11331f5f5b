package api_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/opt"
)

// A gate shows its object: all parts in the status message, text and JSON also in
// the metadata. Internal fields are not shown.
func TestGate_showsObject(t *testing.T) {
	s := newService(t)
	task := "task-" + u("m") + "-1-1"
	s.send(t, "m", "outline")
	digest := (&opt.Gate{Object: []a2a.Part{a2a.TextPart("Outline")}}).Digest()
	interrupt := `{"actions":["accept","reject","refine","edit-accept","ask"],"artifactData":"Outline","artifactId":"1-0-task-` + u("m") + `-1-0","artifactType":"text/plain",` +
		`"interruptId":"` + task + `:1","kind":"approval","objectDigest":"` + digest + `","requestedAt":"2026-03-01T09:30:00.500Z","taskId":"` + task + `","title":"Good? Outline"}`
	want := `[{"text":"Good? Outline"},{"data":` + interrupt + `},{"text":"Outline"}]`
	for _, id := range []string{"obj-" + u("m"), task} {
		got := s.must(t, "GetTask", `{"id":"`+id+`"}`)
		if diff := cmp.Diff(want, got.at("status", "message", "parts").String()); diff != "" {
			t.Errorf("status message of %s (-want +got):\n%s", id, diff)
		}
		if diff := cmp.Diff(interrupt, got.at("metadata", "openwop", "interrupt").String()); diff != "" {
			t.Errorf("metadata of %s (-want +got):\n%s", id, diff)
		}
	}
	_, page := s.interrupts(t, "")
	for member, want := range map[string]string{"artifactData": "Outline", "object": "", "sources": ""} {
		if got := page.at("interrupts", "0", member).String(); got != want {
			t.Errorf("%s in the inbox is %q, want %q", member, got, want)
		}
	}
}

// Refine has the object made again with the remark; then the same task asks again.
func TestGate_refine(t *testing.T) {
	for name, parts := range map[string]string{
		"feedback":     `{"data":{"action":"refine","refineFeedback":{"scope":"section","sectionPath":"2","text":"shorter"}}}`,
		"in old words": `{"data":{"decision":"rejected","feedback":"shorter"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			root, task := "obj-"+u("m"), "task-"+u("m")+"-1-1"
			s.send(t, "m", "outline")
			if n := s.say(t, task, "r", parts, ""); n.has("error") {
				t.Fatalf("refused: %v", n)
			}
			got := s.must(t, "GetTask", `{"id":"`+root+`"}`)
			interrupt := got.at("metadata", "openwop", "interrupt")
			if data, id := interrupt.at("artifactData").String(), interrupt.at("interruptId").String(); data != "Outline, shorter" || id != task+":2" {
				t.Errorf("gate %s shows %q, want the new outline at the second gate", id, data)
			}
			made := s.must(t, "GetTask", `{"id":"task-`+u("m")+`-1-0~2"}`)
			if state := made.at("status", "state").String(); state != "TASK_STATE_COMPLETED" {
				t.Errorf("the task that made it again is %s", state)
			}
			s.say(t, task, "r2", `{"text":"accept"}`, "")
			wantArtifact(t, s, root, "From: Outline, shorter")
		})
	}
}

// Edit-accept puts what the person sends in the place of the object.
func TestGate_editAccept(t *testing.T) {
	for name, parts := range map[string]string{
		"edit-accept": `{"data":{"action":"edit-accept","editedArtifactData":"Mine"}}`,
		"edit":        `{"data":{"action":"edit","editedArtifactData":"Mine"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			s.send(t, "m", "outline")
			if n := s.say(t, "obj-"+u("m"), "r", parts, ""); n.has("error") {
				t.Fatalf("refused: %v", n)
			}
			wantArtifact(t, s, "obj-"+u("m"), "From: Mine")
		})
	}
}

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
	if got := digest(); got != second {
		t.Errorf("after the refusal the gate is about %q", got)
	}
	if n := accept("r3", second); n.has("error") {
		t.Errorf("the decision about the present object is refused: %v", n)
	}
	wantArtifact(t, s, root, "From: Outline, shorter")
}
