package db

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// A write is one piece of work for the writer.
type write struct {
	do      func(*Conn) error // all of it takes effect, or nothing; it may be called again
	locks   []string          // no other write with one of them runs meanwhile
	changes Changes
	state   atomic.Int32
	err     error
	done    chan struct{}
}

// The states of a write.
const (
	waiting int32 = iota
	taken         // a committer has begun, so the caller waits for the outcome
	dropped       // the caller's context ended before that
)

// A writer takes writes and has them committed.
type writer struct {
	db       database
	log      *zap.Logger
	Queue    chan *write
	onCommit func(Changes) // called after a commit, for each write
	to       Observer
	box      contents
	waiting  atomic.Int64 // writes that no committer has begun
	quit     chan struct{}
	stopped  chan struct{}
}

// newWriter returns a writer with its committers. The first committer uses the connection c.
func newWriter(db database, c *Conn, cfg Config, tell func(Changes)) *writer {
	size := db.size()
	w := &writer{
		db: db, log: cfg.Log, to: cfg.Observer, box: contents{cfg.Sealer, cfg.Seal}, onCommit: tell,
		Queue: make(chan *write, size.group), quit: make(chan struct{}), stopped: make(chan struct{}),
	}
	var all sync.WaitGroup
	for range size.writers {
		one := &committer{writer: w, size: size, c: c}
		c = nil
		all.Go(one.run)
	}
	go func() {
		all.Wait()
		close(w.stopped)
	}()
	return w
}

// Submit implements [Engine.Write].
func (w *writer) Submit(ctx context.Context, do func(*Conn) error, locks ...string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	op := &write{do: do, locks: locks, done: make(chan struct{})}
	w.waiting.Add(1)
	select {
	case w.Queue <- op:
	case <-ctx.Done():
		w.waiting.Add(-1)
		return ctx.Err()
	case <-w.stopped:
		w.waiting.Add(-1)
		return ErrClosed
	}
	select {
	case <-op.done:
		return op.err
	case <-ctx.Done():
		if w.setState(op, dropped) {
			return ctx.Err()
		}
	case <-w.stopped:
		if w.setState(op, dropped) {
			return ErrClosed
		}
	}
	<-op.done
	return op.err
}

// setState moves a waiting op to another state. It returns false if op was not waiting.
func (w *writer) setState(op *write, state int32) bool {
	if !op.state.CompareAndSwap(waiting, state) {
		return false
	}
	w.waiting.Add(-1)
	return true
}

// stop lets the committers finish what they have begun, and waits for that.
func (w *writer) stop() {
	close(w.quit)
	<-w.stopped
}

// next returns a write that waits, nil if there is none.
func (w *writer) next() *write {
	for {
		select {
		case op := <-w.Queue:
			if w.setState(op, taken) {
				return op
			}
		default:
			return nil
		}
	}
}

// A committer owns one connection that writes. It commits waiting writes in one
// transaction, each within a savepoint, so that a failed write does not affect
// the others.
type committer struct {
	*writer
	size  size
	c     *Conn    // nil before it is made, and after it broke
	group []*write // of the transaction
}

func (w *committer) run() {
	defer w.close()
	for {
		select {
		case <-w.quit:
			return
		case first := <-w.Queue:
			if w.setState(first, taken) {
				w.commit(first)
			}
		}
	}
}

const (
	repeatFor  = 10 * time.Second      // after a deadlock or a lost connection
	repeatMost = 50 * time.Millisecond // between two repeats, at most
)

// commit runs first and other waiting writes in one transaction, and returns their outcomes to
// the callers.
func (w *committer) commit(first *write) {
	w.group = append(w.group[:0], first)
	for op := w.nextForGroup(); op != nil; op = w.nextForGroup() {
		w.group = append(w.group, op)
	}
	deadline := time.Now().Add(repeatFor)
	err, repeatable := w.runAndCommit()
	for first := true; err != nil && repeatable && (first || time.Now().Before(deadline)) && w.pause(); first = false {
		err, repeatable = w.runAndCommit()
	}
	if err != nil && repeatable && len(w.group) > 1 {
		w.commitApart()
		return
	}
	w.finishGroup(err)
}

