package db

import (
	"context"
	"errors"
	"sync"

	"go.uber.org/zap"
)

// An Engine is an open database.
type Engine struct {
	Db       database
	Box      contents
	Log      *zap.Logger
	Writer   *writer
	Readers  *pool
	watches  *watches
	Dialect  Dialect
	Pushed   chan struct{} // signalled when a delivery has become due
	closing  sync.Once
	closeErr error
}

// Open opens the database of cfg. ctx governs the opening only.
func Open(ctx context.Context, cfg Config) (*Engine, error) {
	db, err := openDatabase(cfg)
	if err != nil {
		return nil, err
	}
	c, err := ready(ctx, db)
	if err != nil {
		return nil, errors.Join(err, db.close())
	}
	box := contents{cfg.Sealer, cfg.Seal}
	c.Contents = box
	s := &Engine{Db: db, Box: box, Log: cfg.Log, Dialect: c.Dialect, Pushed: make(chan struct{}, 1)}
	s.Readers = newPool(db.size().readers, func(ctx context.Context) (*Conn, error) { return box.connect(ctx, db, reading) })
	s.watches = newWatches(db, func() { signal(s.Pushed) })
	s.Writer = newWriter(db, c, cfg, s.watches.signal)
	return s, nil
}

// Migrate brings the tables of a journal up to date and returns the names of the
// migrations that it has applied.
func Migrate(ctx context.Context, cfg Config) (names []string, err error) {
	cfg.Migrate = true
	db, err := openDatabase(cfg)
	if err != nil {
		return nil, err
	}
	c, err := db.open(ctx, reading)
	if err != nil {
		return nil, errors.Join(unavailable(db, err), db.close())
	}
	names, err = missingMigrations(c)
	if err = errors.Join(db.explain(err), c.Close()); err != nil {
		return nil, errors.Join(err, db.close())
	}
	if c, err = ready(ctx, db); err == nil {
		err = c.Close()
	}
	return names, errors.Join(err, db.close())
}

// Close waits for the calls that have begun, refuses later ones, and closes the
// database. It may be called more than once.
func (s *Engine) Close() error {
	s.closing.Do(func() {
		s.Writer.stop()
		s.watches.stop()
		s.closeErr = errors.Join(s.Readers.close(), s.Db.close())
	})
	return s.closeErr
}

// Activity returns what the journal does now.
func (s *Engine) Activity() Activity {
	return Activity{Waiting: s.Writer.waiting.Load(), Reads: int64(s.Readers.lent()), Watches: s.watches.count()}
}

// Write runs do in a transaction and returns after the commit, or returns do's error after
// undoing its changes. No other write with one of the locks runs meanwhile. do may run several
// times, of which one takes effect. If ctx ends before it has begun, do never runs; later than
// that, Write waits for the outcome.
func (s *Engine) Write(ctx context.Context, do func(*Conn) error, locks ...string) error {
	return s.Writer.Submit(ctx, do, locks...)
}

// Exec runs one statement as [Engine.Write] does, and returns the number of rows that it changed.
func (s *Engine) Exec(ctx context.Context, query string, a Args, locks ...string) (n int64, err error) {
	err = s.Write(ctx, func(c *Conn) (err error) {
		n, err = c.Exec(query, a...)
		return err
	}, locks...)
	return n, err
}

// Get is that of a connection of its own.
func (s *Engine) Get(ctx context.Context, query string, a Args, dest ...any) (ok bool, err error) {
	err = s.Read(ctx, func(c *Conn) error {
		ok, err = c.Get(query, a, dest...)
		return err
	})
	return ok, err
}

// List is All with a connection of its own.
func List[T any](ctx context.Context, s *Engine, query string, a Args, read func(Scanner) (T, error)) (list []T, err error) {
	return value(ctx, s.Read, func(c *Conn) ([]T, error) { return All(c, query, a, read) })
}

// value returns what f reads with the connection that call gives it.
func value[T any](ctx context.Context, call func(context.Context, func(*Conn) error) error, f func(*Conn) (T, error)) (v T, err error) {
	err = call(ctx, func(c *Conn) error {
		v, err = f(c)
		return err
	})
	return v, err
}

// InSnapshot returns what f reads in one state of the journal.
func InSnapshot[T any](ctx context.Context, s *Engine, f func(*Conn) (T, error)) (T, error) {
	return value(ctx, s.Snapshot, f)
}

// One returns the first of the things that a query has found, or else the error of [Unknown].
func One[T any](list []T, err error) func(what, id string) (T, error) {
	return func(what, id string) (one T, _ error) {
		switch {
		case err != nil:
			return one, err
		case len(list) == 0:
			return one, Unknown(what, id)
		}
		return list[0], nil
	}
}

// Snapshot calls f like Read, but all of its statements see the same state of
// the journal.
func (s *Engine) Snapshot(ctx context.Context, f func(*Conn) error) error {
	return s.Read(ctx, func(c *Conn) error {
		_, err := c.Exec(c.snapshot)
		if err != nil {
			return err
		}
		c.used = false // f has seen nothing
		err = f(c)
		if _, end := c.Exec("ROLLBACK"); end != nil { // there is nothing to commit
			err = errors.Join(err, errUnended, end)
		}
		return err
	})
}

// errUnended is wrapped when a transaction could not be ended.
var errUnended = errors.New("the transaction has not ended")

// Read calls f with a connection for reading. Every statement in f sees all earlier commits. If
// the connection was lost before f read anything, f is called again with another one.
func (s *Engine) Read(ctx context.Context, f func(*Conn) error) error {
	for tries := 1; ; tries++ {
		c, err := s.Readers.borrow(ctx)
		if err != nil {
			return s.Db.Failure(err)
		}
		c.used = false
		err = f(c)
		repeat := false
		if err != nil && (errors.Is(err, errUnended) || c.broken()) {
			repeat = !c.used && tries <= s.Db.size().readers && ctx.Err() == nil
			err = unavailable(s.Db, err)
			s.Log.Warn("Closing a connection to the journal", zap.Error(errors.Join(err, c.discard())))
			c = nil
		}
		s.Readers.release(c)
		if !repeat {
			return s.Db.Failure(err)
		}
	}
}
