package rebuild_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/needs"
	"longhaul/internal/pgserver"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A store is where a journal is, with what docs/operations.md says about its backup.
type store interface {
	settings() []string           // of the processes
	backup(w *world)              // while they run
	restore(w *world) (now store) // while they do not run
}

// A journal that is restored from a backup lacks newer events, and a rebuild adds them.
// Gates that were opened before the backup and after it can still be answered.
func TestRestore(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) store{
		"sqlite":   func(t *testing.T) store { return &sqliteStore{copy: filepath.Join(t.TempDir(), "copy.db")} },
		"postgres": newPostgresStore,
	} {
		t.Run(name, func(t *testing.T) {
			journal := open(t)
			w := newWorld(t)
			w.site.Env = journal.settings()
			p := w.site.Start(harness.AllInOne)
			w.send(harness.Message{ID: "done", Plan: harness.NewPlan("done", "say one", "say two")}, "COMPLETED")
			w.send(harness.Message{ID: "gate", Plan: harness.NewPlan("gate", "say before", "approve it; say approved")}, "INPUT_REQUIRED")
			w.send(harness.Message{ID: "open", Plan: harness.NewPlan("open", "approve first", "say between", "approve second; say end")}, "INPUT_REQUIRED")
			journal.backup(w)

			newer := len(w.tasks)
			w.send(harness.Message{ID: "later", Plan: harness.NewPlan("later", "say three")}, "COMPLETED")
			w.send(harness.Message{ID: "later-gate", Plan: harness.NewPlan("later-gate", "approve that; say so")}, "INPUT_REQUIRED")
			w.passes("open") // its second gate is newer, too
			shown := w.shown()
			p.Kill()

			w.site.Env = journal.restore(w).settings()
			temporal := w.site.Start(harness.Temporal)
			var s summary
			if !w.run("verify", &s) || s.Found == 0 {
				t.Errorf("before the rebuild: %+v, want missing objectives", s)
			}
			if w.run("rebuild", &s) || s.Restored != len(w.tasks)-newer+1 {
				t.Errorf("rebuilt: %+v, want %d new objectives and one with news", s, len(w.tasks)-newer)
			}
			if w.run("verify", &s) || s.Equal != len(w.tasks) {
				t.Errorf("verified: %+v, want %d equal objectives", s, len(w.tasks))
			}
			temporal.Stop()

			w.site.Start(harness.AllInOne)
			for id, before := range shown {
				if after := w.shown()[id]; after != before {
					t.Errorf("%s was\n%s\nand is\n%s", id, before, after)
				}
			}
			w.finish()
			for _, id := range w.tasks {
				w.c.AwaitState(w.T, within, id, "COMPLETED")
			}
			if w.run("verify", &s) || s.Equal != len(w.tasks) {
				t.Errorf("in the end: %+v, want %d equal objectives", s, len(w.tasks))
			}
		})
	}
}

// A Temporal that is restored from a copy that is older than the journal: a rebuild has the
// workflows set the journal back to what they know, and their work continues from there.
func TestRestore_temporalOlder(t *testing.T) {
	w := newWorld(t)
	p := w.site.Start(harness.AllInOne)
	w.send(harness.Message{ID: "done", Plan: harness.NewPlan("done", "say one")}, "COMPLETED")
	w.send(harness.Message{ID: "gate", Plan: harness.NewPlan("gate", "say before", "approve it; say approved")}, "INPUT_REQUIRED")
	w.send(harness.Message{ID: "open", Plan: harness.NewPlan("open", "approve first", "say between", "approve second; say end")}, "INPUT_REQUIRED")
	p.Stop()
	copied := w.temporalFiles()

	p = w.site.Start(harness.AllInOne)
	w.passes("open")
	w.c.MustSendUntil(t.Context(), t, harness.Reply("early", w.tasks[1], opt.GateID(w.stepOf(w.tasks[1]), 1), "accept"))
	w.c.AwaitState(t, within, w.tasks[1], "COMPLETED")
	p.Stop()
	for name := range w.temporalFiles() {
		test.OK(t, os.Remove(name))
	}
	for name, data := range copied {
		test.OK(t, os.WriteFile(name, data, 0o600))
	}

	w.site.Start(harness.AllInOne)
	var s summary
	if !w.run("verify", &s) || !slices.Contains(s.kinds(), "behind") {
		t.Errorf("before the rebuild: %+v, want workflows that are behind", s)
	}
	if w.run("rebuild", &s) || s.Rewound == 0 {
		t.Errorf("rebuilt: %+v, want workflows that set the journal back", s)
	}
	for i, step := range []string{"-1-1", "-1-0"} {
		w.c.Await(t, within, w.gates[i], "waits again where it was", func(task *harness.Task) bool { return task.Gate != nil && strings.HasSuffix(task.Gate.TaskID, step) })
	}
	w.passes("again")
	w.finish()
	w.c.AwaitState(t, within, w.tasks[1], "COMPLETED")
	if w.run("verify", &s) || s.Found != 0 {
		t.Errorf("in the end: %+v, want no problems", s)
	}
}

