package db

import (
	"context"
	"errors"
)

// Size returns the size of the journal.
func (s *Engine) Size(ctx context.Context) (Size, error) { return value(ctx, s.Read, s.Db.Measure) }

// Damage describes what the database finds damaged in itself, nothing if all is well.
func (s *Engine) Damage(ctx context.Context) ([]string, error) {
	return value(ctx, s.Read, s.Db.Inspect)
}

// Compact gives the room of removed data back: that of a file to the disk, while writers
// wait; that in PostgreSQL to new data. If it fails, or is interrupted, the journal is
// as it was.
func (s *Engine) Compact(ctx context.Context) error { return s.apart(ctx, s.Db.Compact) }

// Rest gives the memory of caches back, of those connections that are not in use.
func (s *Engine) Rest(ctx context.Context) error {
	return errors.Join(s.Readers.eachIdle(s.Db.Rest), s.Write(ctx, s.Db.Rest))
}

// Unlimited calls f with a connection of its own, whose statements may take long.
func (s *Engine) Unlimited(ctx context.Context, f func(*Conn) error) error {
	return s.apart(ctx, func(c *Conn) error {
		if err := s.Db.Unlimited(c); err != nil {
			return err
		}
		return f(c)
	})
}

// UnlimitedWrite calls do in a transaction like Write, but as Unlimited does.
func (s *Engine) UnlimitedWrite(ctx context.Context, do func(*Conn) error, locks ...string) error {
	return s.Unlimited(ctx, func(c *Conn) error {
		return transact(s.Db, c, locks, func() error { return do(c) })
	})
}

// Connect returns a connection of the caller's own.
func (s *Engine) Connect(ctx context.Context, r role) (*Conn, error) { return connect(ctx, s.Db, r) }

// apart calls f with a connection of its own.
func (s *Engine) apart(ctx context.Context, f func(*Conn) error) error {
	c, err := s.Connect(ctx, Checkpointing)
	if err != nil {
		return err
	}
	return s.Db.Failure(errors.Join(f(c), c.Close()))
}
