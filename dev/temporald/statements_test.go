package temporald_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"longhaul/dev/temporald"
	"longhaul/internal/test"
)

// A connection parses a statement once. One whose rows are still read is parsed again, more
// statements than are kept are forgotten, and a change of the schema is seen.
func TestKeepStatements(t *testing.T) {
	t.Parallel()
	db, parsed := temporald.KeepingDB(t, filepath.Join(t.TempDir(), "a.db"))
	exec := func(query string, args ...any) {
		t.Helper()
		test.Value(db.ExecContext(t.Context(), query, args...))(t)
	}
	exec("CREATE TABLE a (n INTEGER)")
	before := parsed()
	for n := range 10 {
		exec("INSERT INTO a VALUES (?)", n)
	}
	test.Is(t, "one statement was parsed times", 1, parsed()-before)

	before = parsed()
	for most := range 10 {
		test.Is(t, "rows", most, rowsOf(t, db, "SELECT n FROM a WHERE n >= ? ORDER BY n LIMIT ?", 0, most))
	}
	test.Is(t, "one statement with a limit was parsed times", 1, parsed()-before)

	const query = "SELECT n FROM a ORDER BY n"
	tx := test.Value(db.BeginTx(t.Context(), nil))(t)
	outer := test.Value(tx.QueryContext(t.Context(), query))(t)
	read := 0
	for outer.Next() {
		var first int
		if err := tx.QueryRowContext(t.Context(), query).Scan(&first); err != nil || first != 0 {
			t.Fatalf("got %d, error %v", first, err)
		}
		read++
	}
	if err := tx.Commit(); err != nil || read != 10 {
		t.Errorf("%d rows were read, error %v", read, err)
	}

	for n := range 2 * temporald.MaxStatements {
		exec(fmt.Sprintf("INSERT INTO a VALUES (%d)", n))
	}
	exec("ALTER TABLE a ADD COLUMN m INTEGER DEFAULT 7")
	exec("INSERT INTO a VALUES (1, 2)")
	var columns int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pragma_table_info('a')").Scan(&columns); err != nil || columns != 2 {
		t.Errorf("%d columns, error %v", columns, err)
	}

	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	test.Fails(t, "a canceled statement has run", "", test.Err(db.ExecContext(canceled, "INSERT INTO a VALUES (?)", 1)))
	exec("INSERT INTO a (n) VALUES (?)", 1)
}

// rowsOf returns how many rows a query has.
func rowsOf(t *testing.T, db *sql.DB, query string, args ...any) (n int) {
	t.Helper()
	rows := test.Value(db.QueryContext(t.Context(), query, args...))(t)
	defer rows.Close()
	for rows.Next() {
		n++
	}
	test.OK(t, rows.Err())
	return n
}

// The main store keeps its statements and waits for the disk, also after a second start in one process.
func TestStart_keepsStatements(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, tt := range []struct{ sync, level string }{{"full", "2"}, {"normal", "1"}, {"full", "2"}} {
		s := start(t, temporald.Config{Dir: dir, Sync: tt.sync})
		db, keeps := temporald.MainStore(t, dir, tt.sync)
		if !keeps {
			t.Error("statements are parsed each time")
		}
		for pragma, want := range map[string]string{"synchronous": tt.level, "journal_mode": "wal"} {
			var got string
			if err := db.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
				t.Errorf("%s is %s, want %s; error %v", pragma, got, want, err)
			}
		}
		test.OK(t, s.Stop())
	}
}
