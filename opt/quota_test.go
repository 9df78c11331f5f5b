package opt_test

import (
	"strings"
	"testing"

	"longhaul/opt"
)

func TestQuotas(t *testing.T) {
	before := opt.DefaultQuotas()
	q, err := before.With("open-gates=500", "acme:open-gates=50", "a:b:open-gates=0", "stored-bytes=2GiB", "acme:stored-bytes=7")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		of     opt.Quotas
		tenant string
		quota  opt.Quota
		want   int64
	}{
		{q, "globex", opt.OpenGates, 500},
		{q, "acme", opt.OpenGates, 50},
		{q, "a:b", opt.OpenGates, 0},
		{q, "globex", opt.StoredBytes, 2 << 30},
		{q, "acme", opt.StoredBytes, 7},
		{q, "acme", opt.OpenObjectives, 10_000},
		{q, "acme", opt.RunningTasks, 0},
		{before, "acme", opt.OpenGates, 10_000}, // it has not changed
		{opt.Quotas{}, "acme", opt.OpenGates, 0},
	} {
		if got := tt.of.Limit(tt.tenant, tt.quota); got != tt.want {
			t.Errorf("%s of %s: %d, want %d", tt.quota, tt.tenant, got, tt.want)
		}
	}
	for _, wrong := range []string{"", "open-gates", "open-gates=", "open-gates=-1", "open-gates=1GiB", "stored-bytes=9000000TiB", "gates=1", "=1", ":open-gates=1", "open-gates=1=2"} {
		if _, err := before.With(wrong); err == nil || !strings.Contains(err.Error(), "open-objectives") {
			t.Errorf("%q: %v, want an error that lists the quotas", wrong, err)
		}
	}
}
