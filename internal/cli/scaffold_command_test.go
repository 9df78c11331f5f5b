package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"longhaul/internal/serve"
	"longhaul/internal/test"
)

func TestNew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "press")
	run := func(args ...string) (string, int) {
		var out strings.Builder
		code := Run(t.Context(), append([]string{"new"}, args...), &out, &out, serve.Build{})
		return out.String(), code
	}
	source := test.Value(filepath.Abs("../.."))(t)
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{dir, "--longhaul", t.TempDir()}, 2, "the source of Longhaul is not there"},
		{[]string{filepath.Join(source, "press")}, 2, "whose go.work does not have the new module: choose a directory outside"},
		{[]string{dir, "--module", "my press"}, 2, "the path of a module, such as example.com/program"},
		{[]string{filepath.Join(t.TempDir(), "My press")}, 2, "invalid char ' '; name another one with --module"},
		{[]string{dir, "--module", "example.com/daily-press"}, 0, "  playbooks/release.yaml\n\nIt is built with the source of Longhaul in " + source + ". To start it:\n\n  cd " + dir + "\n  go build -o daily-press . && ./daily-press dev\n"},
		{[]string{dir}, 1, dir + " is not empty"},
	} {
		if out, code := run(tt.args...); code != tt.code || !strings.Contains(out, tt.want) {
			t.Errorf("new %q: exit code %d, printed\n%s\nwant in it\n%s", tt.args, code, out, tt.want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err != nil || !strings.HasPrefix(string(text), "module example.com/daily-press\n") {
		t.Errorf("go.mod: error %v\n%.200s", err, text)
	}
}

func TestAround(t *testing.T) {
	source := test.Value(filepath.Abs("../.."))(t)
	for dir, want := range map[string]string{source: source, filepath.Join(source, "docs"): source, filepath.Join(source, "dev", "e2e"): source, t.TempDir(): ""} {
		if got, ok := findSource(dir); got != want || ok != (want != "") {
			t.Errorf("around %s: %q, %v, want %q", dir, got, ok, want)
		}
	}
}
