package journal

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
)

// A conn is one connection, and the statements prepared on it. One goroutine uses
// it at a time. Statements run to their end even if the caller's context ends: each is
// short, and canceling one costs the connection.
type conn struct {
	raw      *sql.Conn
	stmts    map[string]*sql.Stmt // by their text
	dialect  func(string) string  // translates the text of a statement for the database; nil changes nothing
	limit    time.Duration        // of one statement; 0 for none
	snapshot string               // begins a transaction that sees one state
	used     bool                 // a statement has succeeded since it was borrowed
	changes  *changes             // of the write that runs
	contents contents
}

type args = []any

// prepare returns the statement for query, which it parses once.
func (c *conn) prepare(query string) (*sql.Stmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	text := query
	if c.dialect != nil {
		text = c.dialect(query)
	}
	ctx, end := c.bounded()
	defer end()
	s, err := c.raw.PrepareContext(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", text, err)
	}
	c.stmts[query] = s
	return s, nil
}

// bounded returns the context of one statement.
func (c *conn) bounded() (context.Context, context.CancelFunc) {
	if c.limit == 0 {
		return context.Background(), func() {}
	}
	return context.WithTimeout(context.Background(), c.limit)
}

// values returns the values of parameters as the database takes them: contents may be
// sealed, and PostgreSQL has no texts with a NUL. Documents have none, and ids may not have
// one.
func (c *conn) values(a args) (args, error) {
	own := false
	for i, v := range a {
		if text, ok := v.(content); ok {
			if !own {
				a, own = slices.Clone(a), true
			}
			stored, err := c.contents.toStored(string(text))
			if err != nil {
				return nil, err
			}
			a[i] = stored
		}
	}
	if c.dialect == nil {
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

// exec runs query and returns the number of rows that it changed.
func (c *conn) exec(query string, a ...any) (int64, error) {
	s, err := c.prepare(query)
	if err != nil {
		return 0, err
	}
	ctx, end := c.bounded()
	defer end()
	values, err := c.values(a)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(ctx, values...)
	if err != nil {
		return 0, err
	}
	c.used = true
	return r.RowsAffected()
}

// script runs the statements in text once.
func (c *conn) script(text string) error {
	if c.dialect != nil {
		text = c.dialect(text)
	}
	_, err := c.raw.ExecContext(context.Background(), text)
	return err
}

// get scans the first row of query into dest; ok is false if there is none.
func (c *conn) get(query string, a args, dest ...any) (ok bool, err error) {
	s, err := c.prepare(query)
	if err != nil {
		return false, err
	}
	ctx, end := c.bounded()
	defer end()
	values, err := c.values(a)
	if err != nil {
		return false, err
	}
	err = s.QueryRowContext(ctx, values...).Scan(dest...)
	if err == nil {
		err = c.contents.openAll(dest)
	}
	c.used = c.used || err == nil || errors.Is(err, sql.ErrNoRows)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// each calls scan for every row of query.
func (c *conn) each(query string, a args, scan func(scanner) error) error {
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	ctx, end := c.bounded()
	defer end()
	values, err := c.values(a)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(ctx, values...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		c.used = true
		if err := scan(opener{rows, c.contents}); err != nil {
			return err
		}
	}
	c.used = c.used || rows.Err() == nil
	return rows.Err()
}

// all returns what read makes of each row of a query.
func all[T any](c *conn, query string, a args, read func(scanner) (T, error)) (list []T, err error) {
	err = c.each(query, a, func(row scanner) error {
		v, err := read(row)
		list = append(list, v)
		return err
	})
	return list, err
}

// scanID reads a row that is an id.
func scanID(row scanner) (id string, err error) {
	err = row.Scan(&id)
	return id, err
}

// broken reports whether the connection to a server has ended.
func (c *conn) broken() bool {
	closed := false
	err := c.raw.Raw(func(raw any) error {
		if p, ok := raw.(interface{ Conn() *pgx.Conn }); ok {
			closed = p.Conn().IsClosed()
		}
		return nil
	})
	return closed || err != nil
}

// A scanner is a row.
type scanner interface{ Scan(dest ...any) error }

// discard closes a connection that may be within a transaction. It is not used again: a
// pool would lend it with what its transaction saw.
func (c *conn) discard() error {
	if c.dialect != nil {
		_ = c.raw.Raw(func(any) error { return driver.ErrBadConn })
	}
	return c.close()
}

func (c *conn) close() error {
	if c.dialect != nil { // statements end with their connection, which may have been lost
		_ = c.raw.Close()
		return nil
	}
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.raw.Close())...)
}

// A pool lends connections for reading. They are made when first needed.
type pool struct {
	open   func(context.Context) (*conn, error)
	free   chan *conn // nil is a connection that is not made yet
	closed chan struct{}
}

func newPool(size int, open func(context.Context) (*conn, error)) *pool {
	p := &pool{open: open, free: make(chan *conn, size), closed: make(chan struct{})}
	for range size {
		p.free <- nil
	}
	return p
}

// borrow waits for a free connection.
func (p *pool) borrow(ctx context.Context) (*conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case c := <-p.free:
		if c != nil {
			return c, nil
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.closed:
		return nil, ErrClosed
	}
	c, err := p.open(ctx)
	if err != nil {
		p.free <- nil
	}
	return c, err
}

// release returns a borrowed connection; nil has the pool make a new one.
func (p *pool) release(c *conn) { p.free <- c }

// close waits until every loan has ended and closes the connections.
func (p *pool) close() error {
	close(p.closed)
	var errs []error
	for range cap(p.free) {
		if c := <-p.free; c != nil {
			errs = append(errs, c.close())
		}
	}
	return errors.Join(errs...)
}
