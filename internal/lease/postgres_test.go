//go:build linux

package lease_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/jackc/pgx/v5"

	"longhaul/internal/lease"
	"longhaul/internal/needs"
	"longhaul/internal/pgserver"
	"longhaul/internal/test"
)

// hold begins a lease with one entry.
func hold(t *testing.T, s lease.Store) lease.Held {
	t.Helper()
	held := test.Value(s.Hold(t.Context()))(t)
	test.OK(t, held.Change(t.Context(), entries("a one"), nil))
	return held
}

// isHeld fails the test if a lease was lost, or others take it for lost.
func isHeld(t *testing.T, held lease.Held, others lease.Store) {
	t.Helper()
	if got := orphans(t, others); got != nil {
		t.Errorf("others found %q", got)
	}
	select {
	case <-held.Lost():
		t.Error("the lease was lost")
	default:
	}
}

// A lease outlives a connection that is cut, and a server that is started again.
func TestPostgres_cut(t *testing.T) {
	t.Parallel()
	needs.Tools(t, "postgres")
	server := test.Value(pgserver.Start(t.Context(), "fsync=off"))(t)
	t.Cleanup(func() { _ = server.Close() })
	url := newDatabase(t, server)
	here, there := lease.Slow(postgres(t, url)), lease.Slow(lease.Impatient(postgres(t, url)))
	held := hold(t, here)
	for range 3 {
		c, err := pgx.Connect(t.Context(), url)
		test.OK(t, err)
		before := holder(t, c)
		_, err = c.Exec(t.Context(), "SELECT pg_terminate_backend($1)", before)
		test.OK(t, err)
		for holder(t, c) == before { // the lock is taken again when the lease asks
			isHeld(t, held, there)
		}
		test.OK(t, c.Close(t.Context()))
	}
	for _, end := range []func() error{server.Stop, server.Kill} {
		test.OK(t, end())
		time.Sleep(time.Second)
		test.OK(t, server.Run(t.Context()))
		c := test.Value(pgx.Connect(t.Context(), url))(t)
		for holder(t, c) == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		test.OK(t, c.Close(t.Context()))
		isHeld(t, held, there)
	}
	for held.Change(t.Context(), nil, entries("a one")) != nil && t.Context().Err() == nil { // on the connection of before
		time.Sleep(10 * time.Millisecond)
	}
	test.OK(t, held.Release(t.Context(), true))
}

// holder returns the process of the server that has the lock of the only lease, 0 for none.
func holder(t *testing.T, c *pgx.Conn) (pid int) {
	t.Helper()
	test.OK(t, c.QueryRow(t.Context(), "SELECT COALESCE(MAX(pid), 0) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())").Scan(&pid))
	return pid
}

// A server that is slow, but whose kernel is there, keeps the lock, and the worker its lease.
func TestPostgres_slow(t *testing.T) {
	t.Parallel()
	url := database(t)
	held := hold(t, postgres(t, url))
	c := test.Value(pgx.Connect(t.Context(), url))(t)
	pid := holder(t, c)
	test.OK(t, syscall.Kill(pid, syscall.SIGSTOP))
	select {
	case <-held.Lost():
		t.Error("the lease was lost")
	case <-time.After(3 * time.Second): // twice the time for which a server may be silent
	}
	test.OK(t, syscall.Kill(pid, syscall.SIGCONT))
	isHeld(t, held, lease.Impatient(postgres(t, url)))
	test.OK(t, held.Change(t.Context(), nil, entries("a one")))
	test.OK(t, held.Release(t.Context(), true))
	test.OK(t, c.Close(t.Context()))
}

// linkTest is the variable that has the test below run in a network of its own.
const linkTest = "LEASE_TEST_LINK"

// When the link to the server goes down, the worker knows that its lease is lost before the
// server frees the lock. The test has a network of its own, whose only link it takes down; it sees the
// server through a socket that is no network.
func TestPostgres_link(t *testing.T) {
	t.Parallel()
	needs.Tools(t, "postgres")
	if os.Getenv(linkTest) != "" {
		linkGoesDown(t)
		return
	}
	if os.Getuid() != 0 {
		needs.Missing(t, "root", "this test makes a network, which needs root")
	}
	p := exec.Command(os.Args[0], "-test.run=^TestPostgres_link$", "-test.v")
	p.Env = append(os.Environ(), linkTest+"=1")
	p.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	out, err := p.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		needs.Missing(t, "root that may make a network", "this container does not let its root do so")
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

func linkGoesDown(t *testing.T) {
	setLink(t, true)
	server := test.Value(pgserver.Start(t.Context(), "fsync=off"))(t)
	t.Cleanup(func() { _ = server.Close() })
	url := newDatabase(t, server)
	watching := test.Value(pgx.Connect(t.Context(), server.SocketURL("leases")))(t)
	for _, slow := range []bool{false, true, true} { // the server does not answer even before
		setLink(t, true)
		s := postgres(t, url)
		held := hold(t, s)
		before := holder(t, watching)
		if slow {
			test.OK(t, syscall.Kill(before, syscall.SIGSTOP))
		}
		time.Sleep(1100 * time.Millisecond) // it has asked twice
		setLink(t, false)
		down := time.Now()
		if slow {
			test.OK(t, syscall.Kill(before, syscall.SIGCONT))
		}
		select {
		case <-held.Lost():
		case <-time.After(20 * time.Second):
			t.Fatal("the worker did not notice that the link is down")
		}
		knew := time.Since(down)
		if holder(t, watching) != before {
			t.Errorf("the server has freed the lock before the worker knew, after %v", knew)
		}
		for holder(t, watching) == before {
			if time.Since(down) > 20*time.Second {
				t.Fatal("the server did not free the lock")
			}
			time.Sleep(time.Millisecond)
		}
		t.Logf("the worker knew after %v, the server freed the lock after %v", knew, time.Since(down))
		ctx, end := context.WithTimeout(t.Context(), time.Second)
		_ = held.Release(ctx, false)
		end()
	}
}

// setLink sets the loopback of this network up or down.
func setLink(t *testing.T, up bool) {
	t.Helper()
	socket := test.Value(syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0))(t)
	defer syscall.Close(socket)
	request := struct {
		name  [16]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_RUNNING}
	copy(request.name[:], "lo")
	if up {
		request.flags |= syscall.IFF_UP
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(socket), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		t.Fatal(errno)
	}
}

func newDatabase(t *testing.T, s *pgserver.Server) (url string) {
	t.Helper()
	test.OK(t, s.Create(t.Context(), "leases"))
	url = s.URL("leases")
	migrate(t, url)
	return url
}

func postgres(t *testing.T, url string) *lease.Postgres {
	t.Helper()
	p := test.Value(lease.NewPostgres(url))(t)
	t.Cleanup(func() { _ = p.Close() })
	return p
}
