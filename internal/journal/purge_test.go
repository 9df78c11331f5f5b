package journal_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/outbox"
	"longhaul/opt/shown"
)

// rich records an objective with rows in every table.
func rich(t testing.TB, j *journal.Journal, o opt.Objective) *scribe {
	t.Helper()
	s := begin(t, j, o)
	root, task := o.ID, s.task(0, 0)
	g := gate(task, opt.Approval, 1)
	rootWaits := s.rootMoved(opt.TaskInputRequired)
	rootWaits.Gate, rootWaits.Status = g, g.Message(o.ContextID, root)
	s.record(planAdded(o, 0, 2), s.rootMoved(opt.TaskWorking), s.moved(0, 0, opt.TaskWorking), s.piece(0, 0, "a", "one", false))
	s.record(s.waits(0, 0, g), rootWaits, s.decided(new(opt.Chain), 0, 0, "ann", opt.Accepted), said(root, task, "m-1", opt.Accepted), s.piece(0, 0, "a", "two", true), s.moved(0, 0, opt.TaskCompleted))
	test.Value(j.Place(t.Context(), place(o, 1, 1)))(t)
	j.SetChannels([]outbox.Channel{{Name: "all"}})
	put(t, j, outbox.PushConfig{Tenant: o.Tenant, TaskID: root, ID: "p", States: outbox.PushAll, URL: "https://example.com/p"})
	s.record(s.atGate(s.task(0, 1), "g1"))
	p, d, _, err := j.Pushes.NextDelivery(t.Context(), root, "p")
	test.OK(t, err)
	test.Value(j.Pushes.NoteDelivery(t.Context(), p, d, outbox.DeliveryAttempt{At: at(5)}, outbox.DeliveryDue))(t)
	s.as("another source", j).record(said(root, "", "m-2", opt.Noted), answered("c-1", opt.CommandAnswer{Revision: 1}))
	for _, id := range []string{"b-1", "b-2", "b-3"} {
		test.OK(t, j.WriteBlobs(t.Context(), o.ID, map[string][]byte{id: []byte("a blob of " + o.ID)}))
	}
	return s
}

// end records the end of the objective, n milliseconds into the test.
func (s *scribe) end(as opt.ObjectiveStatus, n int64) *scribe {
	s.t.Helper()
	root := s.rootMoved(opt.TaskState(as))
	root.At = at(n)
	s.record(opt.Event{Kind: opt.ObjectiveMoved, To: string(as), At: at(n)}, root)
	return s
}

// again begins another attempt, n milliseconds into the test.
func (s *scribe) again(n int64) error {
	next := s.as(opt.RootID(s.objective.ID, 2), s.j)
	return s.j.Record(s.t.Context(), next.batch(opt.Event{Kind: opt.ObjectiveRetried, At: at(n), From: "failed", To: "submitted", Attempt: 2}))
}

