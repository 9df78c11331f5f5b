package journal

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"go.uber.org/zap"

	"longhaul/opt"
)

// A store is the open database of a journal, which all parts of the journal use.
type store struct {
	db      *database
	log     *zap.Logger
	writer  *writer
	readers *pool
	watches *watches
	tidier  *tidier
	pushed  chan struct{} // signalled when a delivery has become due
	closing sync.Once
	closed  error

	channels []opt.Channel // for notices
}

func openStore(ctx context.Context, cfg Config) (*store, error) {
	db, err := openDatabase(cfg)
	if err != nil {
		return nil, err
	}
	c, err := db.ready(ctx)
	if err != nil {
		return nil, errors.Join(err, db.close())
	}
	s := &store{db: db, log: cfg.Log, pushed: make(chan struct{}, 1), channels: cfg.Channels}
	s.readers = newPool(max(4, 2*runtime.GOMAXPROCS(0)), func(ctx context.Context) (*conn, error) { return db.reconnect(ctx, reading) })
	s.watches = newWatches(db, cfg.Log)
	s.tidier = newTidier(db, cfg.Log)
	s.writer = newWriter(db, c, cfg.Log, s.tidier.wrote)
	return s, nil
}

// Close waits for the calls that have begun, refuses later ones, and closes the
// file. It may be called more than once.
func (s *store) Close() error {
	s.closing.Do(func() {
		err := s.writer.stop()
		s.watches.stop()
		s.tidier.stop()
		s.closed = errors.Join(err, s.readers.close(), s.db.close())
	})
	return s.closed
}

// read calls f with a connection for reading. Every statement in f sees all
// earlier commits.
func (s *store) read(ctx context.Context, f func(*conn) error) error {
	c, err := s.readers.borrow(ctx)
	if err != nil {
		return s.db.failure(err)
	}
	defer func() { s.readers.giveBack(c) }()
	return s.db.failure(f(c))
}

// snapshot calls f like read, but all of its statements see the same state of
// the journal.
func (s *store) snapshot(ctx context.Context, f func(*conn) error) error {
	c, err := s.readers.borrow(ctx)
	if err != nil {
		return s.db.failure(err)
	}
	defer func() { s.readers.giveBack(c) }()
	if _, err = c.exec("BEGIN"); err == nil {
		err = f(c)
	}
	if _, end := c.exec("ROLLBACK"); end != nil { // there is nothing to commit
		s.log.Warn("Giving up a connection to the journal", zap.Error(end))
		err = errors.Join(err, end, c.close())
		c = nil
	}
	return s.db.failure(err)
}
