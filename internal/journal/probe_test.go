package journal_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"longhaul/internal/journal"
	"longhaul/opt"
)

// A journal on a full disk can be read and is not ready.
func TestPing_full(t *testing.T) {
	inFile(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		s := begin(t, j, newObjective())
		must(t, j.Script(t.Context(), "PRAGMA max_page_count = 1")) // no more than there are
		err := j.Ping(t.Context())
		if !errors.Is(err, opt.ErrUnavailable) || !strings.Contains(err.Error(), "make room on the disk") {
			t.Errorf("without room: %v", err)
		}
		if again := j.Ping(t.Context()); again == nil || again.Error() != err.Error() {
			t.Errorf("asked again at once: %v, want %v", again, err)
		}
		s.view(s.objective.ID)
		must(t, j.Script(t.Context(), "PRAGMA max_page_count = 1000000"))
		j.AskAgain()
		if err := j.Ping(t.Context()); err != nil {
			t.Errorf("with room again: %v", err)
		}
	})
}

// Many calls of Ping write rarely and leave one row.
func TestPing_often(t *testing.T) {
	inFile(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		began := time.Now()
		for range 1000 {
			must(t, j.Ping(t.Context()))
		}
		most := 1 + int(time.Since(began)/time.Second)
		if n := runs(t, j, "INSERT INTO probes"); n < 1 || n > most {
			t.Errorf("1,000 pings wrote %d times, want at most %d", n, most)
		}
		for range 3 {
			j.AskAgain()
			must(t, j.Ping(t.Context()))
		}
		if n, err := j.CountRows(t.Context(), "probes"); n != 1 || err != nil {
			t.Errorf("%d rows are left, %v", n, err)
		}
	})
}