// rows returns the lines of a dump that are about an objective, or those that are
// about none of them.
func rows(dump string, about bool, objectives ...*scribe) (lines []string) {
	for line := range strings.Lines(dump) {
		is := false
		for _, s := range objectives {
			is = is || strings.Contains(line, strings.TrimPrefix(s.objective.ID, "obj-"))
		}
		if is == about {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// gone checks that no read finds anything of an objective.
func (s *scribe) gone(j *journal.Journal) {
	s.t.Helper()
	ctx, tenant, id := s.t.Context(), s.objective.Tenant, s.objective.ID
	for what, read := range map[string]func() error{
		"Task of the root":   func() error { _, err := j.Task(ctx, tenant, id, shown.TaskWant{}); return err },
		"Task of the plan":   func() error { _, err := j.Task(ctx, tenant, s.task(0, 0), shown.TaskWant{}); return err },
		"Peek":               func() error { _, _, err := j.Peek(ctx, tenant, id); return err },
		"Objective":          func() error { _, err := j.Objective(ctx, tenant, id); return err },
		"Kept":               func() error { _, err := j.Kept(ctx, tenant, id); return err },
		"Keep":               func() error { return j.Keep(ctx, tenant, id, at(0)) },
		"Decisions":          func() error { _, err := j.Decisions(ctx, tenant, id, 0, 1); return err },
		"Record, much later": func() error { return ended(s.again(0)) },
	} {
		fails(s.t, what+" of an objective that was removed", opt.ErrUnknown)(read())
	}
	if _, ok, err := j.Answer(ctx, id, "c-1"); ok || err != nil {
		s.t.Errorf("an answer of an objective that was removed: %v, %v", ok, err)
	}
	if events, err := j.Events(ctx, id, 0, 0); len(events) > 0 || err != nil {
		s.t.Errorf("%d events of an objective that was removed, %v", len(events), err)
	}
	if _, total, err := j.Tasks(ctx, tenant, shown.TaskFilter{ContextID: s.objective.ContextID}); total > 0 || err != nil {
		s.t.Errorf("%d tasks in a context of none, %v", total, err)
	}
}

// ended turns ErrEarly into opt.ErrUnknown.
func ended(err error) error {
	if errors.Is(err, journal.ErrEarly) {
		return opt.ErrUnknown
	}
	return err
}

// TestPurge removes old, ended objectives completely, and changes nothing else.
func TestPurge(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		foreign := newObjective()
		foreign.Tenant = "globex"
		old := []*scribe{
			rich(t, j, newObjective()).end(opt.ObjectiveCompleted, 10),
			rich(t, j, newObjective()).end(opt.ObjectiveFailed, 20),
			rich(t, j, newObjective()).end(opt.ObjectiveCanceled, 30),
			rich(t, j, foreign).end(opt.ObjectiveCompleted, 99),
		}
		retried, asked := rich(t, j, newObjective()).end(opt.ObjectiveFailed, 40), rich(t, j, newObjective()).end(opt.ObjectiveFailed, 50)
		rich(t, j, newObjective())
		begin(t, j, newObjective())
		rich(t, j, newObjective()).end(opt.ObjectiveCompleted, 100)
		test.OK(t, errors.Join(retried.again(60), j.Keep(t.Context(), tenant, asked.objective.ID, at(100))))
		test.Value(j.Key(t.Context(), "tokens"))(t)
		before := dump(t, j)
		for _, s := range old {
			if n := len(rows(before, true, s)); n < 20 {
				t.Fatalf("only %d rows of an objective:\n%s", n, before)
			}
		}

		n, err := j.Purge(t.Context(), at(100).Time(), 100)
		if n != len(old) || err != nil {
			t.Errorf("%d were removed, %v, want %d", n, err, len(old))
		}
		for _, s := range old {
			s.gone(j)
		}
		test.Equal(t, "rows that should stay", rows(before, false, old...), rows(dump(t, j), false))
		_, tasks, err := j.Tasks(t.Context(), tenant, shown.TaskFilter{})
		if want := 4*3 + 1 + 1; tasks != want || err != nil { // a root and two tasks each, a root alone, one root more
			t.Errorf("%d tasks in total, %v, want %d", tasks, err, want)
		}
		if _, objectives, err := j.Objectives(t.Context(), tenant, shown.ObjectiveFilter{}); objectives != 5 || err != nil {
			t.Errorf("%d objectives in total, %v, want 5", objectives, err)
		}
		test.Is(t, "were removed the second time", 0, test.Value(j.Purge(t.Context(), at(100).Time(), 100))(t))
	})
}

// A purge that waits for others takes the lock of purges less and less often. Its pauses are short
// again after a transaction that removed something.
func TestPurge_pauses(t *testing.T) {
	first := journal.PurgePause(time.Minute, false)
	last, grown := first, 0
	for next := journal.PurgePause(last, true); next != last; next = journal.PurgePause(last, true) {
		if next < last {
			t.Fatalf("%v follows %v", next, last)
		}
		last, grown = next, grown+1
	}
	if grown < 3 || last != time.Second {
		t.Errorf("pauses grow from %v to %v in %d steps", first, last, grown)
	}
}

// TestPurge_oldestFirst removes at most limit objectives, the oldest first.
func TestPurge_oldestFirst(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		for _, n := range rand.Perm(9) {
			begin(t, j, newObjective()).end(opt.ObjectiveCompleted, int64(100*n))
		}
		for _, tt := range []struct{ limit, want, left int }{{2, 2, 7}, {0, 0, 7}, {3, 3, 4}, {100, 2, 2}} { // 700 and 800 stay
			if n, err := j.Purge(t.Context(), at(650).Time(), tt.limit); n != tt.want || err != nil {
				t.Fatalf("%d were removed, %v, want %d", n, err, tt.want)
			}
			list, total, err := j.Objectives(t.Context(), tenant, shown.ObjectiveFilter{})
			if total != tt.left || err != nil {
				t.Fatalf("%d are left, %v, want %d", total, err, tt.left)
			}
			for _, o := range list {
				if limit := int64(9-tt.left) * 100; o.UpdatedAt.Millis() < at(limit).Millis() {
					t.Errorf("one from %v is left, among %d", o.UpdatedAt, total)
				}
			}
		}
	})
}

