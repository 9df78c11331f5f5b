package access_test

import (
	"strings"
	"testing"

	"longhaul/opt/access"
)

func TestQuotas(t *testing.T) {
	before := access.DefaultQuotas()
	q, err := before.With("open-gates=500", "acme:open-gates=50", "a:b:open-gates=0", "stored-bytes=2GiB", "acme:stored-bytes=7")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		of     access.Quotas
		tenant string
		quota  access.Quota
		want   int64
	}{
		{q, "globex", access.OpenGates, 500},
		{q, "acme", access.OpenGates, 50},
		{q, "a:b", access.OpenGates, 0},
		{q, "globex", access.StoredBytes, 2 << 30},
		{q, "acme", access.StoredBytes, 7},
		{q, "acme", access.OpenObjectives, 10_000},
		{q, "acme", access.RunningTasks, 0},
		{before, "acme", access.OpenGates, 10_000}, // it has not changed
		{access.Quotas{}, "acme", access.OpenGates, 0},
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
