package cli

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/opt"
)

func TestAPISettings_limits(t *testing.T) {
	got := apiSettings{MaxPlans: 3, MaxPlanTasks: 7, MaxParallel: 2, TaskTimeout: 90 * time.Second}.limits()
	if diff := cmp.Diff(opt.Limits{Plans: 3, Tasks: 7, Parallel: 2, Timeout: 90}, got); diff != "" {
		t.Errorf("limits mismatch (-want +got):\n%s", diff)
	}
	if got := (apiSettings{TaskTimeout: time.Millisecond}).limits().Timeout; got != 1 {
		t.Errorf("a timeout of a millisecond is %d s, want 1", got)
	}
}

// A limit below 1 is refused.
func TestRun_limitTooLow(t *testing.T) {
	for _, flag := range []string{"--max-plans=0", "--max-plan-tasks=-1", "--max-parallel=0", "--task-timeout=0s"} {
		name, _, _ := strings.Cut(flag, "=")
		var stderr strings.Builder
		args := []string{"api", flag, "--data-dir", t.TempDir(), "--temporal-addr", "127.0.0.1:1"}
		if code := Run(t.Context(), args, io.Discard, &stderr, Build{}); code != 1 || !strings.Contains(stderr.String(), name) {
			t.Errorf("%s: exit code %d, standard error:\n%s", flag, code, stderr.String())
		}
	}
}
