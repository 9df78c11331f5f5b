package a2a_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
)

// Attach restores what Detach took out. Small parts do not change.
func TestDetach(t *testing.T) {
	large := strings.Repeat("x", a2a.Large)
	parts := []a2a.Part{
		a2a.TextPart("small"), a2a.TextPart(large), {Raw: []byte(large), Filename: "x.bin"}, a2a.DataPart(large), {Raw: []byte{}},
	}
	light, blobs := a2a.Detach(parts)
	var refs []bool
	for _, p := range light {
		refs = append(refs, p.Ref != nil)
		if p.Members() != 1 {
			t.Errorf("part %+v has %d members, want 1", p, p.Members())
		}
	}
	if diff := cmp.Diff([]bool{false, true, true, true, false}, refs); diff != "" {
		t.Errorf("which parts are references (-want +got):\n%s", diff)
	}
	if len(blobs) != 2 { // text and bytes are the same content
		t.Errorf("%d blobs, want 2", len(blobs))
	}
	back, err := a2a.Attach(light, func(id string) ([]byte, error) { return blobs[id], nil })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(parts, back); diff != "" {
		t.Errorf("parts that come back (-want +got):\n%s", diff)
	}
}

func TestDetach_nothing(t *testing.T) {
	parts := []a2a.Part{a2a.TextPart("small")}
	if light, blobs := a2a.Detach(parts); &light[0] != &parts[0] || blobs != nil {
		t.Errorf("Detach of small parts: %v, %v, want them as they are", light, blobs)
	}
}

func TestAttach_missing(t *testing.T) {
	missing := errors.New("missing")
	light, _ := a2a.Detach([]a2a.Part{a2a.TextPart(strings.Repeat("x", a2a.Large))})
	if _, err := a2a.Attach(light, func(string) ([]byte, error) { return nil, missing }); !errors.Is(err, missing) {
		t.Errorf("Attach: %v, want %v", err, missing)
	}
}
