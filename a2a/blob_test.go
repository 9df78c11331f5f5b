package a2a_test

import (
	"errors"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
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
	test.Equal(t, "which parts are references", []bool{false, true, true, true, false}, refs)
	if len(blobs) != 2 { // text and bytes are the same content
		t.Errorf("%d blobs, want 2", len(blobs))
	}
	back := test.Value(a2a.Attach(light, func(id string) ([]byte, error) { return blobs[id], nil }))(t)
	test.Equal(t, "parts that come back", parts, back)
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