// TestPurge_bitByBit reads after every transaction of a purge: the objective is
// complete or unknown. If a process ends in the middle, the next one removes the
// remaining rows.
func TestPurge_bitByBit(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		s := rich(t, j, newObjective())
		for n := range 200 {
			s.record(s.piece(0, 1, fmt.Sprint("piece-", n), "x", false))
		}
		s.end(opt.ObjectiveCompleted, 10)
		whole, steps := s.view(s.objective.ID), 0
		for done := false; !done; steps++ {
			test.OK(t, j.Close())
			j = open()
			s.j = j
			v, err := j.Task(t.Context(), tenant, s.objective.ID, shown.TaskWant{History: -1, Artifacts: true})
			if steps > 0 {
				s.gone(j)
			} else if diff := cmp.Diff(whole, v); diff != "" || err != nil {
				t.Errorf("before the first step: %v, another task (-want +got):\n%s", err, diff)
			}
			if done, err = j.PurgeStep(t.Context(), at(100).Time()); err != nil {
				t.Fatal(err)
			}
		}
		if left := rows(dump(t, j), true, s); len(left) > 0 || steps < 10 {
			t.Errorf("after %d steps there are left: %q", steps, left)
		}
	})
}

// TestPurge_comesBack opens an objective with the id of one that is still being
// removed. It must get no data of the other one.
func TestPurge_comesBack(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		for _, first := range []string{"opened", "blob"} {
			j := open()
			s := rich(t, j, newObjective()).end(opt.ObjectiveCompleted, 10)
			test.Value(j.PurgeStep(t.Context(), at(100).Time()))(t)
			if left := rows(dump(t, j), true, s); len(left) < 10 {
				t.Fatalf("%d rows are left after the first step", len(left))
			}
			if first == "blob" {
				test.OK(t, j.WriteBlobs(t.Context(), s.objective.ID, map[string][]byte{"b-1": []byte("new")}))
			}
			again := begin(t, j, s.objective)
			if n, err := j.Purge(t.Context(), at(100).Time(), 10); n != 0 || err != nil {
				t.Errorf("%s: %d were removed, %v", first, n, err)
			}
			if events := again.events(); len(events) != 1 || events[0].Seq != 1 {
				t.Errorf("%s: events %v", first, events)
			}
			test.Is(t, first+": the history is", 1, len(ids(again.view(s.objective.ID).Task.History)))
			fails(t, first+": a task of the other objective", opt.ErrUnknown)(j.Task(t.Context(), tenant, s.task(0, 0), shown.TaskWant{}))
			want := map[string]string{"opened": "", "blob": "new"}[first]
			if data, _ := j.ReadBlob(t.Context(), s.objective.ID, "b-1"); string(data) != want {
				t.Errorf("%s: the blob is %q, want %q", first, data, want)
			}
		}
	})
}

// TestPurge_wakesWatches checks that watches of a removed objective are signalled
// in every process, though the newest rows belong to another objective.
func TestPurge_wakesWatches(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		here, there := open(), open()
		for range 5 {
			s := begin(t, here, newObjective())
			watches := []*journal.Watch{here.Watch(s.objective.ID), there.Watch(s.objective.ID)}
			for _, w := range watches {
				if !strings.HasSuffix(t.Name(), "/postgres") {
					awaitSignal(t, w) // of what may have been before it looked at the file
				}
			}
			next := newObjective()
			last := there.Watch(next.ID)
			s.end(opt.ObjectiveCompleted, 10)
			begin(t, here, next)
			awaitSignal(t, last) // so all that was before is signalled
			last.Close()
			for _, w := range watches {
				awaitSignal(t, w)
			}
			purge(t, here, 100, 1)
			for _, w := range watches {
				awaitSignal(t, w)
				w.Close()
			}
		}
	})
}

