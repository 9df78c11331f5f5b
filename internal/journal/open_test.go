package journal_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

func TestKey(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		type result struct {
			key []byte
			err error
		}
		results := make(chan result)
		for range 4 {
			j := open()
			go func() {
				key, err := j.Key(t.Context(), "pages")
				results <- result{key, err}
			}()
		}
		first := <-results
		for range 3 {
			if r := <-results; r.err != nil || len(r.key) != 32 || !bytes.Equal(r.key, first.key) {
				t.Errorf("key %x, %v, another has %x, %v", r.key, r.err, first.key, first.err)
			}
		}
		other, err := open().Key(t.Context(), "other")
		if err != nil || bytes.Equal(other, first.key) {
			t.Errorf("two names have the same key, or %v", err)
		}
	})
}

// TestOpen_together has several processes make the journal.
func TestOpen_together(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	opened := make(chan error)
	for range 8 {
		go func() {
			j, err := journal.Open(t.Context(), journal.Config{Path: path})
			if err == nil {
				err = errors.Join(j.Ping(t.Context()), j.Close())
			}
			opened <- err
		}()
	}
	for range 8 {
		test.Error(t, "the call", nil, <-opened)
	}
}

// A missing migration with a number below the latest one is applied.
func TestOpen_migrationBetween(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		later, between := "CREATE TABLE later (n BIGINT NOT NULL)", "CREATE TABLE between_others (n BIGINT NOT NULL)"
		for _, more := range []map[int64]string{{9999: later}, {9998: between, 9999: later}} {
			test.OK(t, j.Migrate(t.Context(), more))
		}
		if err := j.Script(t.Context(), "INSERT INTO later VALUES (1); INSERT INTO between_others VALUES (1)"); err != nil {
			t.Error(err)
		}
		if err := j.Migrate(t.Context(), map[int64]string{9999: later}); err == nil {
			t.Error("a program that does not know one in between is not refused")
		}
	})
}

// TestOpen_refused opens files and databases that are not journals or belong to other programs.
// The errors say what to do, and show no password.
func TestOpen_refused(t *testing.T) {
	t.Parallel()
	file := func(content string) string {
		return test.File(t, "journal.db", content)
	}
	foreign := file("")
	db, err := sql.Open("sqlite", foreign)
	if err == nil {
		_, err = db.Exec("CREATE TABLE users (id)")
	}
	test.OK(t, errors.Join(err, db.Close()))
	newer := file("")
	j := openFile(t, newer)
	test.OK(t, errors.Join(j.Script(t.Context(), "INSERT INTO migrations VALUES (9999, 'later_breaking', 0)"), j.Close()))
	between := file("")
	j = openFile(t, between)
	test.OK(t, errors.Join(j.Script(t.Context(), "UPDATE migrations SET version = -1 WHERE version = (SELECT MAX(version) FROM migrations)"), j.Close()))
	good := databaseLike(t, "template1")
	for name, tt := range map[string]struct {
		cfg  journal.Config
		want []string
	}{
		"no tables":          {journal.Config{URL: good}, []string{"0014_journal", "run the command migrate"}},
		"no such base":       {journal.Config{URL: strings.Replace(good, "journal_", "nothing_", 1)}, []string{"does not exist", "create the database"}},
		"no server":          {journal.Config{URL: "postgres://ann:secret@127.0.0.1:1/x?sslmode=disable"}, []string{"journal x on 127.0.0.1:1", "start PostgreSQL"}},
		"another scheme":     {journal.Config{URL: "mysql://ann:secret@127.0.0.1/x"}, []string{"postgres://"}},
		"no URL":             {journal.Config{URL: "postgres://ann:secret@127.0.0.1:port/x"}, []string{"not one of PostgreSQL"}},
		"few connections":    {journal.Config{URL: good, Connections: 2}, []string{"at least 3"}},
		"a file too":         {journal.Config{URL: good, Path: "file"}, []string{"no file"}},
		"garbage":            {journal.Config{Path: file(strings.Repeat("not a database ", 500))}, []string{"not a SQLite database", "a file of its own"}},
		"another program's":  {journal.Config{Path: foreign}, []string{"another program", "a file of its own"}},
		"newer":              {journal.Config{Path: newer}, []string{"tables of version 9999 (later_breaking)", "knows up to ", "a newer Longhaul or a build before v0.1.0", "--data-dir"}},
		"newer, in between":  {journal.Config{Path: between}, []string{"tables of version -1 (", "a newer Longhaul or a build before v0.1.0", "--data-dir"}},
		"a directory":        {journal.Config{Path: t.TempDir()}, []string{"is a directory"}},
		"below a file":       {journal.Config{Path: filepath.Join(file(""), "journal.db")}, []string{"not a directory"}},
		"unknown sync level": {journal.Config{Sync: "sometimes"}, []string{"sometimes", `"full" or "normal"`}},
	} {
		t.Run(name, func(t *testing.T) {
			j, err := journal.Open(t.Context(), tt.cfg)
			if err == nil {
				j.Close()
				t.Fatal("it was opened")
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%q shows the password", err)
			}
			for _, want := range append(tt.want, tt.cfg.Path) {
				test.Contains(t, "the error", want, err.Error())
			}
		})
	}
}

