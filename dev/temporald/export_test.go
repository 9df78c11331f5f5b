package temporald

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"path/filepath"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite"
)

// ServerLogger lets tests log as the server does.
var ServerLogger = serverLogger

// Lock locks a directory.
var Lock = lock

// MaxStatements are kept for a connection.
const MaxStatements = maxStatements

// MainStore returns the connections of the server in a directory, and whether they keep their
// statements.
func MainStore(t *testing.T, dir, sync string) (db *sql.DB, keeps bool) {
	t.Helper()
	c, err := fileStore(filepath.Join(dir, mainFile), sync)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := poolOf(c)
	if err != nil {
		t.Fatal(err)
	}
	_, keeps = pool.Driver().(keepingDriver)
	return pool.DB, keeps
}

// KeepingDB opens a database with one connection that keeps its statements. parsed returns
// how many were parsed.
func KeepingDB(t *testing.T, path string) (db *sql.DB, parsed func() int64) {
	t.Helper()
	counts := &countingDriver{Driver: &sqlite.Driver{}}
	db = sql.OpenDB(connector{driver: keepingDriver{counts}, source: "file:" + path})
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, counts.parsed.Load
}

type countingDriver struct {
	driver.Driver
	parsed atomic.Int64
}

// Open implements [driver.Driver].
func (d *countingDriver) Open(name string) (driver.Conn, error) {
	conn, err := d.Driver.Open(name)
	if err != nil {
		return nil, err
	}
	return &countingConn{conn.(sqliteConn), &d.parsed}, nil
}

type countingConn struct {
	sqliteConn
	parsed *atomic.Int64
}

// PrepareContext implements [driver.ConnPrepareContext].
func (c *countingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.parsed.Add(1)
	return c.sqliteConn.PrepareContext(ctx, query)
}

// QueryContext implements [driver.QueryerContext].
func (c *countingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.parsed.Add(1)
	return c.sqliteConn.QueryContext(ctx, query, args)
}
