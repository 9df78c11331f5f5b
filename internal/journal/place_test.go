package journal_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// inContext returns an objective of a context, which waits there since a time.
func inContext(contextID string, queuedAt a2a.Time) opt.Objective {
	o := newObjective()
	o.ContextID, o.QueuedAt = contextID, queuedAt
	return o
}

func place(o opt.Objective, attempt int, now int64) shown.Place {
	return shown.Place{Tenant: o.Tenant, ContextID: o.ContextID, ObjectiveID: o.ID, Attempt: attempt, At: at(now), Limit: 3}
}

// checkPlace takes a place and compares its time and the objectives before it
// that have begun.
func checkPlace(t *testing.T, j *journal.Journal, p shown.Place, queuedAt int64, behind ...opt.Objective) {
	t.Helper()
	comparePlace(t, j, p, shown.Placed{QueuedAt: since(queuedAt), Behind: idsOf(behind)})
}

// checkStarting is checkPlace for objectives before it that are about to begin.
func checkStarting(t *testing.T, j *journal.Journal, p shown.Place, queuedAt int64, starting ...opt.Objective) {
	t.Helper()
	comparePlace(t, j, p, shown.Placed{QueuedAt: since(queuedAt), Starting: idsOf(starting)})
}

func comparePlace(t *testing.T, j *journal.Journal, p shown.Place, want shown.Placed) {
	t.Helper()
	test.Equal(t, "place", want, test.Value(j.Place(t.Context(), p))(t), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(want, "Waiting"))
}

func since(millis int64) (t a2a.Time) {
	if millis != 0 {
		t = at(millis)
	}
	return t
}

func idsOf(objectives []opt.Objective) (all []string) {
	for _, o := range objectives {
		all = append(all, o.ID)
	}
	return all
}

// passes moves all places back by a time.
func passes(t *testing.T, j *journal.Journal, d time.Duration) {
	t.Helper()
	test.OK(t, j.Script(t.Context(), fmt.Sprintf("UPDATE places SET taken_at = taken_at - %d", d.Milliseconds())))
}

// TestPlace follows a context from its first objective to a full queue and back.
func TestPlace(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		var o []opt.Objective
		for range 6 {
			o = append(o, inContext("ctx", a2a.Time{}))
		}
		checkPlace(t, j, place(o[0], 1, 10), 0)
		checkStarting(t, j, place(o[1], 1, 10), 10, o[0]) // which is about to begin
		checkStarting(t, j, place(o[2], 1, 10), 11, o[0])
		checkStarting(t, j, place(o[1], 1, 12), 10, o[0]) // again
		checkPlace(t, j, place(o[0], 1, 12), 0)
		checkPlace(t, j, place(inContext("else", a2a.Time{}), 1, 12), 0)
		foreign := inContext("ctx", a2a.Time{})
		foreign.Tenant = "globex"
		checkPlace(t, j, place(foreign, 1, 12), 0)

		first := begin(t, j, o[0])
		o[1].QueuedAt = at(10)
		begin(t, j, o[1])
		checkPlace(t, j, place(o[3], 1, 5), 12, o[0]) // the clock is behind
		fails(t, "with a full queue", opt.ErrQueueFull)(j.Place(t.Context(), place(o[4], 1, 20)))
		checkPlace(t, j, place(o[3], 1, 20), 12, o[0]) // it has its place
		first.record(opt.Event{Kind: opt.ObjectiveMoved, To: "working"}, opt.Event{Kind: opt.ObjectiveMoved, To: "blocked"})
		checkPlace(t, j, place(o[0], 1, 30), 0)
		checkPlace(t, j, place(o[1], 1, 30), 10, o[0])
		first.record(opt.Event{Kind: opt.ObjectiveMoved, To: "failed"})
		checkPlace(t, j, place(o[0], 1, 40), 0)  // that attempt has begun long ago
		checkPlace(t, j, place(o[1], 1, 40), 10) // behind none, but not the only one
		passes(t, j, 40*time.Second)
		checkPlace(t, j, place(o[2], 1, 60), 11) // it has waited the whole time
		passes(t, j, 40*time.Second)
		checkPlace(t, j, place(o[0], 2, 120), 120) // behind the one that was asked for again
		passes(t, j, time.Minute)
		checkPlace(t, j, place(o[5], 1, 200), 200) // the third and the fourth never began
	})
}

