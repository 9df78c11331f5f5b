package db_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/zap"

	"longhaul/internal/journal/db"
	"longhaul/internal/test"
)

// bells returns two bells for the same journal, as two processes have them.
func bells(t *testing.T, path string) (here, there db.Bell) {
	t.Helper()
	for _, b := range []*db.Bell{&here, &there} {
		var err error
		if *b, err = db.OpenBell(path); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			test.OK(t, b.Close())
		})
	}
	return here, there
}

func ring(t *testing.T, b db.Bell, times int) {
	t.Helper()
	for range times {
		test.OK(t, b.Ring())
	}
}

// A process does not hear itself: with all commits in one process, no look at the journal comes
// because of them.
func TestBell(t *testing.T) {
	t.Parallel()
	here, there := bells(t, filepath.Join(t.TempDir(), "journal.db-bell"))
	for i, step := range []struct {
		ringHere, ringThere   int
		heardHere, heardThere bool
	}{
		{0, 0, false, false},
		{1, 0, false, true},
		{0, 0, false, false},
		{0, 3, true, false},
		{2, 2, true, true},
		{100, 0, false, true},
	} {
		ring(t, here, step.ringHere)
		ring(t, there, step.ringThere)
		if a, b := here.Hear(), there.Hear(); a != step.heardHere || b != step.heardThere {
			t.Errorf("step %d: heard %v and %v, want %v and %v", i, a, b, step.heardHere, step.heardThere)
		}
	}
}

// The file stays small, and no ring is missed when it becomes empty.
func TestBell_long(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db-bell")
	test.OK(t, os.WriteFile(path, make([]byte, db.MostRings), 0o600))
	here, there := bells(t, path)
	isShort(t, path, 0)
	for range 3 {
		ring(t, here, db.MostRings/2)
		if !there.Hear() {
			t.Error("rings of another process were missed")
		}
	}
	ring(t, there, 1)
	if !here.Hear() {
		t.Error("a ring after the file became empty was missed")
	}
	isShort(t, path, db.MostRings)
}

// isShort reports a file that has more bytes than it may have.
func isShort(t *testing.T, path string, most int64) {
	t.Helper()
	if info, err := os.Stat(path); err != nil || info.Size() > most {
		t.Errorf("the file has %d bytes, %v, want at most %d", info.Size(), err, most)
	}
}

// Each commit to a journal rings, and a read does not.
func TestBell_commits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	e := test.Value(db.Open(t.Context(), db.Config{Path: path, Log: zap.NewNop(), Observer: db.Unobserved{}}))(t)
	defer e.Close()
	_, there := bells(t, path+"-bell")
	for _, step := range []struct {
		what string
		call func() error
		want bool
	}{
		{"a read", func() error { _, err := e.Get(t.Context(), "SELECT n FROM purges", nil, new(int)); return err }, false},
		{"a write", func() error { _, err := e.Exec(t.Context(), "UPDATE purges SET n = n", nil); return err }, true},
		{"a write that fails", func() error {
			if _, err := e.Exec(t.Context(), "UPDATE nothing SET n = n", nil); err == nil {
				return errors.New("it succeeded")
			}
			return nil
		}, true}, // the transaction of its group is committed
	} {
		test.Error(t, step.what, nil, step.call())
		test.Is(t, step.what+": heard", step.want, there.Hear())
	}
}
