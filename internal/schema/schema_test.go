package schema_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"longhaul/internal/schema"
)

func TestSchema_Check(t *testing.T) {
	for _, tt := range []struct{ schema, value, problem string }{
		{`{"type":"integer","minimum":1}`, `3`, ""},
		{`{"type":"integer","minimum":1}`, `0`, "minimum"},
		{`{"type":"integer"}`, `"3"`, "want integer"},
		{`{"enum":["a","b"]}`, `"c"`, "'a'"},
		{`{"$defs":{"n":{"type":"number"}},"properties":{"x":{"$ref":"#/$defs/n"}}}`, `{"x":"y"}`, "at /x: "},
		{`true`, `null`, ""},
	} {
		s, err := schema.Parse(json.RawMessage(tt.schema))
		if err != nil {
			t.Errorf("%s: %v", tt.schema, err)
			continue
		}
		err = s.Check(json.RawMessage(tt.value))
		if (err == nil) != (tt.problem == "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%s for %s: %v, want %q", tt.value, tt.schema, err, tt.problem)
		}
	}
}

// A schema reads no file and no URL, though both exist.
func TestParse_refuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(file, []byte(`{"type":"string"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ schema, problem string }{
		{`{"$ref":"file://` + file + `"}`, "outside of the schema"},
		{`{"$ref":"https://example.com/schema.json"}`, "outside of the schema"},
		{`{"$ref":"other.json"}`, "outside of the schema"},
		{`{"type":"nothing"}`, "read schema"},
		{`{`, "read schema"},
		{`"` + strings.Repeat("x", schema.MaxSize) + `"`, "at most"},
	} {
		if _, err := schema.Parse(json.RawMessage(tt.schema)); err == nil || !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%.60s: %v, want %q", tt.schema, err, tt.problem)
		}
	}
}

// A text is JSON only where the schema takes no text.
func TestFromText(t *testing.T) {
	for _, tt := range []struct{ schema, text, want, problem string }{
		{``, `200`, `"200"`, ""},
		{`{"type":"integer"}`, ` 200 `, `200`, ""},
		{`{"type":"boolean"}`, `true`, `true`, ""},
		{`{"type":"boolean"}`, `"true"`, ``, "want boolean"},
		{`{"type":"array","items":{"type":"integer"}}`, `[1,2]`, `[1,2]`, ""},
		{`{"type":"object"}`, `{"a":1}`, `{"a":1}`, ""},
		{`{"type":["string","integer"]}`, `200`, `"200"`, ""},
		{`{"type":["null","integer"]}`, `null`, `null`, ""},
		{`{"enum":["true","false"]}`, `"true"`, `"true"`, ""},
		{`{"type":"integer"}`, `many`, ``, "want integer"},
		{`{"type":"integer","minimum":1}`, `0`, ``, "minimum"},
		{`{"type":"integer","minimum":100}`, `5`, ``, "minimum: got 5, want 100"},
		{`{"minLength":2,"type":"string"}`, `5`, ``, "minLength: got 1, want 2"},
		{`{"minLength":2}`, `5`, `5`, ""},
		{`{`, `0`, ``, "invalid schema"},
	} {
		var raw json.RawMessage
		if tt.schema != "" {
			raw = json.RawMessage(tt.schema)
		}
		got, err := schema.FromText(raw, tt.text)
		if tt.problem != "" {
			if err == nil || !strings.Contains(err.Error(), tt.problem) {
				t.Errorf("%s for %s: %v, want %q", tt.text, tt.schema, err, tt.problem)
			}
			continue
		}
		if err != nil || string(got) != tt.want {
			t.Errorf("%s for %s: %s, %v; want %s", tt.text, tt.schema, got, err, tt.want)
		}
	}
}
