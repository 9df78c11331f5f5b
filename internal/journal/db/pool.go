package db

import (
	"context"
	"errors"
)

// A pool lends connections for reading. One is made when none is idle, so that few
// are open, whose statements are prepared already, while few are in use.
type pool struct {
	open   func(context.Context) (*Conn, error)
	loans  chan struct{} // one element for each connection that is lent
	idle   chan *Conn
	closed chan struct{}
}

func newPool(size int, open func(context.Context) (*Conn, error)) *pool {
	return &pool{open: open, loans: make(chan struct{}, size), idle: make(chan *Conn, size), closed: make(chan struct{})}
}

// borrow waits until fewer connections than the pool may have are lent.
func (p *pool) borrow(ctx context.Context) (*Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case p.loans <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.closed:
		return nil, ErrClosed
	}
	select {
	case c := <-p.idle:
		return c, nil
	default:
	}
	c, err := p.open(ctx)
	if err != nil {
		<-p.loans
	}
	return c, err
}

// release returns a borrowed connection, or nil for one that was closed.
func (p *pool) release(c *Conn) {
	if c != nil {
		p.idle <- c
	}
	<-p.loans
}

// lent returns how many connections are lent.
func (p *pool) lent() int { return len(p.loans) }

// Each waits until no connection is lent, and calls f for each that is open.
func (p *pool) Each(f func(*Conn) error) (err error) {
	open := p.take()
	for _, c := range open {
		err = errors.Join(err, f(c))
		p.idle <- c
	}
	for range cap(p.loans) {
		<-p.loans
	}
	return err
}

// eachIdle calls f for each connection that is open and not lent.
func (p *pool) eachIdle(f func(*Conn) error) (err error) {
	for range len(p.idle) {
		select {
		case p.loans <- struct{}{}:
		default:
			return err
		}
		var c *Conn
		select {
		case c = <-p.idle:
			err = errors.Join(err, f(c))
		default:
		}
		p.release(c)
	}
	return err
}

// take waits until no connection is lent and takes all of them: none can be borrowed after it.
func (p *pool) take() (open []*Conn) {
	for range cap(p.loans) {
		p.loans <- struct{}{}
	}
	for range len(p.idle) {
		open = append(open, <-p.idle)
	}
	return open
}

// close waits until every loan has ended and closes the connections.
func (p *pool) close() (err error) {
	close(p.closed)
	for _, c := range p.take() {
		err = errors.Join(err, c.Close())
	}
	return err
}
