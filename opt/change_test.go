package opt_test

import (
	"encoding/json"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A change means the same after a round trip through JSON: empty metadata removes
// the client's, and absent metadata keeps it.
func TestChange_metadata(t *testing.T) {
	for name, tt := range map[string]struct {
		change opt.Change
		json   string
		want   string
	}{
		"none":     {opt.Change{}, `{}`, `{"longhaul/v1/reason":"kept","team":"x"}`},
		"empty":    {opt.Change{Metadata: a2a.Metadata{}}, `{"metadata":{}}`, `{"longhaul/v1/reason":"kept"}`},
		"replaced": {opt.Change{Metadata: a2a.Metadata{}.With("a", 1)}, `{"metadata":{"a":1}}`, `{"a":1,"longhaul/v1/reason":"kept"}`},
		"an order": {opt.Change{Dependencies: []string{}}, `{"dependencies":[]}`, `{"longhaul/v1/reason":"kept","team":"x"}`},
		"reserved key": {opt.Change{Metadata: a2a.Metadata{}.With("longhaul/v1/nothing", true)},
			`{"metadata":{"longhaul/v1/nothing":true}}`, `{"longhaul/v1/reason":"kept"}`},
	} {
		data, err := json.Marshal(tt.change)
		if err != nil || string(data) != tt.json {
			t.Errorf("%s: JSON is %s, %v", name, data, err)
		}
		var change opt.Change
		if err := json.Unmarshal(data, &change); err != nil || change.Empty() != tt.change.Empty() {
			t.Errorf("%s: empty is %v, %v", name, change.Empty(), err)
		}
		o := opt.Objective{Metadata: a2a.Metadata{}.With("team", "x").With("longhaul/v1/reason", "kept")}
		test.OK(t, o.Apply(opt.Event{Kind: opt.ObjectiveChanged, Change: &change}))
		if got, _ := json.Marshal(o.Metadata); string(got) != tt.want {
			t.Errorf("%s: metadata is %s, want %s", name, got, tt.want)
		}
	}
}

// A change is refused for the same texts as a request for something new. Texts
// are never cut.
func TestChange_Check(t *testing.T) {
	text := func(s string) *string { return &s }
	for name, tt := range map[string]struct {
		change *opt.Change
		field  string
	}{
		"none":                   {nil, ""},
		"empty":                  {&opt.Change{}, ""},
		"name":                   {&opt.Change{Name: text("n")}, ""},
		"no name":                {&opt.Change{Name: text("")}, "name"},
		"blank name":             {&opt.Change{Name: text("  ")}, "name"},
		"NUL in the name":        {&opt.Change{Name: text("a\x00")}, "name"},
		"too long a name":        {&opt.Change{Name: text(strings.Repeat("x", opt.MaxName+1))}, "name"},
		"no description":         {&opt.Change{Description: text("")}, ""},
		"long description":       {&opt.Change{Description: text(strings.Repeat("x", opt.MaxDescription))}, ""},
		"too long a description": {&opt.Change{Description: text(strings.Repeat("x", opt.MaxDescription+1))}, "description"},
		"NUL in the description": {&opt.Change{Description: text("\x00")}, "description"},
	} {
		err := tt.change.Check()
		if tt.field != "" {
			wantSpecError(t, err, tt.field)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
