package cluster

import (
	"context"
	"database/sql"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver
)

// databaseUser owns the databases.
const databaseUser = "temporal"

// startPostgres starts PostgreSQL with an empty directory, and returns its address.
// As root it runs as another user, since PostgreSQL refuses root.
func startPostgres(t testing.TB) netip.AddrPort {
	t.Helper()
	at, as := free(t), credential(t)
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
		cmd := exec.Command(program(t, name), args...)
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

// credential returns the user that runs PostgreSQL, nil for the current one.
func credential(t testing.TB) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	found, err := user.Lookup("postgres")
	if err != nil {
		found, err = user.Lookup("nobody")
	}
	if err != nil {
		t.Fatal(err)
	}
	uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
	if err := errors.Join(uidErr, gidErr); err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// program returns the path of a program of PostgreSQL. Debian keeps them outside
// the PATH.
func program(t testing.TB, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		t.Fatalf("%s is not installed: apt-get install postgresql", name)
	}
	slices.Sort(found)
	return found[len(found)-1]
}
