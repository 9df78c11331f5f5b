package serve

import (
	"testing"
	"time"

	"go.uber.org/zap"

	"longhaul/internal/test"
	"longhaul/opt"
)

func TestLimitSettings_limits(t *testing.T) {
	got := limitSettings{MaxPlans: 3, MaxPlanTasks: 7, MaxParallel: 2, TaskTimeout: 90 * time.Second, GateTimeout: 48 * time.Hour, WorkerTimeout: 8 * time.Second}.limits()
	test.Equal(t, "limits", opt.Limits{Plans: 3, Tasks: 7, Parallel: 2, Timeout: 90, GateTimeout: 172_800, WorkerTimeout: 8}, got)
	test.Is(t, "a timeout of a millisecond s", 1, (limitSettings{TaskTimeout: time.Millisecond}).limits().Timeout)
}

// An API does not start, and reloads nothing, with a playbook that has more plans or
// tasks than its settings allow.
func TestServe_playbookAboveTheLimits(t *testing.T) {
	p := &planning{host: newHost(zap.NewNop(), Build{}.withEcho()), api: &apiSettings{Agent: "playbooks", limitSettings: limitSettings{MaxPlans: 1, MaxPlanTasks: 50}}}
	err := p.Start(t.Context())
	test.Fails(t, "the call", "--max-plans", err)
}
