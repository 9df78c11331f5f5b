package serve

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"longhaul/opt"
)

func TestLimitSettings_limits(t *testing.T) {
	got := limitSettings{MaxPlans: 3, MaxPlanTasks: 7, MaxParallel: 2, TaskTimeout: 90 * time.Second, GateTimeout: 48 * time.Hour, WorkerTimeout: 8 * time.Second}.limits()
	if diff := cmp.Diff(opt.Limits{Plans: 3, Tasks: 7, Parallel: 2, Timeout: 90, GateTimeout: 172_800, WorkerTimeout: 8}, got); diff != "" {
		t.Errorf("limits mismatch (-want +got):\n%s", diff)
	}
	if got := (limitSettings{TaskTimeout: time.Millisecond}).limits().Timeout; got != 1 {
		t.Errorf("a timeout of a millisecond is %d s, want 1", got)
	}
}

// An API does not start, and reloads nothing, with a playbook that has more plans or
// tasks than its settings allow.
func TestServe_playbookAboveTheLimits(t *testing.T) {
	p := &planning{host: newHost(zap.NewNop(), Build{}.withEcho()), api: &apiSettings{Agent: "playbooks", limitSettings: limitSettings{MaxPlans: 1, MaxPlanTasks: 50}}}
	err := p.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "--max-plans") {
		t.Errorf("error %v, want one that names --max-plans", err)
	}
}
