package cluster

import (
	"os"
	"path/filepath"
	"testing"

	"longhaul/internal/needs"
	"longhaul/internal/pgserver"
)

// startPostgres starts PostgreSQL with an empty directory.
func startPostgres(t testing.TB) *pgserver.Server {
	t.Helper()
	needs.Tools(t, "postgres")
	log, err := os.Create(filepath.Join(t.TempDir(), "postgres.log"))
	if err != nil {
		t.Fatal(err)
	}
	server, err := pgserver.Start(t.Context(), pgserver.Config{Settings: []string{"fsync=off", "max_connections=200"}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		_ = log.Close()
		if t.Failed() {
			content, err := os.ReadFile(log.Name())
			t.Logf("the log of PostgreSQL: %s %v", content, err)
		}
	})
	return server
}
