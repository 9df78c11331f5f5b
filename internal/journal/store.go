package journal

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"longhaul/opt"
)

// A store is the open database of a journal, which all parts of the journal use.
type store struct {
	db       database
	box      contents
	log      *zap.Logger
	writer   *writer
	readers  *pool
	watches  *watches
	pushed   chan struct{} // signalled when a delivery has become due
	closing  sync.Once
	closeErr error

	channels atomic.Pointer[[]opt.Channel] // for notices
	recorded func(Recorded)                // nil for nothing
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
	box := contents{cfg.Sealer, cfg.Seal}
	c.contents = box
	s := &store{db: db, box: box, log: cfg.Log, pushed: make(chan struct{}, 1), recorded: cfg.Recorded}
	s.SetChannels(cfg.Channels)
	s.readers = newPool(db.size().readers, func(ctx context.Context) (*conn, error) { return box.connect(ctx, db, reading) })
	s.watches = newWatches(db, func() { signal(s.pushed) })
	s.writer = newWriter(db, c, cfg, s.signalChanges)
	return s, nil
}

// SetChannels replaces the channels for which the journal makes notices.
func (s *store) SetChannels(list []opt.Channel) { s.channels.Store(&list) }

// Close waits for the calls that have begun, refuses later ones, and closes the
// database. It may be called more than once.
func (s *store) Close() error {
	s.closing.Do(func() {
		s.writer.stop()
		s.watches.stop()
		s.closeErr = errors.Join(s.readers.close(), s.db.close())
	})
	return s.closeErr
}

// signalChanges signals those in this process that wait for a change.
func (s *store) signalChanges(ch changes) {
	for id, seq := range ch.seqs {
		s.watches.notify(id, seq)
	}
	s.watches.notifyRemoved(ch.gone)
	if ch.due {
		signal(s.pushed)
	}
}

// read calls f with a connection for reading. Every statement in f sees all
// earlier commits.
func (s *store) read(ctx context.Context, f func(*conn) error) error {
	return s.withReader(ctx, f)
}

// snapshot calls f like read, but all of its statements see the same state of
// the journal.
func (s *store) snapshot(ctx context.Context, f func(*conn) error) error {
	return s.withReader(ctx, func(c *conn) error {
		_, err := c.exec(c.snapshot)
		if err != nil {
			return err
		}
		c.used = false // f has seen nothing
		err = f(c)
		if _, end := c.exec("ROLLBACK"); end != nil { // there is nothing to commit
			err = errors.Join(err, errUnended, end)
		}
		return err
	})
}

// errUnended is wrapped when a transaction could not be ended.
var errUnended = errors.New("the transaction has not ended")

// withReader calls f with a connection for reading. If the connection was lost before f read
// anything, f is called again with another one.
func (s *store) withReader(ctx context.Context, f func(*conn) error) error {
	for tries := 1; ; tries++ {
		c, err := s.readers.borrow(ctx)
		if err != nil {
			return s.db.failure(err)
		}
		c.used = false
		err = f(c)
		repeat := false
		if err != nil && (errors.Is(err, errUnended) || c.broken()) {
			repeat = !c.used && tries <= s.db.size().readers && ctx.Err() == nil
			err = unavailable(s.db, err)
			s.log.Warn("Closing a connection to the journal", zap.Error(errors.Join(err, c.discard())))
			c = nil
		}
		s.readers.release(c)
		if !repeat {
			return s.db.failure(err)
		}
	}
}