// commitApart commits each write of the group alone, so that one that waits for a lock
// does not fail the others.
func (w *committer) commitApart() {
	for _, op := range slices.Clone(w.group) {
		w.group = append(w.group[:0], op)
		err, _ := w.runAndCommit()
		w.finishGroup(err)
	}
}

// pause waits a random time before a repeat. It returns false if the writer is to stop.
func (w *committer) pause() bool {
	select {
	case <-time.After(rand.N(repeatMost)):
		return true
	case <-w.quit:
		return false
	}
}

// nextForGroup returns a write for the group, nil if none waits or the group is full.
func (w *committer) nextForGroup() *write {
	if len(w.group) >= w.size.group {
		return nil
	}
	return w.next()
}

// runAndCommit runs the group in one transaction. With an error nothing took effect, except
// that the result of a commit is unknown if the connection broke during it. repeatable is
// set if a repeat may succeed.
func (w *committer) runAndCommit() (err error, repeatable bool) {
	began := time.Now()
	defer func() { w.to.Committed(len(w.group), time.Since(began), err) }()
	if err = w.runGroup(); err != nil {
		repeatable = w.db.mayRepeat(w.c, err)
	} else {
		err = w.db.Commit(w.c)
	}
	if err != nil {
		w.undo()
		err = unavailable(w.db, err)
	}
	return err, repeatable
}

// runGroup begins a transaction and runs the writes of the group in it, and those that
// come meanwhile if they need no further lock.
func (w *committer) runGroup() (err error) {
	if w.c == nil {
		if w.c, err = w.box.connect(context.Background(), w.db, Writing); err != nil {
			return err
		}
	}
	var locks []string
	for _, op := range w.group {
		locks = append(locks, op.locks...)
	}
	if err = w.db.Begin(w.c, locks); err != nil {
		return err
	}
	var list []Changes
	for i := 0; i < len(w.group); i++ {
		op := w.group[i]
		if op.err, err = w.runInSavepoint(op); err != nil {
			return err
		}
		if op.err == nil {
			list = append(list, op.changes)
		}
		if next := len(w.group); w.size.singleWriter && next == i+1 {
			if op := w.nextForGroup(); op != nil {
				w.group = append(w.group, op)
			}
		}
	}
	return w.db.announce(w.c, list)
}

// runInSavepoint runs op within a savepoint. err is the error of op; with broken the whole
// transaction cannot continue.
func (w *committer) runInSavepoint(op *write) (err, broken error) {
	op.changes = Changes{}
	w.c.Changes = &op.changes
	if _, broken = w.c.Exec("SAVEPOINT one"); broken != nil {
		return broken, broken
	}
	if err = op.do(w.c); err != nil {
		if w.db.mayRepeat(w.c, err) {
			return err, err
		}
		if _, broken = w.c.Exec("ROLLBACK TO one"); broken != nil {
			return err, errors.Join(err, broken)
		}
	}
	_, broken = w.c.Exec("RELEASE one")
	return err, broken
}

// undo rolls the transaction back. If that fails it closes the connection, which
// also rolls back.
func (w *committer) undo() {
	if w.c == nil {
		return
	}
	if _, err := w.c.Exec("ROLLBACK"); err == nil {
		return
	}
	if err := w.c.discard(); err != nil {
		w.log.Debug("Closing a broken connection to the journal failed", zap.Error(err))
	}
	w.c = nil
}

// finishGroup returns the outcomes to the callers, then announces the changes.
func (w *committer) finishGroup(err error) {
	for _, op := range w.group {
		op.err = w.db.Failure(op.err)
		if err != nil {
			op.err = err
		}
		close(op.done)
	}
	if err != nil {
		return
	}
	for _, op := range w.group {
		if op.err == nil {
			w.onCommit(op.changes)
		}
	}
	w.db.afterCommit(w.c, len(w.group))
}

func (w *committer) close() {
	if w.c == nil {
		return
	}
	if err := w.c.Close(); err != nil {
		w.log.Warn("Closing a connection to the journal failed", zap.Error(err))
	}
}
