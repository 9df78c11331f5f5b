package operator_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
)

// A database is restored from a copy that was made some 500 events before, while work of
// every kind is open. First the journal, which a rebuild completes, then Temporal, whose
// workflows are then older than the journal.
func TestOperator_restore(t *testing.T) {
	w := newWorld(t)
	p := w.site.Start(harness.AllInOne)
	for n := range 6 {
		w.begin(n)
	}
	copies := w.stopAndCopy(p)
	p = w.site.Start(harness.AllInOne)
	w.moreEvents("a")
	p.Stop()
	w.restore(copies, "journal.db")
	temporal := w.site.Start(harness.Temporal)
	w.journal("rebuild")
	temporal.Stop()

	p = w.site.Start(harness.AllInOne)
	for n := range 6 {
		w.begin(6 + n)
	}
	copies = w.stopAndCopy(p)
	p = w.site.Start(harness.AllInOne)
	w.moreEvents("b")
	p.Stop()
	w.restore(copies, "temporal.db", "temporal-visibility.db")
	temporal = w.site.Start(harness.Temporal)
	w.journal("rebuild")
	temporal.Stop()

	w.site.Start(harness.AllInOne)
	w.connect()
	w.finish()
	w.checkTemporal()
	w.checkLog()
}

// moreEvents has everything that is open continue, and begins more work: some 500 events.
func (w *world) moreEvents(suffix string) {
	w.Helper()
	w.answerGates()
	for n := range 12 {
		plan := harness.NewPlan("more", strings.Split(strings.TrimSuffix(strings.Repeat("say x,", 12), ","), ",")...)
		task := w.c.MustSendUntil(w.Context(), w, harness.Message{ID: suffix + string(rune('a'+n)), Text: "x", Plan: plan})
		w.roots = append(w.roots, task.ID)
		w.c.AwaitEnd(w.T, within, task.ID)
	}
}

// stopAndCopy stops the service and copies its data.
func (w *world) stopAndCopy(p *harness.Process) string {
	w.Helper()
	p.Stop()
	dir := filepath.Join(w.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(w.site.Dir)); err != nil {
		w.Fatal(err)
	}
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
			if err != nil {
				w.Fatal(err)
			}
		}
	}
}

// journal runs a command of the journal.
func (w *world) journal(command string) {
	w.Helper()
	w.site.Run("journal", command, "--data-dir", w.site.Dir, "--temporal-addr", w.site.TemporalAddr)
}