// The floor of a context has its open objectives that have begun, and those that wait; who enters hears
// how many others are recorded as waiting: a place alone says nothing.
func TestFloors(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		working, ended, waiting, last := inContext("ctx", a2a.Time{}), inContext("ctx", a2a.Time{}), inContext("ctx", at(10)), inContext("ctx", a2a.Time{})
		begin(t, j, working).record(opt.Event{Kind: opt.ObjectiveMoved, To: "working"})
		begin(t, j, ended).record(opt.Event{Kind: opt.ObjectiveMoved, To: "working"}, opt.Event{Kind: opt.ObjectiveMoved, To: "failed"})
		begin(t, j, waiting)
		begun, waits, err := journal.FloorsOf(j).Floor(t.Context(), working.Tenant, "ctx")
		test.OK(t, err)
		test.Equal(t, "begun", []string{opt.RootID(working.ID, 1)}, begun)
		test.Equal(t, "waiting", []string{opt.RootID(waiting.ID, 1)}, waits)
		test.Is(t, "before the next", 1, test.Value(j.Place(t.Context(), place(last, 1, 20)))(t).Waiting)
		test.Is(t, "before one more", 1, test.Value(j.Place(t.Context(), place(inContext("ctx", a2a.Time{}), 1, 30)))(t).Waiting)
		test.Is(t, "beside it", 0, test.Value(j.Place(t.Context(), place(waiting, 1, 40)))(t).Waiting)
	})
}

// All that have begun are on the floor of a context, since any may work.
func TestFloors_many(t *testing.T) {
	inFile(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		for range 1001 {
			begin(t, j, inContext("ctx", a2a.Time{}))
		}
		begun, _, err := journal.FloorsOf(j).Floor(t.Context(), newObjective().Tenant, "ctx")
		test.OK(t, err)
		test.Is(t, "begun", 1001, len(begun))
	})
}

// A place counts for processes whose clocks are minutes ahead or behind, and theirs count for
// others.
func TestPlace_clocks(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		o := []opt.Objective{inContext("ctx", a2a.Time{}), inContext("ctx", a2a.Time{}), inContext("ctx", a2a.Time{})}
		minute := time.Minute.Milliseconds()
		checkPlace(t, j, place(o[0], 1, 10*minute), 0)
		checkStarting(t, j, place(o[1], 1, 15*minute), 15*minute, o[0])
		checkStarting(t, j, place(o[2], 1, 5*minute), 15*minute+1, o[0])
		checkStarting(t, j, place(o[1], 1, 20*minute), 15*minute, o[0])
		checkPlace(t, j, place(o[0], 1, 25*minute), 0)
	})
}

// A place counts for others until the objective shows that it has begun. The row
// alone is not enough: the objective may have waited to be started.
func TestPlace_shown(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		idle, other := inContext("ctx", a2a.Time{}), inContext("ctx", a2a.Time{})
		idle.MessageID = ""
		s := begin(t, j, idle)
		checkPlace(t, j, place(idle, 1, 10), 0)
		checkStarting(t, j, place(other, 1, 20), 20, idle)
		s.record(opt.Event{Kind: opt.ObjectiveMoved, To: "canceled"}, s.rootMoved(opt.TaskCanceled))
		last := inContext("ctx", a2a.Time{})
		checkPlace(t, j, place(last, 1, 30), 30) // behind the other one, which has not come yet
		s.record(opt.Event{Kind: opt.ObjectiveRetried, From: "canceled", To: "submitted", Attempt: 2})
		checkPlace(t, j, place(idle, 1, 40), 0) // overtaken
		checkPlace(t, j, place(idle, 2, 40), 40)
		s.record(opt.Event{Kind: opt.ObjectiveQueued, QueuedAt: at(40)})
		checkPlace(t, j, place(idle, 2, 50_000), 40)
		if v := s.view(opt.RootID(idle.ID, 2)); v.Position != 1 || !v.QueuedAt.Equal(at(40)) {
			t.Errorf("the root task is at position %d since %v", v.Position, v.QueuedAt)
		}
	})
}

// An objective that a client only works on by hand has not begun: it takes a place
// behind one that has, and no objective waits for it.
func TestPlace_byHand(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		byHand, other := inContext("ctx", a2a.Time{}), inContext("ctx", a2a.Time{})
		byHand.MessageID = ""
		s := &scribe{t: t, j: j, objective: byHand, source: byHand.ID, heads: newHeads(byHand)}
		s.record(opt.Opening{Objective: byHand}.Event(), opt.Event{Kind: opt.ObjectiveMoved, To: "working", Reason: opt.ByHand})
		checkPlace(t, j, place(other, 1, 10), 0)
		begin(t, j, other).record(opt.Event{Kind: opt.ObjectiveMoved, To: "working"})
		checkPlace(t, j, place(byHand, 1, 20), 20, other)
	})
}

// TestPlace_together has two processes take places at the same time: one
// objective may begin, and no two have the same time.
func TestPlace_together(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		journals := []*journal.Journal{open(), open()}
		var mu sync.Mutex
		var since []int64
		var wg sync.WaitGroup
		for i := range 20 {
			p := place(inContext("ctx", a2a.Time{}), 1, 100)
			p.Limit = 100
			wg.Go(func() {
				placed, err := journals[i%2].Place(t.Context(), p)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				since = append(since, placed.QueuedAt.Millis())
			})
		}
		wg.Wait()
		slices.Sort(since)
		want := []int64{0}
		for n := range int64(19) {
			want = append(want, at(100).Millis()+n)
		}
		if !slices.Equal(since, want) {
			t.Errorf("they wait since %v", fmt.Sprint(since))
		}
	})
}