// TestPurge_rowsAgain checks that another process notices events that reuse the
// row numbers of the newest, removed rows.
func TestPurge_rowsAgain(t *testing.T) {
	inFile(t, func(t *testing.T, open func() *journal.Journal) {
		here, there := open(), open()
		for range 10 {
			s := begin(t, here, newObjective()).end(opt.ObjectiveCompleted, 10)
			next := newObjective()
			w := there.Watch(next.ID)
			awaitSignal(t, w) // there, everything was seen
			purge(t, here, 100, 1)
			again := &scribe{t: t, j: here, objective: next, source: next.ID}
			m := userMessage(next.MessageID, "Ship it, please")
			again.record(opt.Opening{Objective: next, Message: &m}.Event(), again.rootMoved(opt.TaskWorking), again.rootMoved(opt.TaskWorking))
			if again.n != s.n {
				t.Fatalf("%d rows in place of %d", again.n, s.n)
			}
			awaitSignal(t, w)
			w.Close()
			again.end(opt.ObjectiveCompleted, 10)
			test.Value(here.Purge(t.Context(), at(100).Time(), 10))(t)
		}
	})
}

// TestPurge_watchedAgain keeps a watch open while an objective is removed and
// recorded again by the same process.
func TestPurge_watchedAgain(t *testing.T) {
	t.Parallel()
	j := test.Value(journal.Open(t.Context(), journal.Config{}))(t)
	defer j.Close()
	o := newObjective()
	w := j.Watch(o.ID)
	defer w.Close()
	begin(t, j, o).end(opt.ObjectiveCompleted, 10)
	awaitSignal(t, w)
	purge(t, j, 100, 1)
	awaitSignal(t, w)
	begin(t, j, o)
	awaitSignal(t, w)
}

// TestPurge_newAttempts begins new attempts at objectives while they are removed.
// Each is unknown or complete.
func TestPurge_newAttempts(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		const objectives = 100
		here, there := open(), open()
		var all []*scribe
		for n := range objectives {
			all = append(all, rich(t, here, newObjective()).end(opt.ObjectiveFailed, int64(n)))
		}
		before := dump(t, here)
		var purged, kept atomic.Int64
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				n, err := here.Purge(t.Context(), at(1000).Time(), 1)
				if purged.Add(int64(n)); n == 0 || err != nil {
					if err != nil {
						t.Error(err)
					}
					return
				}
			}
		})
		wg.Go(func() {
			for i := len(all) - 1; i >= 0; i-- { // from the other end
				s := all[i].as(all[i].source, there)
				err := there.Keep(t.Context(), tenant, s.objective.ID, at(5000))
				if errors.Is(err, opt.ErrUnknown) {
					continue
				}
				o, failed := there.Kept(t.Context(), tenant, s.objective.ID)
				if err := errors.Join(err, failed, s.again(5000)); err != nil {
					t.Errorf("a new attempt: %v", err)
					return
				}
				kept.Add(1)
				if len(o.Objective.Plans) != 1 || len(o.Objective.Plans[0].Tasks[0].Artifacts) != 1 {
					t.Errorf("the attempt begins with %+v", o)
				}
			}
		})
		wg.Wait()
		if purged.Load()+kept.Load() != objectives || kept.Load() == 0 || purged.Load() == 0 {
			t.Errorf("%d were removed and %d tried again, of %d", purged.Load(), kept.Load(), objectives)
		}
		after := dump(t, here)
		for _, s := range all {
			left := rows(after, true, s)
			if len(left) == 0 {
				continue
			}
			for _, row := range rows(before, true, s) {
				if !slices.Contains(left, row) && !strings.HasPrefix(row, "objectives ") {
					t.Errorf("lost in a new attempt: %s", row)
				}
			}
			if got, want := len(left), len(rows(before, true, s))+3; got != want { // an event, a source and a task
				t.Errorf("%d rows of a new attempt, want %d", got, want)
			}
		}
	})
}
