package operator_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// A database is restored from a copy that was made some 500 events before, while clients begin work of every
// kind and answer its gates, and repeat what fails. First the journal, which a rebuild completes, then Temporal,
// whose workflows are then older than the journal.
func TestOperator_restore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.load()
	for _, databases := range [][]string{{"journal.db"}, {"temporal.db", "temporal-visibility.db"}} {
		p := w.site.Start(harness.AllInOne)
		l.await(6)
		copies := w.stopAndCopy(p)
		p = w.site.Start(harness.AllInOne)
		l.await(15)
		p.Stop()
		w.restore(copies, databases...)
		temporal := w.site.Start(harness.Temporal)
		w.journal("rebuild")
		w.journal("close", "--lost", "--yes") // what began after a copy of Temporal
		temporal.Stop()
	}
	w.site.Start(harness.AllInOne)
	w.connect()
	l.await(6)
	l.end()
	w.finish()
	w.checkTemporal()
	w.checkLog()
}

// A load begins objectives, one after another, and answers the gates of the latest ones.
type load struct {
	w     *world
	begun atomic.Int64
	end   func() // afterwards w is that of the test again
}

func (w *world) load() *load {
	ctx, cancel := context.WithCancel(w.Context())
	l := &load{w: w}
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			if err := w.send(w.Context(), int(l.begun.Load())); err != nil { // also the last one: its gates are answered at the end
				if w.Context().Err() == nil {
					w.Error(err)
				}
				return
			}
			l.begun.Add(1)
			for _, id := range w.roots[max(0, len(w.roots)-8):] {
				_ = w.answer(id) // what could not be answered is at the end
			}
		}
	})
	l.end = func() {
		cancel()
		running.Wait()
	}
	w.Cleanup(l.end)
	return l
}

// await waits until n more objectives have begun.
func (l *load) await(n int) {
	l.w.Helper()
	until := l.begun.Load() + int64(n)
	harness.Eventually(l.w, within, "more work has begun", func() error {
		if now := l.begun.Load(); now < until && !l.w.Failed() {
			return fmt.Errorf("%d of %d objectives", now, until)
		}
		return nil
	})
}

// stopAndCopy stops the service and copies its data.
func (w *world) stopAndCopy(p *harness.Process) string {
	w.Helper()
	p.Stop()
	dir := filepath.Join(w.TempDir(), "copy")
	test.OK(w, os.CopyFS(dir, os.DirFS(w.site.Dir)))
	return dir
}

// restore puts databases of a copy in the place of the site's.
func (w *world) restore(copies string, names ...string) {
	w.Helper()
	for _, name := range names {
		for _, end := range []string{"", "-wal", "-shm"} {
			to := filepath.Join(w.site.Dir, name+end)
			data, err := os.ReadFile(filepath.Join(copies, name+end))
			if os.IsNotExist(err) {
				err = os.RemoveAll(to)
			} else if err == nil {
				err = os.WriteFile(to, data, 0o600)
			}
			test.OK(w, err)
		}
	}
}

// journal runs a command of the journal.
func (w *world) journal(command ...string) {
	w.Helper()
	w.site.Run(slices.Concat([]string{"journal"}, command, []string{"--data-dir", w.site.Dir, "--temporal-addr", w.site.TemporalAddr})...)
}
