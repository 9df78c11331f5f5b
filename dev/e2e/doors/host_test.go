package doors_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// The official client and its extension for tasks call a tool, are asked, and get the result: over HTTP,
// and through the command for local hosts.
func TestOfficialHost(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.site.Start(harness.AllInOne)
	main := filepath.Join(harness.NodeProgram(t, "js", filepath.Join("js", "main.mjs")), "main.mjs")
	for name, in := range map[string]obj{
		"tasks over HTTP":            {"tasks": true},
		"forms over HTTP":            {"tasks": false},
		"forms over standard output": {"tasks": false, "program": o.site.Binary()},
	} {
		t.Run(name, func(t *testing.T) {
			in["url"], in["token"], in["tool"] = o.site.URL(), o.keys["ann"], "ask"
			raw := test.Value(json.Marshal(in))(t)
			cmd := exec.CommandContext(t.Context(), "node", main, string(raw))
			var complaints strings.Builder
			cmd.Stderr = &complaints
			text, err := cmd.Output()
			var out struct {
				Names, Asked []string
				IsError      bool
				Text         string
			}
			if err != nil || json.Unmarshal(text, &out) != nil {
				t.Fatalf("%v: %s\n%s", err, text, &complaints)
			}
			if !slices.Contains(out.Names, "answer") || !slices.Contains(out.Names, "one") || len(out.Asked) != 1 || !strings.HasPrefix(out.Asked[0], "form Really?") || out.IsError ||
				!strings.Contains(out.Text, "done") {
				t.Errorf("the host has seen %+v\n%s", out, &complaints)
			}
		})
	}
}
