// Package journal is the read model on SQLite: all that clients see of
// objectives, plans, tasks, messages and artifacts. Workflows decide and record
// batches of numbered events, which carry new values. [Journal.Record] writes
// these into rows and keeps the events, in one transaction; it applies no rules
// of the model. It checks three things: the number of an event within its source,
// the attempt that an event comes from, and that the subject of an event exists.
// All reads come from here, so they work while no worker runs.
//
// Columns and members of documents are added, never renamed. Nothing else imports
// database/sql.
package journal

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"go.uber.org/zap"

	"longhaul/opt"
)

// Config says where a journal is kept.
type Config struct {
	Path string      // of the file, made when missing; empty keeps it in memory
	Sync string      // "full" survives a power loss; with "normal" one may lose the last moments; empty means "full"
	Log  *zap.Logger // nil discards logs
}

// A Journal is an open journal. Its methods may be called from any goroutine,
// and other processes may have the same file open.
type Journal struct {
	db      *database
	log     *zap.Logger
	writer  *writer
	readers *pool
	watches *watches
	tidier  *tidier
	tasks   taskCache
	probe   *probe
	closing sync.Once
	closed  error
}

// ErrClosed is wrapped by errors of calls to a journal that was closed.
var ErrClosed = fmt.Errorf("%w: the journal is closed", opt.ErrUnavailable)

// Open opens the journal of cfg, makes it when missing, and brings its tables up
// to date. A file of another program, or with tables that this one does not know,
// is refused. ctx governs the opening only.
func Open(ctx context.Context, cfg Config) (*Journal, error) {
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	db, err := openDatabase(cfg)
	if err != nil {
		return nil, err
	}
	c, err := db.ready(ctx)
	if err != nil {
		return nil, errors.Join(err, db.close())
	}
	j := &Journal{db: db, log: cfg.Log, tasks: taskCache{tasks: map[taskKey]cachedTask{}}, probe: newProbe()}
	j.readers = newPool(max(4, 2*runtime.GOMAXPROCS(0)), func(ctx context.Context) (*conn, error) { return db.reconnect(ctx, reading) })
	j.watches = newWatches(db, cfg.Log)
	j.tidier = newTidier(db, cfg.Log)
	j.writer = newWriter(db, c, cfg.Log, j.tidier.wrote)
	return j, nil
}

// Close waits for the calls that have begun, refuses later ones, and closes the
// file. It may be called more than once.
func (j *Journal) Close() error {
	j.closing.Do(func() {
		err := j.writer.stop()
		j.watches.stop()
		j.tidier.stop()
		j.closed = errors.Join(err, j.readers.close(), j.db.close())
	})
	return j.closed
}

// read calls f with a connection for reading. Every statement in f sees all
// earlier commits.
func (j *Journal) read(ctx context.Context, f func(*conn) error) error {
	c, err := j.readers.borrow(ctx)
	if err != nil {
		return j.db.failure(err)
	}
	defer func() { j.readers.giveBack(c) }()
	return j.db.failure(f(c))
}

// snapshot calls f like read, but all of its statements see the same state of
// the journal.
func (j *Journal) snapshot(ctx context.Context, f func(*conn) error) error {
	c, err := j.readers.borrow(ctx)
	if err != nil {
		return j.db.failure(err)
	}
	defer func() { j.readers.giveBack(c) }()
	if _, err = c.exec("BEGIN"); err == nil {
		err = f(c)
	}
	if _, end := c.exec("ROLLBACK"); end != nil { // there is nothing to commit
		j.log.Warn("Giving up a connection to the journal", zap.Error(end))
		err = errors.Join(err, end, c.close())
		c = nil
	}
	return j.db.failure(err)
}
