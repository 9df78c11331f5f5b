package journal

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

const (
	groupMost = 256                    // writes committed together at the most
	lockWait  = 10 * time.Second       // for the write lock, while another process holds it
	lockRetry = 500 * time.Microsecond // between two attempts to get it
)

// A write is one piece of work for the writer.
type write struct {
	do        func(*conn) error // all of it takes effect, or nothing
	committed func()            // called after the commit; may be nil
	state     atomic.Int32
	err       error
	done      chan struct{}
}

// The states of a write.
const (
	waiting int32 = iota
	taken         // the writer has begun, so the caller waits for the outcome
	dropped       // the caller gave up before that
)

// A writer owns the connection that writes. It commits all waiting writes in one
// transaction, each within a savepoint, so that a failed write does not affect
// the others.
type writer struct {
	db      *database
	log     *zap.Logger
	c       *conn // nil after it broke
	queue   chan *write
	wrote   func(n int) // tells of commits
	quit    chan struct{}
	stopped chan struct{}
}

func newWriter(db *database, c *conn, log *zap.Logger, wrote func(int)) *writer {
	w := &writer{
		db: db, log: log, c: c, wrote: wrote,
		queue: make(chan *write, groupMost), quit: make(chan struct{}), stopped: make(chan struct{}),
	}
	go w.run()
	return w
}

// submit runs do in a transaction and returns after the commit, or returns do's
// error after undoing its changes. If ctx ends before the writer has begun, do
// never runs; later than that, submit waits for the outcome.
func (w *writer) submit(ctx context.Context, do func(*conn) error, committed func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	op := &write{do: do, committed: committed, done: make(chan struct{})}
	select {
	case w.queue <- op:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.stopped:
		return ErrClosed
	}
	select {
	case <-op.done:
		return op.err
	case <-ctx.Done():
		if op.state.CompareAndSwap(waiting, dropped) {
			return ctx.Err()
		}
	case <-w.stopped:
		if op.state.CompareAndSwap(waiting, dropped) {
			return ErrClosed
		}
	}
	<-op.done
	return op.err
}

// stop lets the writer finish what it has begun, and waits for that.
func (w *writer) stop() error {
	close(w.quit)
	<-w.stopped
	if w.c == nil {
		return nil
	}
	return w.c.close()
}

func (w *writer) run() {
	defer close(w.stopped)
	for {
		select {
		case <-w.quit:
			return
		case first := <-w.queue:
			w.answer(w.gather(first))
			w.tidy()
		}
	}
}

// gather runs first and other waiting writes in one transaction and commits it.
// With an error none took effect.
func (w *writer) gather(first *write) (group []*write, err error) {
	err = w.begin()
	for op := first; op != nil; op = w.next(len(group)) {
		if !op.state.CompareAndSwap(waiting, taken) {
			continue
		}
		group = append(group, op)
		if err == nil {
			op.err, err = w.attempt(op)
		}
	}
	if err == nil {
		err = patiently(w.quit, func() error { _, err := w.c.exec("COMMIT"); return err })
	}
	if err != nil {
		w.undo()
		err = w.db.down(err)
	}
	return group, err
}

// next returns a write that waits, nil if there is none or the group is full.
func (w *writer) next(have int) *write {
	if have >= groupMost {
		return nil
	}
	select {
	case op := <-w.queue:
		return op
	default:
		return nil
	}
}

// begin opens a transaction that holds the write lock.
func (w *writer) begin() error {
	if w.c == nil {
		c, err := w.db.reconnect(context.Background(), writing)
		if err != nil {
			return err
		}
		w.c = c
	}
	return patiently(w.quit, func() error { _, err := w.c.exec("BEGIN IMMEDIATE"); return err })
}

// attempt runs op within a savepoint. broken is set if the whole transaction
// cannot continue.
func (w *writer) attempt(op *write) (err, broken error) {
	if _, broken = w.c.exec("SAVEPOINT one"); broken != nil {
		return broken, broken
	}
	if err = op.do(w.c); err != nil {
		if _, broken = w.c.exec("ROLLBACK TO one"); broken != nil {
			return err, errors.Join(err, broken)
		}
	}
	_, broken = w.c.exec("RELEASE one")
	return err, broken
}

// undo rolls the transaction back. If that fails it closes the connection, which
// also rolls back.
func (w *writer) undo() {
	if w.c == nil {
		return
	}
	if _, err := w.c.exec("ROLLBACK"); err == nil {
		return
	}
	if err := w.c.close(); err != nil {
		w.log.Warn("Closing a broken connection to the journal failed", zap.Error(err))
	}
	w.c = nil
}

// answer returns the outcomes to the callers, then signals the watches.
func (w *writer) answer(group []*write, err error) {
	for _, op := range group {
		op.err = w.db.failure(op.err)
		if err != nil {
			op.err = err
		}
		close(op.done)
	}
	if err != nil {
		return
	}
	for _, op := range group {
		if op.err == nil && op.committed != nil {
			op.committed()
		}
	}
	w.wrote(len(group))
}

// tidy empties the write-ahead log if the tidier is too slow.
func (w *writer) tidy() {
	if w.c == nil {
		return
	}
	if err := w.db.truncate(w.c); err != nil {
		w.log.Warn("Emptying the write-ahead log of the journal failed", zap.Error(w.db.explain(err)))
	}
}

// patiently repeats do while another connection holds the lock.
func patiently(quit <-chan struct{}, do func() error) error {
	for deadline := time.Now().Add(lockWait); ; {
		err := do()
		if !busy(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(lockRetry):
		case <-quit:
			return ErrClosed
		}
	}
}
