//go:build unix

package lease_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"longhaul/internal/journal"
	"longhaul/internal/lease"
	"longhaul/internal/needs"
	"longhaul/internal/pgserver"
	"longhaul/internal/test"
)

// Variables of a process that holds a lease until it is killed: the directory or the URL.
const (
	holderDir = "LEASE_TEST_DIR"
	holderURL = "LEASE_TEST_URL"
)

func TestMain(m *testing.M) {
	dir, url := os.Getenv(holderDir), os.Getenv(holderURL)
	if dir == "" && url == "" {
		code := m.Run()
		if servers.used.Load() {
			if s, err := server(); err == nil {
				_ = s.Close()
			}
		}
		os.Exit(code)
	}
	var store lease.Store = lease.Files{Dir: dir}
	if url != "" {
		store, _ = lease.NewPostgres(url)
	}
	held, err := store.Hold(context.Background())
	if err == nil {
		err = held.Change(context.Background(), entries("a one", "q sticky"), nil)
	}
	if err != nil {
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString("held\n")
	time.Sleep(time.Minute)
}

var (
	servers struct{ used atomic.Bool }
	server  = sync.OnceValues(func() (*pgserver.Server, error) {
		servers.used.Store(true)
		return pgserver.Start(context.Background(), "fsync=off")
	})
)

// database returns the URL of a new database with the tables.
func database(t *testing.T) string {
	t.Helper()
	needs.Tools(t, "postgres")
	s, err := server()
	name := "d" + filepath.Base(t.TempDir()) + time.Now().Format("150405.000000")
	if err == nil {
		err = s.Create(t.Context(), name)
	}
	test.OK(t, err)
	migrate(t, s.URL(name))
	return s.URL(name)
}

func migrate(t *testing.T, url string) {
	t.Helper()
	test.OK(t, test.Err(journal.Migrate(t.Context(), journal.Config{URL: url})))
}

func entries(texts ...string) (all []lease.Entry) {
	for _, text := range texts {
		all = append(all, lease.Entry{Kind: lease.Kind(text[:1]), Value: text[2:]})
	}
	return all
}

// stores calls test with each store, and with what opens it as another process would.
func stores(t *testing.T, run func(t *testing.T, variable string, open func() lease.Store)) {
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "workers")
		run(t, holderDir+"="+dir, func() lease.Store { return lease.Files{Dir: dir} })
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := database(t)
		run(t, holderURL+"="+url, func() lease.Store {
			p := test.Value(lease.NewPostgres(url))(t)
			t.Cleanup(func() { _ = p.Close() })
			return lease.Impatient(p)
		})
	})
}

// orphans returns the entries of all leases whose process is gone, and ends them.
func orphans(t *testing.T, s lease.Store) (found [][]lease.Entry) {
	t.Helper()
	_, err := s.Orphans(t.Context(), func(_ context.Context, all []lease.Entry) error {
		sortEntries(all)
		found = append(found, all)
		return nil
	})
	test.OK(t, err)
	return found
}

func sortEntries(all []lease.Entry) {
	slices.SortFunc(all, func(a, b lease.Entry) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Value, b.Value))
	})
}

// awaitOrphans waits until there are some: a server ends a session a moment after its process.
func awaitOrphans(t *testing.T, s lease.Store) (found [][]lease.Entry) {
	t.Helper()
	for began := time.Now(); found == nil && time.Since(began) < 20*time.Second; {
		found = orphans(t, s)
	}
	return found
}

func TestStore(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, _ string, open func() lease.Store) {
		here, there := open(), open()
		held, err := here.Hold(t.Context())
		test.OK(t, err)
		test.OK(t, held.Change(t.Context(), entries("q sticky", "a one", "w two", "a \x00three"), nil))
		test.OK(t, held.Change(t.Context(), entries("a four"), entries("w two", "a none")))
		if got := orphans(t, there); got != nil {
			t.Errorf("while it is held: %q", got)
		}
		test.OK(t, held.Release(t.Context(), false))
		refuse := errors.New("not now")
		for err := error(nil); !errors.Is(err, refuse) && t.Context().Err() == nil; { // the server ends the session a moment later
			_, err = there.Orphans(t.Context(), func(context.Context, []lease.Entry) error { return refuse })
		}
		want := [][]lease.Entry{entries("a \x00three", "a four", "a one", "q sticky")}
		if diff := gocmp.Diff(want, awaitOrphans(t, there)); diff != "" {
			t.Error(diff)
		}
		if got := orphans(t, there); got != nil {
			t.Errorf("after it was given back: %q", got)
		}
		second := test.Value(here.Hold(t.Context()))(t)
		test.OK(t, second.Change(t.Context(), entries("q sticky"), nil))
		test.OK(t, second.Release(t.Context(), true))
		if got := orphans(t, there); got != nil {
			t.Errorf("after a goodbye: %q", got)
		}
	})
}

// Of several processes that look at a time, one gives back.
func TestStore_Orphans_once(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, _ string, open func() lease.Store) {
		held := test.Value(open().Hold(t.Context()))(t)
		test.OK(t, held.Change(t.Context(), entries("a one"), nil))
		test.OK(t, held.Release(t.Context(), false))
		var given atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			s := open()
			all.Go(func() {
				for given.Load() == 0 {
					_, err := s.Orphans(context.Background(), func(context.Context, []lease.Entry) error {
						given.Add(1)
						time.Sleep(20 * time.Millisecond)
						return nil
					})
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		test.Is(t, "it was given back times", 1, given.Load())
	})
}

// A process that is killed leaves what it had, and nothing before.
func TestStore_killed(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, variable string, open func() lease.Store) {
		p := exec.Command(os.Args[0])
		p.Env = append(os.Environ(), variable)
		out := test.Value(p.StdoutPipe())(t)
		test.OK(t, p.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || line != "held\n" {
			t.Fatal(line, err)
		}
		s := open()
		if got := orphans(t, s); got != nil {
			t.Errorf("while it runs: %q", got)
		}
		test.OK(t, p.Process.Kill())
		_ = p.Wait()
		if diff := gocmp.Diff([][]lease.Entry{entries("a one", "q sticky")}, awaitOrphans(t, s)); diff != "" {
			t.Error(diff)
		}
	})
}