// A newer program may change the tables while the journal is open. Connections
// that are made later refuse them.
func TestOpen_newerMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		test.OK(t, j.Script(t.Context(), "INSERT INTO migrations VALUES (9999, 'later_breaking', 0)"))
		read := j.Ping(t.Context())
		drop := "ROLLBACK" // a committer closes its connection if its transaction has ended
		if strings.HasSuffix(t.Name(), "/postgres") {
			drop = "SELECT pg_terminate_backend(pg_backend_pid())"
		}
		for range journal.DefaultConnections { // each committer gets one of them
			test.Fails(t, "the writer did without its transaction", "", j.Script(t.Context(), drop))
		}
		written := j.Script(t.Context(), "UPDATE purges SET n = n")
		for what, err := range map[string]error{"read": read, "written": written} {
			if !errors.Is(err, opt.ErrUnavailable) || !strings.Contains(err.Error(), "tables of version 9999") {
				t.Errorf("%s: %v, want that it does not know the tables", what, err)
			}
		}
		test.Error(t, "close", nil, j.Close())
	})
}

// TestOpen_private checks that other users of the machine cannot read the
// journal.
func TestOpen_private(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new ?#%41&x", "journal.db")
	openFile(t, path)
	for name, want := range map[string]os.FileMode{path: 0o600, path + "-wal": 0o600, path + "-bell": 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
}

// One read after another uses one connection, whose statements are prepared.
func TestOpen_fewConnections(t *testing.T) {
	j := openFile(t, "")
	for range 20 {
		if _, _, err := j.Objectives(t.Context(), tenant, shown.ObjectiveFilter{Limit: 1}); err != nil {
			t.Fatal(err)
		}
	}
	test.Is(t, "connections are open for reading", 1, j.Readers())
}

func TestClose(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		s := begin(t, j, newObjective())
		test.Error(t, "the call", nil, j.Ping(t.Context()))
		w := j.Watch(s.objective.ID)
		test.Error(t, "the call", nil, j.Close())
		w.Close()
		_, readErr := j.Task(t.Context(), tenant, s.objective.ID, shown.TaskWant{})
		for what, err := range map[string]error{
			"ping":   j.Ping(t.Context()),
			"read":   readErr,
			"record": j.Record(t.Context(), s.batch(opt.Event{Kind: opt.ObjectiveMoved, To: "working"})),
		} {
			if !errors.Is(err, journal.ErrClosed) || !errors.Is(err, opt.ErrUnavailable) {
				t.Errorf("%s after closing: %v", what, err)
			}
		}
		test.Error(t, "closing again", nil, j.Close())
	})
}

// TestWriteAheadLog_moves checks that writes reach the file itself while the
// journal is open, so that the log does not grow without limit.
func TestWriteAheadLog_moves(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := begin(t, openFile(t, path), newObjective())
	size := func() int64 {
		info := test.Value(os.Stat(path))(t)
		return info.Size()
	}
	for before, until := size(), time.Now().Add(patience); size() < before+1<<16; {
		if time.Now().After(until) {
			t.Fatal("nothing was moved to the file")
		}
		s.record(s.rootMoved(opt.TaskWorking))
	}
}

// A journal with a template has the same tables and marks as one that makes them, and
// no data of others.
func TestOpen_template(t *testing.T) {
	t.Parallel()
	template := test.Value(journal.NewTemplate(t.Context()))(t)
	t.Cleanup(func() { test.OK(t, template.Close()) })
	open := func(cfg journal.Config) (schema []string, key []byte) {
		j := openWith(t, cfg)
		schema = test.Value(j.Column(t.Context(), `SELECT (SELECT application_id FROM pragma_application_id) || ' ' || (SELECT group_concat(version) FROM migrations) || ' ' || name || ' ' || COALESCE(sql, '')
			FROM sqlite_schema`))(t)
		return schema, test.Value(j.Key(t.Context(), "pages"))(t)
	}
	made, key := open(journal.Config{})
	for range 2 {
		copied, other := open(journal.Config{Template: template})
		test.Equal(t, "schema", made, copied)
		if bytes.Equal(key, other) {
			t.Error("two journals have the same key")
		}
		key = other
	}
	if _, err := journal.Open(t.Context(), journal.Config{Template: template, Path: filepath.Join(t.TempDir(), "x.db")}); err == nil {
		t.Error("a file takes a template")
	}
}
