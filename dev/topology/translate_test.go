package topology_test

import (
	"testing"

	"longhaul/dev/topology"
)

func TestTranslate(t *testing.T) {
	for _, test := range []struct{ name, value, want string }{
		{"LONGHAUL_TEMPORAL_ADDR", "temporal:7233", "127.1.0.1:7233"},
		{"API", "api-a:7420 api-b:7420", "127.1.0.2:7420 127.1.0.3:7420"},
		{"LONGHAUL_JOURNAL", "postgres://postgres:secret@postgres:5432/longhaul", "postgres://postgres:secret@127.1.0.5:5432/longhaul"},
		{"LONGHAUL_ADDR", "0.0.0.0:7420", "127.1.0.9:7420"},
		{"LONGHAUL_PUBLIC_URL", "http://127.0.0.1:7420", "http://127.1.0.7:7420"},
		{"POSTGRES_SEEDS", "postgres", "127.1.0.5"},
		{"POSTGRES_USER", "temporal", "temporal"},
		{"DYNAMIC_CONFIG_FILE_PATH", "/etc/temporal/dynamicconfig.yaml", "/src/dynamicconfig.yaml"},
		{"LONGHAUL_DATA_DIR", "/data", "/tmp/x/data"},
		{"PGDATA", "/var/lib/postgresql/data", "/var/lib/postgresql/data"},
		{"X", "/database", "/database"},
	} {
		if got := topology.Translate(test.name, test.value); got != test.want {
			t.Errorf("%s=%s becomes %s, want %s", test.name, test.value, got, test.want)
		}
	}
}