// temporalFiles reads the databases of the built-in Temporal.
func (w *world) temporalFiles() map[string][]byte {
	w.Helper()
	names, err := filepath.Glob(filepath.Join(w.site.Dir, "temporal*.db*"))
	if err != nil || len(names) == 0 {
		w.Fatalf("no databases of Temporal: %v", err)
	}
	out := map[string][]byte{}
	for _, name := range names {
		if out[name], err = os.ReadFile(name); err != nil {
			w.Fatal(err)
		}
	}
	return out
}

// stepOf returns the task at the gate of a root task.
func (w *world) stepOf(id string) string {
	w.Helper()
	task, err := w.c.Get(w.Context(), id)
	if err != nil || task.Gate == nil {
		w.Fatalf("%s: no gate: %v", id, err)
	}
	return task.Gate.TaskID
}

// passes answers the gate of the latest task of w.gates with two of them, and waits until
// it waits at the next.
func (w *world) passes(key string) {
	w.Helper()
	id := w.tasks[2]
	task, err := w.c.Get(w.Context(), id)
	if err != nil || task.Gate == nil {
		w.Fatalf("%s: no gate: %v", id, err)
	}
	first := task.Gate.ID
	w.c.MustSendUntil(w.Context(), w, harness.Reply(key+"-first", id, first, "accept"))
	w.c.Await(w.T, within, id, "waits at the next gate", func(task *harness.Task) bool { return task.Gate != nil && task.Gate.ID != first })
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

type sqliteStore struct{ copy string }

func (s *sqliteStore) settings() []string { return nil }

func (s *sqliteStore) backup(w *world) {
	command(w.T, needs.Tool(w.T, "sqlite3"), filepath.Join(w.site.Dir, "journal.db"), fmt.Sprintf(".backup '%s'", s.copy))
}

func (s *sqliteStore) restore(w *world) store {
	w.lose()
	data, err := os.ReadFile(s.copy)
	if err == nil {
		err = os.WriteFile(filepath.Join(w.site.Dir, "journal.db"), data, 0o600)
	}
	test.OK(w, err)
	return s
}

type postgresStore struct {
	server   *pgserver.Server
	database string
	dump     string
}

func newPostgresStore(t *testing.T) store {
	t.Helper()
	needs.Tools(t, "postgres")
	server, err := pgserver.Start(t.Context(), "fsync=off")
	test.OK(t, err)
	t.Cleanup(func() {
		test.Error(t, "the call", nil, server.Close())
	})
	s := &postgresStore{server, "journal", filepath.Join(t.TempDir(), "journal.dump")}
	test.OK(t, server.Create(t.Context(), s.database))
	return s
}

func (s *postgresStore) settings() []string {
	return []string{"LONGHAUL_JOURNAL=" + s.server.URL(s.database), "LONGHAUL_SECRET_KEYS=" + strings.Repeat("A", 43) + "="}
}

func (s *postgresStore) backup(w *world) {
	command(w.T, needs.Tool(w.T, "pg_dump"), "-Fc", "-f", s.dump, s.server.URL(s.database))
}

func (s *postgresStore) restore(w *world) store {
	now := &postgresStore{s.server, "restored", s.dump}
	test.OK(w, s.server.Create(w.Context(), now.database))
	command(w.T, needs.Tool(w.T, "pg_restore"), "--no-owner", "-d", s.server.URL(now.database), s.dump)
	return now
}
