package journal

import (
	"context"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

const (
	tidyAfter = 256                    // writes
	tidyPause = 250 * time.Millisecond // between two checkpoints
	logMost   = 64 << 20               // bytes of write-ahead log after which writers wait
)

// A checkpointer keeps the write-ahead log short, in its own goroutine so that
// writers do not wait.
type checkpointer struct {
	db      *sqliteFile
	c       *conn        // nil before its first checkpoint
	writes  atomic.Int64 // since it last tidied
	due     chan struct{}
	quit    chan struct{}
	stopped chan struct{}
}

func newCheckpointer(db *sqliteFile) *checkpointer {
	t := &checkpointer{db: db, due: make(chan struct{}, 1), quit: make(chan struct{}), stopped: make(chan struct{})}
	go t.run()
	return t
}

// wrote adds n writes, after which t may checkpoint.
func (t *checkpointer) wrote(n int) {
	if t.writes.Add(int64(n)) >= tidyAfter {
		signal(t.due)
	}
}

func (t *checkpointer) stop() {
	close(t.quit)
	<-t.stopped
}

func (t *checkpointer) run() {
	defer close(t.stopped)
	defer t.letGo()
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
		case <-time.After(tidyPause):
		}
	}
}

func (t *checkpointer) checkpoint() {
	t.writes.Store(0)
	var err error
	if t.c == nil {
		t.c, err = t.db.open(context.Background(), checkpointing)
	}
	if err == nil {
		err = t.db.checkpoint(t.c)
	}
	if err != nil {
		t.db.log.Warn("Moving the write-ahead log into the journal failed", zap.Error(t.db.explain(err)))
		t.letGo()
	}
}

func (t *checkpointer) letGo() {
	if t.c != nil {
		_ = t.c.close() // nothing is lost
		t.c = nil
	}
}
