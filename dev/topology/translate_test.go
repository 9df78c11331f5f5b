package topology_test

import (
	"fmt"
	"testing"

	"longhaul/dev/topology"
	"longhaul/internal/test"
)

func TestTranslate(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
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
		test.Is(t, fmt.Sprintf("%s=%s becomes", tt.name, tt.value), tt.want, topology.Translate(tt.name, tt.value))
	}
}
