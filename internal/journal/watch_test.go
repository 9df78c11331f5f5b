package journal_test

import (
	"os"
	"testing"
	"time"

	"longhaul/internal/journal"
	"longhaul/internal/journal/db"
	"longhaul/internal/test"
	"longhaul/opt"
)

const patience = 20 * time.Second // a test that waits longer fails

// awaitSignal waits for w.
func awaitSignal(t *testing.T, w *journal.Watch) {
	t.Helper()
	select {
	case <-w.C():
	case <-time.After(patience):
		t.Fatal("nothing was signalled")
	}
}

// follow reads the events of an objective until there are enough, and reads only
// after signals.
func follow(t *testing.T, j *journal.Journal, objectiveID string, enough int) {
	w := j.Watch(objectiveID)
	defer w.Close()
	var seq int64
	for {
		events, err := j.Events(t.Context(), objectiveID, seq, 0)
		if err != nil {
			t.Error(err)
			return
		}
		for _, e := range events {
			if e.Seq != seq+1 {
				t.Errorf("seq %d comes after seq %d", e.Seq, seq)
			}
			seq = e.Seq
		}
		if seq >= int64(enough) {
			return
		}
		select {
		case <-w.C():
		case <-time.After(patience):
			t.Errorf("stuck at seq %d of %d", seq, enough)
			return
		}
	}
}

// TestWatch_oneByOne waits for each event before the next is recorded, so that no
// later signal hides a lost one. Other watches begin and end meanwhile.
func TestWatch_oneByOne(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		here, there := open(), open()
		s := begin(t, here, newObjective())
		for n := range 40 {
			for _, j := range []*journal.Journal{here, there} {
				w := j.Watch(s.objective.ID)
				_, seq, err := j.Peek(t.Context(), tenant, s.objective.ID)
				if err != nil || seq != s.n {
					t.Fatalf("round %d: seq %d, %v, want %d", n, seq, err, s.n)
				}
				s.record(s.rootMoved(opt.TaskWorking))
				for seq < s.n {
					awaitSignal(t, w)
					if _, seq, err = j.Peek(t.Context(), tenant, s.objective.ID); err != nil {
						t.Fatal(err)
					}
				}
				w.Close()
			}
		}
	})
}

// TestWatch_others checks that only watches of changed objectives are signalled.
// An objective may be watched before it exists.
func TestWatch_others(t *testing.T) {
	inFile(t, func(t *testing.T, open func() *journal.Journal) {
		here, there := open(), open()
		mine, theirs := newObjective(), newObjective()
		mineHere, mineThere := here.Watch(mine.ID), there.Watch(mine.ID)
		awaitSignal(t, mineHere) // once for commits before the journal began to poll
		awaitSignal(t, mineThere)
		theirsHere, theirsThere := here.Watch(theirs.ID), there.Watch(theirs.ID)
		begin(t, here, mine)
		awaitSignal(t, mineHere)
		awaitSignal(t, mineThere)
		s := begin(t, there, theirs)
		awaitSignal(t, theirsThere)
		awaitSignal(t, theirsHere)
		for i, w := range []*journal.Watch{mineHere, mineThere, theirsHere, theirsThere} {
			select {
			case <-w.C():
				t.Errorf("watch %d was signalled without a reason", i)
			default:
			}
		}
		theirsThere.Close()
		theirsThere.Close()
		s.record(s.rootMoved(opt.TaskWorking), s.rootMoved(opt.TaskCompleted))
		awaitSignal(t, theirsHere)
		select {
		case <-theirsThere.C():
			t.Error("a closed watch was signalled")
		default:
		}
	})
}

// A look at what others have changed reads the new events alone, however many there are before.
func TestWatch_readsNewEvents(t *testing.T) {
	inFile(t, func(t *testing.T, open func() *journal.Journal) { checkPlan(t, open(), db.EventsAfter) })
}

