package journal_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
)

// brief records a short objective from its opening to its end, n milliseconds into
// the tt, in one batch.
func brief(t testing.TB, j *journal.Journal, n int64) *scribe {
	o := newObjective()
	m := userMessage(o.MessageID, "Ship it, please")
	s := &scribe{t: t, j: j, objective: o, source: o.ID}
	end := s.rootMoved(opt.TaskCompleted)
	end.At = at(n)
	batch := s.batch(opt.Opening{Objective: o, Message: &m}.Event(), planAdded(o, 0, 2),
		s.moved(0, 0, opt.TaskWorking), s.piece(0, 0, "a", "one", false), s.moved(0, 0, opt.TaskCompleted), s.moved(0, 1, opt.TaskCompleted),
		opt.Event{Kind: opt.ObjectiveMoved, To: "completed", At: at(n)}, end)
	test.Error(t, "the call", nil, j.Record(t.Context(), batch))
	return s
}

// many records brief objectives.
func many(t testing.TB, j *journal.Journal, count int) []*scribe {
	all := make([]*scribe, count)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(count); i = next.Add(1) - 1 {
				all[i] = brief(t, j, i)
			}
		})
	}
	wg.Wait()
	return all
}

// TestPurge_whileWritersWrite removes ten thousand objectives while two processes
// write. All acknowledged events must remain, and nothing else.
func TestPurge_whileWritersWrite(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		const writers = 4
		journals := []*journal.Journal{open(), open()}
		model := brief(t, journals[0], crowd-1)
		test.OK(t, journals[0].Fill(t.Context(), model.objective.ID, crowd-1, time.Millisecond, "messages", "artifacts", "events", "sources"))
		var living []*scribe
		done := make(chan struct{})
		var wg sync.WaitGroup
		for i := range writers {
			s := begin(t, journals[i%2], newObjective())
			living = append(living, s)
			wg.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
						s.record(s.rootMoved(opt.TaskWorking))
					}
				}
			})
		}
		written := len(living[0].events())
		n, err := journals[0].Purge(t.Context(), at(crowd).Time(), 2*crowd)
		if n != crowd || err != nil {
			t.Errorf("%d were removed, %v, want %d", n, err, crowd)
		}
		close(done)
		wg.Wait()
		for _, s := range living {
			events := s.events()
			if int64(len(events)) != s.n || events[s.n-1].Seq != s.n || len(events) <= written {
				t.Errorf("%d events, of which %d were acknowledged; %d when the purge began", len(events), s.n, written)
			}
			if _, seq, err := s.j.Peek(t.Context(), tenant, s.objective.ID); seq != s.n || err != nil {
				t.Errorf("the task is at seq %d, %v, want %d", seq, err, s.n)
			}
		}
		if left := rows(dump(t, journals[1]), false, living...); len(left) > 0 {
			t.Errorf("%d rows are left: %q", len(left), left[0])
		}
		sound(t, journals[1])
	})
}

// purgeForEver prints a line for every objective that was removed.
func purgeForEver(path string) {
	j, err := journal.Open(context.Background(), journal.Config{Path: path})
	for err == nil {
		var n int
		n, err = j.Purge(context.Background(), at(1_000_000).Time(), 1)
		if n > 0 {
			os.Stdout.WriteString("removed\n")
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestPurge_kill kills a process that purges, again and again. Each objective is
// complete or unknown, and the next purge removes the remaining rows.
func TestPurge_kill(t *testing.T) {
	t.Parallel()
	path := file(t)
	j := openFile(t, path)
	all := many(t, j, 300)
	whole := len(rows(dump(t, j), true, all[0]))
	last, gone := len(all), map[*scribe]bool{}
	for round := range 4 {
		child, said := startChild(t, path)
		enough := 1 + rand.IntN(40)
		for n := 0; said.Scan(); {
			if n++; n == enough {
				_ = child.Process.Kill()
			}
		}
		if err := child.Wait(); err == nil {
			t.Fatal("the child ended by itself")
		}
		there := 0
		lines := map[string]int{} // of a dump, by the objective that they name
		for line := range strings.Lines(dump(t, j)) {
			_, id, _ := strings.Cut(line, "obj-")
			lines["obj-"+id[:min(len(id), len(all[0].objective.ID)-len("obj-"))]]++
		}
		for _, s := range all {
			_, err := j.Objective(t.Context(), tenant, s.objective.ID)
			switch left := lines[s.objective.ID]; {
			case err == nil && left == whole:
				there++
			case !errors.Is(err, opt.ErrUnknown):
				t.Errorf("round %d: an objective has %d rows of %d, %v", round, left, whole, err)
			case !gone[s]: // reads find nothing of it
				gone[s] = true
				s.gone(j)
			}
		}
		if there > last-enough {
			t.Errorf("round %d: %d objectives are there, of %d, of which %d were removed", round, there, last, enough)
		}
		last = there
		sound(t, j)
	}
	if n, err := j.Purge(t.Context(), at(1_000_000).Time(), len(all)); n != last || err != nil || last == 0 {
		t.Errorf("%d were removed in the end, %v, want %d", n, err, last)
	}
	if left := dump(t, j); strings.TrimSpace(left) != "" {
		t.Errorf("there is left: %.200s", left)
	}
}
