// Package bench_test runs the benchmark. Its tests are not beside it, because they would be linked with it.
package bench_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/needs"
	"longhaul/internal/test"
)

// The benchmark runs all of its parts at the smallest sizes and writes figures. It does
// not judge them.
func TestBench(t *testing.T) {
	t.Parallel()
	testParts(t, "a,b,c,d,e,f,g")
}

func TestBench_postgres(t *testing.T) {
	t.Parallel()
	needs.Tools(t, "postgres")
	testParts(t, "a,b,e,f", "-postgres")
}

func testParts(t *testing.T, parts string, more ...string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bench.json")
	args := append([]string{"-only", parts, "-rounds", "1", "-alone", "50ms", "-together", "50ms",
		"-parallel", "2", "-stored", "4", "-subscribers", "2", "-gates", "3", "-kills", "1", "-day", "8,40", "-dir", t.TempDir(), "-json", path}, more...)
	out, err := exec.CommandContext(t.Context(), harness.Build(t, "longhaul/dev/cmd/bench"), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("bench: %v\n%s", err, out)
	}
	raw := test.Value(os.ReadFile(path))(t)
	var report struct {
		CPUs    int
		Figures []struct {
			Part, Name, Unit, Baseline string
			Value, Ratio               float64
			Rounds                     int
		}
	}
	test.OK(t, json.Unmarshal(raw, &report))
	found := map[string]int{}
	for _, f := range report.Figures {
		found[f.Part]++
		if f.Name == "" || f.Unit == "" || f.Rounds == 0 || f.Value <= 0 && f.Part != "e" {
			t.Errorf("not a figure: %+v", f)
		}
		if !strings.Contains(string(out), f.Name) {
			t.Errorf("the table has no %q:\n%s", f.Name, out)
		}
	}
	for part := range strings.SplitSeq(parts, ",") {
		if found[part] == 0 {
			t.Errorf("part %s has no figures:\n%s", part, out)
		}
	}
}

func TestBench_refuses(t *testing.T) {
	cache := t.TempDir()
	for flags, want := range map[string]string{
		"-only x":   `there is no part "x"`,
		"-day 0":    "is not a number of 1 or more",
		"-rounds 0": "must be 1 or more",
		"-peers":    "npm install --ignore-scripts --prefix " + cache,
	} {
		cmd := exec.CommandContext(t.Context(), harness.Build(t, "longhaul/dev/cmd/bench"), strings.Fields(flags)...)
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache) // without Restate
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: error %v, want %q in\n%s", flags, err, want, out)
		}
	}
}