// A commit is noticed also if nothing has rung for it: its process was killed at that moment, or
// is an older program.
func TestWatch_unheard(t *testing.T) {
	t.Parallel()
	path := file(t)
	here := openFile(t, path)
	test.OK(t, os.Remove(path+"-bell")) // the other one rings a new bell
	there := openFile(t, path)
	o := newObjective()
	w := here.Watch(o.ID)
	defer w.Close()
	awaitSignal(t, w) // once for commits before
	begin(t, there, o)
	awaitSignal(t, w)
}

// A process that makes all commits itself does not look for those of others after each.
func TestWatch_alone(t *testing.T) {
	t.Parallel()
	to := newObserved()
	j := openWith(t, journal.Config{Path: file(t), Sync: "normal", Observer: to})
	o := newObjective()
	w := j.Watch(o.ID)
	defer w.Close()
	awaitSignal(t, w) // once for commits before
	began, s := time.Now(), begin(t, j, o)
	for time.Since(began) < 300*time.Millisecond {
		s.record(s.rootMoved(opt.TaskWorking))
		awaitSignal(t, w)
	}
	most := 2 + int(time.Since(began)/time.Second) // the first one too
	if n := len(to.looks); n > most {
		t.Errorf("it has looked %d times for %d events, want at most %d", n, s.n, most)
	}
}

// A process that has its file alone does not look for commits of others at all, until one has made any: a command
// restores objectives beside it. Then it is as quick as others.
func TestWatch_hasFileAlone(t *testing.T) {
	t.Parallel()
	to, path := newObserved(), file(t)
	j := openWith(t, journal.Config{Path: path, Sync: "normal", Alone: true, Observer: to})
	mine, theirs := newObjective(), newObjective()
	w, other := j.Watch(mine.ID), j.Watch(theirs.ID)
	defer w.Close()
	defer other.Close()
	began, s := time.Now(), begin(t, j, mine)
	for awaitSignal(t, w); time.Since(began) < 1200*time.Millisecond; awaitSignal(t, w) {
		s.record(s.rootMoved(opt.TaskWorking))
	}
	select {
	case <-other.C():
		t.Error("a watch was signaled without a reason")
	default:
	}
	if n := len(to.looks); n > 0 {
		t.Errorf("it has looked %d times", n)
	}
	s = begin(t, openFile(t, path), theirs)
	awaitSignal(t, other)
	for began = time.Now(); time.Since(began) < 300*time.Millisecond; awaitSignal(t, other) {
		s.record(s.rootMoved(opt.TaskWorking))
	}
	if n := len(to.looks); n < 3 {
		t.Errorf("it has looked %d times while another process works", n)
	}
}

// Those who wait until the root task rests are not woken by other commits, of this process or, with PostgreSQL, of
// another one; and by each after which it may rest.
func TestWatch_rests(t *testing.T) {
	eachPlace(t, func(t *testing.T, cfg journal.Config) {
		cfg.Alone = true
		here := openWith(t, cfg)
		journals := []*journal.Journal{here}
		if cfg.URL != "" {
			journals = append(journals, openWith(t, cfg))
		}
		o := newObjective()
		var watches []*journal.Watch
		for _, j := range journals {
			if cfg.URL != "" {
				listens(t, j)
			}
			w := j.Watch(o.ID)
			defer w.Close()
			watches = append(watches, w)
		}
		s := begin(t, here, o)
		for _, step := range []struct {
			to    opt.TaskState
			rests bool
		}{{opt.TaskWorking, false}, {opt.TaskInputRequired, true}, {opt.TaskWorking, false}, {opt.TaskCompleted, true}} {
			for _, w := range watches {
				awaitSignal(t, w)
				select {
				case <-w.Rests():
					t.Fatalf("before it is %s, a rest was signaled", step.to)
				default:
				}
			}
			s.record(s.rootMoved(step.to))
			for _, w := range watches {
				if !step.rests {
					continue
				}
				select {
				case <-w.Rests():
				case <-time.After(patience):
					t.Fatalf("that it is %s was not signaled", step.to)
				}
			}
		}
	})
}
