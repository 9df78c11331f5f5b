package db

import (
	"context"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

const (
	checkpointAfter = 256                    // writes
	checkpointPause = 250 * time.Millisecond // between two checkpoints
	maxLog          = 64 << 20               // bytes of write-ahead log after which writers wait
)

// A checkpointer keeps the write-ahead log short, in its own goroutine so that
// writers do not wait.
type checkpointer struct {
	db      *SqliteFile
	c       *Conn        // nil before its first checkpoint
	writes  atomic.Int64 // since it last tidied
	due     chan struct{}
	quit    chan struct{}
	stopped chan struct{}
}

func newCheckpointer(db *SqliteFile) *checkpointer {
	t := &checkpointer{db: db, due: make(chan struct{}, 1), quit: make(chan struct{}), stopped: make(chan struct{})}
	go t.run()
	return t
}

// addWrites adds n writes, after which t may checkpoint.
func (t *checkpointer) addWrites(n int) {
	if t.writes.Add(int64(n)) >= checkpointAfter {
		signal(t.due)
	}
}

func (t *checkpointer) stop() {
	close(t.quit)
	<-t.stopped
}

func (t *checkpointer) run() {
	defer close(t.stopped)
	defer t.releaseConn()
	for {
		select {
		case <-t.quit:
			return
		case <-t.due:
		}
		if t.db.path != "" {
			t.checkpoint()
		}
		select {
		case <-t.quit:
			return
		case <-time.After(checkpointPause):
		}
	}
}

func (t *checkpointer) checkpoint() {
	t.writes.Store(0)
	var err error
	if t.c == nil {
		t.c, err = t.db.open(context.Background(), Checkpointing)
	}
	if err == nil {
		err = t.db.checkpoint(t.c)
	}
	if err != nil {
		t.db.log.Warn("Moving the write-ahead log into the journal failed", zap.Error(t.db.explain(err)))
		t.releaseConn()
	}
}

func (t *checkpointer) releaseConn() {
	if t.c != nil {
		_ = t.c.Close() // nothing is lost
		t.c = nil
	}
}
