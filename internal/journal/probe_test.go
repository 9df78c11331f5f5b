package journal_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
	"testing"
	"time"

	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A journal on a full disk can be read and is not ready.
func TestPing_full(t *testing.T) {
	inFile(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		s := begin(t, j, newObjective())
		test.OK(t, j.Script(t.Context(), "PRAGMA max_page_count = 1")) // no more than there are
		err := j.Ping(t.Context())
		if !errors.Is(err, opt.ErrUnavailable) || !strings.Contains(err.Error(), "make room on the disk") {
			t.Errorf("without room: %v", err)
		}
		if again := j.Ping(t.Context()); again == nil || again.Error() != err.Error() {
			t.Errorf("asked again at once: %v, want %v", again, err)
		}
		s.view(s.objective.ID)
		test.OK(t, j.Script(t.Context(), "PRAGMA max_page_count = 1000000"))
		j.AskAgain()
		test.Error(t, "with room again", nil, j.Ping(t.Context()))
	})
}

// Where PostgreSQL finds no new room, the disk is not ready, although the journal can be read, and
// written as far as there is old room.
func TestDisk_full(t *testing.T) {
	t.Parallel()
	url := database(t)
	name, _, _ := strings.Cut(path.Base(url), "?")
	j := openURL(t, url)
	limit := func(most string) {
		t.Helper()
		test.OK(t, j.Script(t.Context(), "ALTER DATABASE "+name+" SET temp_file_limit = "+most))
		test.OK(t, j.Close())
		j = openURL(t, url)
	}
	test.OK(t, j.Disk.Ready(t.Context()))
	limit("'1kB'")
	for range 2 {
		test.Error(t, "without room", opt.ErrUnavailable, j.Disk.Ready(t.Context()))
	}
	test.OK(t, j.Ping(t.Context()))
	limit("-1")
	test.OK(t, j.Disk.Ready(t.Context()))
}

// Many calls of Ping write rarely and leave one row.
func TestPing_often(t *testing.T) {
	inFile(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		began := time.Now()
		for range 1000 {
			test.OK(t, j.Ping(t.Context()))
		}
		most := 1 + int(time.Since(began)/time.Second)
		if n := runs(t, j, "INSERT INTO probes"); n < 1 || n > most {
			t.Errorf("1,000 pings wrote %d times, want at most %d", n, most)
		}
		for range 3 {
			j.AskAgain()
			test.OK(t, j.Ping(t.Context()))
		}
		test.Is(t, "rows are left", 1, test.Value(j.CountRows(t.Context(), "probes"))(t))
	})
}

// A database that does not answer in time is asked once a second as well, also if the
// caller leaves meanwhile. A caller that left before says nothing about the journal.
func TestPing_hangs(t *testing.T) {
	inFile(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		ctx, cancel := context.WithCancel(t.Context())
		release := j.Hold(t.Context())
		given := make(chan error)
		go func() { given <- j.Ping(ctx) }()
		for j.Queued() == 0 {
			runtime.Gosched()
		}
		cancel()
		test.Error(t, "a caller that left", context.Canceled, <-given)
		test.OK(t, release())

		n, began := 0, time.Now()
		ctx, cancel = context.WithCancel(t.Context())
		j.Probe(func() error {
			n++
			cancel() // the first caller has waited long enough
			return fmt.Errorf("%w: %w", opt.ErrUnavailable, context.DeadlineExceeded)
		})
		for range 3 {
			test.Error(t, "without an answer", opt.ErrUnavailable, j.Ping(ctx))
			ctx = t.Context()
		}
		if most := 1 + int(time.Since(began)/time.Second); n > most {
			t.Errorf("it was asked %d times, want at most %d", n, most)
		}
	})
}
