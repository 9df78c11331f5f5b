package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"longhaul/opt"
)

// A Conn is one connection, and the statements prepared on it. One goroutine uses
// it at a time. Statements run to their end even if the caller's context ends: each is
// short, and canceling one costs the connection.
type Conn struct {
	Raw      *sql.Conn
	stmts    map[string]*sql.Stmt // by their text
	Dialect  Dialect
	server   bool          // it may be lost, and others write at the same time
	limit    time.Duration // of one statement; 0 for none
	snapshot string        // begins a transaction that sees one state
	used     bool          // a statement has succeeded since it was borrowed
	Changes  *Changes      // of the write that runs
	Contents contents
}

type Args = []any

// prepare returns the statement for query, which it parses once.
func (c *Conn) prepare(query string) (*sql.Stmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	ctx, end := c.bounded()
	defer end()
	s, err := c.Raw.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", query, err)
	}
	c.stmts[query] = s
	return s, nil
}

// bounded returns the context of one statement.
func (c *Conn) bounded() (context.Context, context.CancelFunc) {
	if c.limit == 0 {
		return context.Background(), func() {}
	}
	return context.WithTimeout(context.Background(), c.limit)
}

// values returns the values of parameters as the database takes them: contents may be
// sealed, and PostgreSQL has no texts with a NUL. Documents have none, and ids may not have
// one.
func (c *Conn) values(a Args) (Args, error) {
	own := false
	for i, v := range a {
		if text, ok := v.(Content); ok {
			if !own {
				a, own = slices.Clone(a), true
			}
			stored, err := c.Contents.ToStored(string(text))
			if err != nil {
				return nil, err
			}
			a[i] = stored
		}
	}
	if !c.server {
		return a, nil
	}
	for i, v := range a {
		if text, ok := v.(string); ok && strings.ContainsRune(text, 0) {
			a = slices.Clone(a)
			a[i] = strings.ReplaceAll(text, "\x00", "\uFFFD")
		}
	}
	return a, nil
}

// run calls f with a statement and its values, for as long as it may take.
func (c *Conn) run(query string, a Args, f func(ctx context.Context, s *sql.Stmt, values Args) error) error {
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	values, err := c.values(a)
	if err != nil {
		return err
	}
	ctx, end := c.bounded()
	defer end()
	return f(ctx, s, values)
}

// Exec runs query and returns the number of rows that it changed.
func (c *Conn) Exec(query string, a ...any) (n int64, err error) {
	err = c.run(query, a, func(ctx context.Context, s *sql.Stmt, values Args) error {
		r, err := s.ExecContext(ctx, values...)
		if err == nil {
			c.used = true
			n, err = r.RowsAffected()
		}
		return err
	})
	return n, err
}

// Do is Exec for those who need not know how many rows have changed.
func (c *Conn) Do(query string, a ...any) error {
	_, err := c.Exec(query, a...)
	return err
}

// Script runs the statements in text once.
func (c *Conn) Script(text string) error {
	_, err := c.Raw.ExecContext(context.Background(), text)
	return err
}

// Get scans the first row of query into dest; ok is false if there is none.
func (c *Conn) Get(query string, a Args, dest ...any) (ok bool, err error) {
	err = c.run(query, a, func(ctx context.Context, s *sql.Stmt, values Args) error {
		err := s.QueryRowContext(ctx, values...).Scan(dest...)
		if err == nil {
			err = c.Contents.openAll(dest)
		}
		c.used = c.used || err == nil || errors.Is(err, sql.ErrNoRows)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// Find is Get for the row of a thing, with the error of [Unknown] if there is none.
func (c *Conn) Find(what, id, query string, a Args, dest ...any) error {
	found, err := c.Get(query, a, dest...)
	if err == nil && !found {
		err = Unknown(what, id)
	}
	return err
}

// Each calls scan for every row of query.
func (c *Conn) Each(query string, a Args, scan func(Scanner) error) error {
	return c.run(query, a, func(ctx context.Context, s *sql.Stmt, values Args) error {
		rows, err := s.QueryContext(ctx, values...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			c.used = true
			if err := scan(opener{rows, c.Contents}); err != nil {
				return err
			}
		}
		c.used = c.used || rows.Err() == nil
		return rows.Err()
	})
}

// All returns what read makes of each row of a query.
func All[T any](c *Conn, query string, a Args, read func(Scanner) (T, error)) (list []T, err error) {
	err = c.Each(query, a, func(row Scanner) error {
		v, err := read(row)
		list = append(list, v)
		return err
	})
	return list, err
}

// ScanID reads a row that is an id.
func ScanID(row Scanner) (id string, err error) {
	err = row.Scan(&id)
	return id, err
}

// transact runs do in a transaction with locks.
func transact(db transactor, c *Conn, locks []string, do func() error) error {
	err := db.Begin(c, locks)
	if err == nil {
		err = do()
	}
	if err == nil {
		err = db.Commit(c)
	}
	if err != nil {
		_, _ = c.Exec("ROLLBACK") // the first error is the cause
	}
	return err
}

// broken reports whether the connection to a server has ended.
func (c *Conn) broken() bool {
	closed := false
	err := c.Raw.Raw(func(raw any) error {
		if p, ok := raw.(interface{ Conn() *pgx.Conn }); ok {
			closed = p.Conn().IsClosed()
		}
		return nil
	})
	return closed || err != nil
}

// A Scanner is a row.
type Scanner interface{ Scan(dest ...any) error }

// discard closes a connection that may be within a transaction. It is not used again: a
// pool would lend it with what its transaction saw.
func (c *Conn) discard() error {
	if c.server {
		_ = c.Raw.Raw(func(any) error { return driver.ErrBadConn })
	}
	return c.Close()
}

func (c *Conn) Close() error {
	if c.server { // statements end with their connection, which may have been lost
		_ = c.Raw.Close()
		return nil
	}
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.Raw.Close())...)
}

// unavailable wraps err in [opt.ErrUnavailable].
func unavailable(d diagnoser, err error) error {
	if errors.Is(err, opt.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", opt.ErrUnavailable, d.explain(err))
}
