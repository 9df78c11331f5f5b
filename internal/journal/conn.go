package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// A conn is one connection, and the statements prepared on it. One goroutine uses
// it at a time. Statements run to their end even if the caller gives up: each
// takes microseconds, and canceling one costs the connection.
type conn struct {
	raw   *sql.Conn
	stmts map[string]*sql.Stmt // by their text
}

type args = []any

// prepare returns the statement for query, which it parses once.
func (c *conn) prepare(query string) (*sql.Stmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	s, err := c.raw.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", query, err)
	}
	c.stmts[query] = s
	return s, nil
}

// exec runs query and returns the number of rows that it changed.
func (c *conn) exec(query string, a ...any) (int64, error) {
	s, err := c.prepare(query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(context.Background(), a...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// script runs the statements in text once.
func (c *conn) script(text string) error {
	_, err := c.raw.ExecContext(context.Background(), text)
	return err
}

// get scans the first row of query into dest; ok is false if there is none.
func (c *conn) get(query string, a args, dest ...any) (ok bool, err error) {
	s, err := c.prepare(query)
	if err != nil {
		return false, err
	}
	err = s.QueryRowContext(context.Background(), a...).Scan(dest...)
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
	rows, err := s.QueryContext(context.Background(), a...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// A scanner is a row.
type scanner interface{ Scan(dest ...any) error }

func (c *conn) close() error {
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

// giveBack returns c to the pool; a nil c lets the pool make a new one.
func (p *pool) giveBack(c *conn) { p.free <- c }

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
