package temporald

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite"

	"longhaul/internal/test"
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
	c := test.Value(fileStore(filepath.Join(dir, mainFile), sync))(t)
	pool := test.Value(poolOf(c))(t)
	_, keeps = pool.Driver().(keepingDriver)
	return pool.DB, keeps
}

// KeepingDB opens a database with one connection that keeps its statements. parsed returns
// how many were parsed, with those of which SQLite parses a text again at each run.
func KeepingDB(t *testing.T, path string) (db *sql.DB, parsed func() int64) {
	t.Helper()
	counts := &countingDriver{Driver: &sqlite.Driver{}}
	db = sql.OpenDB(connector{driver: keepingDriver{counts}, source: "file:" + path})
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		test.OK(t, db.Close())
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
	stmt, err := c.sqliteConn.PrepareContext(ctx, query)
	if bareLimit.MatchString(query) {
		return &countingStmt{stmt.(sqliteStmt), c.parsed}, err
	}
	return stmt, err
}

var bareLimit = regexp.MustCompile(`LIMIT \?\s*$`)

// A countingStmt has a LIMIT that SQLite's planner looks into.
type countingStmt struct {
	sqliteStmt
	parsed *atomic.Int64
}

// QueryContext implements [driver.StmtQueryContext].
func (s *countingStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.parsed.Add(1)
	return s.sqliteStmt.QueryContext(ctx, args)
}

// QueryContext implements [driver.QueryerContext].
func (c *countingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.parsed.Add(1)
	return c.sqliteConn.QueryContext(ctx, query, args)
}
