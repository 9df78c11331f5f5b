package a2a_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
)

// Numbers that float64 would spoil pass through as they were written.
func TestMetadata_keepsNumbers(t *testing.T) {
	for _, number := range []string{
		"0", "-0", "1.0", "1.50", "1e3", "1E+03", "9007199254740993", "12345678901234567890123", "0.1000000000000000055511151231257827", "1e400",
	} {
		text := `{"deep":{"list":[` + number + `]},"n":` + number + `}`
		test.Is(t, text+" came back as", text, encode(t, decode[a2a.Metadata](t, text)))
	}
}

func TestMetadata_read(t *testing.T) {
	m := decode[a2a.Metadata](t, `{"s":"text","empty":"","yes":true,"no":false,"null":null,"n":7,"o":{"a":1}}`)
	tests := []struct {
		key    string
		has    bool
		s      string
		isText bool
		b      bool
	}{
		{"s", true, "text", true, false},
		{"empty", true, "", true, false},
		{"yes", true, "", false, true},
		{"no", true, "", false, false},
		{"null", false, "", false, false},
		{"n", true, "", false, false},
		{"o", true, "", false, false},
		{"absent", false, "", false, false},
	}
	for _, tt := range tests {
		test.Is(t, fmt.Sprintf("Has(%q)", tt.key), tt.has, m.Has(tt.key))
		if s, ok := m.String(tt.key); s != tt.s || ok != tt.isText {
			t.Errorf("String(%q) = %q, %v, want %q, %v", tt.key, s, ok, tt.s, tt.isText)
		}
		test.Is(t, fmt.Sprintf("Bool(%q)", tt.key), tt.b, m.Bool(tt.key))
	}
	n := 3
	if err := m.Decode("absent", &n); err != nil || n != 3 {
		t.Errorf("Decode of an absent key: %d, %v, want 3, no error", n, err)
	}
	test.Fails(t, "Decode of a text into a number: no error", "", m.Decode("s", &n))
	var none a2a.Metadata
	if _, ok := none.String("s"); ok || none.Has("s") || none.Bool("s") {
		t.Error("the zero Metadata has something")
	}
}

func TestMetadata_With(t *testing.T) {
	before := a2a.Metadata{"a": json.RawMessage(`1`)}
	after := before.With("b", []string{"x"}).With("a", 2)
	test.Equal(t, "With changed what it was called on", a2a.Metadata{"a": json.RawMessage(`1`)}, before)
	test.Is(t, "With gave", `{"a":2,"b":["x"]}`, encode(t, after))
	test.Is(t, "With on the zero value gave", `{"a":null}`, encode(t, a2a.Metadata(nil).With("a", nil)))
	test.Is(t, "values under conditions are", `{"b":1}`, encode(t, a2a.Metadata(nil).WithIf(false, "a", 1).WithIf(true, "b", 1).WithIf(false, "b", 2)))
}
