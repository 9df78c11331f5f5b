package serve

import (
	"testing"

	"longhaul/opt/access"
)

// Tenants have limits by default where callers are authenticated, and there leave tasks of a
// worker to others. The settings come before the defaults.
func TestWorkSettings_quotas(t *testing.T) {
	for _, tt := range []struct {
		settings      []string
		authenticated bool
		maxTasks      int
		want          [5]int64 // in the order of access.AllQuotas
	}{
		{nil, false, 200, [5]int64{}},
		{[]string{"open-gates=5"}, false, 200, [5]int64{0, 5, 0, 0, 0}},
		{nil, true, 200, [5]int64{10_000, 10_000, 100 << 30, 150, 1_000}},
		{nil, true, 1, [5]int64{10_000, 10_000, 100 << 30, 1, 1_000}},
		{[]string{"stored-bytes=1GiB", "running-tasks=0", "acme:open-objectives=7"}, true, 200, [5]int64{7, 10_000, 1 << 30, 0, 1_000}},
	} {
		q, err := workSettings{Quotas: tt.settings}.quotas(tt.authenticated, tt.maxTasks)
		var got [5]int64
		for i, name := range access.AllQuotas {
			got[i] = q.Limit("acme", name)
		}
		if got != tt.want || err != nil {
			t.Errorf("%q, authenticated %t, %d tasks: %v, %v, want %v", tt.settings, tt.authenticated, tt.maxTasks, got, err, tt.want)
		}
	}
}
