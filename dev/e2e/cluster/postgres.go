package cluster

import (
	"context"
	"database/sql"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"longhaul/dev/postgres"
)

// databaseUser owns the databases.
const databaseUser = "temporal"

// startPostgres starts PostgreSQL with an empty directory, and returns its address.
// As root it runs as another user, since PostgreSQL refuses root.
func startPostgres(t testing.TB) netip.AddrPort {
	t.Helper()
	at := free(t)
	as, err := postgres.Credential()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "longhaul-postgres-") // not below the test's own, which others may not enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if as != nil {
		if err := os.Chown(dir, int(as.Uid), int(as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		path, err := postgres.Program(name)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(path, args...)
		cmd.Dir = dir
		cmd.SysProcAttr = attributes(as)
		return cmd
	}
	data := filepath.Join(dir, "data")
	if out, err := command("initdb", "-D", data, "-U", databaseUser, "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "postgres.log"))
	if err != nil {
		t.Fatal(err)
	}
	server := command("postgres", "-D", data, "-h", at.Addr().String(), "-p", strconv.Itoa(int(at.Port())), "-k", dir, "-c", "fsync=off", "-c", "max_connections=200")
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, server, log) })
	db, err := sql.Open("pgx", "postgres://"+databaseUser+"@"+at.String()+"/postgres")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	eventually(t, "PostgreSQL answers", func(ctx context.Context) error { return db.PingContext(ctx) })
	return at
}

// stop ends PostgreSQL at once: connections of Temporal stay open.
func stop(t testing.TB, server *exec.Cmd, log *os.File) {
	_ = server.Process.Signal(syscall.SIGQUIT)
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("PostgreSQL did not stop")
		_ = server.Process.Kill()
		<-ended
	}
	_ = log.Close()
	if t.Failed() {
		content, err := os.ReadFile(log.Name())
		t.Logf("the log of PostgreSQL: %s %v", content, err)
	}
}
