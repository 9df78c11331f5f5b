package temporald

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net/url"
	"reflect"
	"strings"

	"github.com/jmoiron/sqlx"
	"go.temporal.io/server/common/config"
)

// maxStatements are kept for a connection. Temporal has some 100, and one more for each
// number of rows in an INSERT.
const maxStatements = 500

// keepStatements has the connection of a database keep its prepared statements. Upstream has
// SQLite parse each statement each time, a tenth of the processor time under load. It has no
// setting for that, but one pool for each database, whose connection is replaced here.
// fault, if not nil, is the [Faults.Visibility] of its statements.
func keepStatements(c *config.SQL, fault func(string, func() error) error) error {
	pool, err := poolOf(c)
	if err != nil {
		return err
	}
	if _, ok := pool.Driver().(keepingDriver); ok {
		return nil // upstream keeps its pools for the life of the process
	}
	keeping := sql.OpenDB(connector{keepingDriver{pool.Driver()}, dataSource(c), fault})
	keeping.SetMaxOpenConns(c.MaxConns)
	if err := keeping.Ping(); err != nil { // it is open before the other is closed: a database in memory needs one
		return errors.Join(err, keeping.Close())
	}
	old := pool.DB
	pool.DB = keeping
	return old.Close()
}

// poolOf returns the connections that upstream has for a database.
func poolOf(c *config.SQL) (*sqlx.DB, error) {
	db, err := adminDB(c)
	if err != nil {
		return nil, err
	}
	defer db.Close() // which leaves the pool
	field := reflect.Indirect(reflect.ValueOf(db)).FieldByName("db")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*sqlx.DB]() {
		return nil, errors.New("the SQLite plugin of this version of Temporal has no pool")
	}
	return reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem().Interface().(*sqlx.DB), nil
}

// dataSource names the database of c as upstream does.
func dataSource(c *config.SQL) string {
	values := url.Values{"_time_format": {"sqlite"}}
	for name, value := range c.ConnectAttributes {
		switch name {
		case "mode", "cache":
			values.Set(name, value)
		default:
			values.Add("_pragma", name+"="+value)
		}
	}
	return "file:" + c.DatabaseName + "?" + values.Encode()
}

// A keepingDriver is SQLite's, for connections that keep their statements.
type keepingDriver struct{ driver.Driver }

type connector struct {
	driver keepingDriver
	source string
	fault  func(string, func() error) error
}

// Connect implements [driver.Connector].
func (c connector) Connect(context.Context) (driver.Conn, error) {
	raw, err := c.driver.Open(c.source)
	if err != nil {
		return nil, err
	}
	conn, ok := raw.(sqliteConn)
	if !ok {
		return nil, errors.Join(errors.New("the driver of SQLite has other methods"), raw.Close())
	}
	keeping := &keepingConn{conn, map[string]*statement{}}
	if c.fault != nil {
		return faultyConn{keeping, c.fault}, nil
	}
	return keeping, nil
}

// Driver implements [driver.Connector].
func (c connector) Driver() driver.Driver { return c.driver }

// A sqliteConn is a connection of SQLite's driver, with all that database/sql looks for.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// A sqliteStmt is a statement of SQLite's driver.
type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// unseenLimit hides the parameter of a LIMIT in a sum. SQLite's planner looks into a bare parameter, and so
// SQLite would parse the statement again at each run, which takes longer than to read a history.
var unseenLimit = strings.NewReplacer("LIMIT ?", "LIMIT ? + 0")

// A keepingConn keeps the statements that it has prepared. database/sql uses a connection
// in one goroutine at a time.
type keepingConn struct {
	sqliteConn
	kept map[string]*statement // by their text
}

// A statement is used again when its rows have been closed.
type statement struct {
	sqliteStmt
	busy bool
}

// ExecContext implements [driver.ExecerContext].
func (c *keepingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.sqliteConn.ExecContext(ctx, query, args)
	}
	return s.ExecContext(ctx, args)
}

// QueryContext implements [driver.QueryerContext].
func (c *keepingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.sqliteConn.QueryContext(ctx, query, args)
	}
	rows, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	s.busy = true
	return keptRows{rows, s}, nil
}

// statement returns the statement with a text, nil if it has rows that are read.
func (c *keepingConn) statement(ctx context.Context, query string) (*statement, error) {
	if s, ok := c.kept[query]; ok {
		if s.busy {
			return nil, nil
		}
		return s, nil
	}
	if len(c.kept) == maxStatements {
		if err := c.forget(); err != nil {
			return nil, err
		}
	}
	raw, err := c.PrepareContext(ctx, unseenLimit.Replace(query))
	if err != nil {
		return nil, err
	}
	s, ok := raw.(sqliteStmt)
	if !ok {
		return nil, raw.Close()
	}
	c.kept[query] = &statement{sqliteStmt: s}
	return c.kept[query], nil
}

// forget closes the statements that have no rows.
func (c *keepingConn) forget() error {
	var errs []error
	for query, s := range c.kept {
		if !s.busy {
			errs = append(errs, s.Close())
			delete(c.kept, query)
		}
	}
	return errors.Join(errs...)
}

// Close implements [driver.Conn].
func (c *keepingConn) Close() error {
	return errors.Join(c.forget(), c.sqliteConn.Close())
}

// keptRows are the rows of a statement that is kept.
type keptRows struct {
	driver.Rows
	of *statement
}

// Close implements [driver.Rows].
func (r keptRows) Close() error {
	r.of.busy = false
	return r.Rows.Close()
}
