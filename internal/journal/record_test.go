package journal_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
)

// TestRecord_events records each kind of event and reads them back in order.
func TestRecord_events(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		m := userMessage("m-1", "yes <&> \u2028 0.10")
		events := []opt.Event{
			{Kind: opt.ObjectiveMoved, From: "submitted", To: "working"},
			planAdded(s.objective, 0, 1),
			{Kind: opt.PlanMoved, PlanID: s.plan(0), To: "working"},
			s.moved(0, 0, opt.TaskWorking),
			s.piece(0, 0, "a", "text", false),
			{Kind: opt.MessageAdded, PlanID: s.plan(0), TaskID: s.task(0, 0), Message: &m, Principal: "ann", Verdict: opt.Noted},
			{Kind: opt.PlanStopping, PlanID: s.plan(0), Reason: "canceled"},
			{Kind: opt.ObjectiveStopping, Reason: "canceled"},
		}
		s.record(events...)
		got := s.events()
		for i, e := range got {
			test.Is(t, fmt.Sprintf("event %d has seq", i), int64(i+1), e.Seq)
		}
		if len(got) != len(events)+1 || got[0].Event.Kind != opt.ObjectiveOpened {
			t.Fatalf("got %d events, the first %q", len(got), got[0].Event.Kind)
		}
		for i, e := range events {
			test.Equal(t, fmt.Sprintf("event %d", i), e, got[i+1].Event)
		}
		some, err := s.j.Events(t.Context(), s.objective.ID, 3, 2)
		if err != nil || len(some) != 2 || some[0].Seq != 4 || some[1].Seq != 5 {
			t.Errorf("events after 3, at most 2: %v, %v", some, err)
		}
	})
}

// TestRecord_again records events twice: an activity does not know whether it has
// recorded them before.
func TestRecord_again(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		s := begin(t, j, newObjective())
		first := s.batch(planAdded(s.objective, 0, 2), s.moved(0, 0, opt.TaskWorking))
		second := s.batch(s.piece(0, 0, "a", "one", false), s.piece(0, 0, "a", "two", true),
			s.waits(0, 0, gate(s.task(0, 0), opt.Approval, 1)), s.decided(new(opt.Chain), 0, 0, "ann", opt.Accepted))
		overlap := opt.Batch{ObjectiveID: s.objective.ID, Source: s.source, Events: append(first.Events[1:2:2], second.Events...)}
		for _, b := range []opt.Batch{first, first, overlap} {
			test.OK(t, j.Record(t.Context(), b))
		}
		want := dump(t, j)
		test.Is(t, "events", 7, len(s.events()))
		opening := s.as(s.source, j)
		m := userMessage(s.objective.MessageID, "Ship it, please")
		for _, b := range []opt.Batch{overlap, second, first, opening.batch(opt.Opening{Objective: s.objective, Message: &m}.Event())} {
			test.OK(t, j.Record(t.Context(), b))
		}
		test.Equal(t, "recording again changed something", want, dump(t, j))
	})
}

// TestRecord_refused records batches with a wrong event. They must change
// nothing, though the events before it are valid.
func TestRecord_refused(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		s := begin(t, j, newObjective())
		s.record(planAdded(s.objective, 0, 1))
		n := s.n
		good := s.moved(0, 0, opt.TaskWorking)
		m := userMessage("m-1", "hello")
		stranger := newObjective()
		batch := func(events ...opt.Event) opt.Batch {
			s.n = n
			return s.batch(events...)
		}
		gap := batch(good, good)
		gap.Events[1].N++
		late := batch(good)
		late.Events[0].N++
		zero := batch(good)
		zero.Events[0].N = 0
		tests := map[string]struct {
			batch opt.Batch
			want  error
		}{
			"numbers missing before":   {late, journal.ErrGap},
			"numbers missing within":   {gap, journal.ErrGap},
			"number below one":         {zero, opt.ErrMalformed},
			"unknown objective":        {(&scribe{objective: stranger, source: "x"}).batch(good), journal.ErrEarly},
			"unknown plan":             {batch(good, opt.Event{Kind: opt.PlanMoved, PlanID: s.plan(1), To: "working"}), journal.ErrEarly},
			"stopping an unknown plan": {batch(good, opt.Event{Kind: opt.PlanStopping, PlanID: s.plan(1), Reason: "failed"}), journal.ErrEarly},
			"unknown task":             {batch(good, s.moved(0, 1, opt.TaskWorking)), journal.ErrEarly},
			"artifact of unknown task": {batch(good, s.piece(0, 1, "a", "b", false)), journal.ErrEarly},
			"message to unknown task":  {batch(good, opt.Event{Kind: opt.MessageAdded, TaskID: s.task(0, 1), Message: &m}), journal.ErrEarly},
			"never recorded":           {batch(good, opt.Event{Kind: "plan-reported", PlanID: s.plan(0)}), opt.ErrMalformed},
			"another objective":        {batch(good, opt.Event{Kind: opt.ObjectiveOpened, Objective: &stranger}), opt.ErrMalformed},
		}
		want := dump(t, j)
		for name, tt := range tests {
			fails(t, name, tt.want)(j.Record(t.Context(), tt.batch))
			if diff := cmp.Diff(want, dump(t, j)); diff != "" {
				t.Fatalf("%s: something changed (-before +after):\n%s", name, diff)
			}
		}
		test.Error(t, "after all that", nil, j.Record(t.Context(), batch(good)))
		test.Error(t, "nothing to record", nil, j.Record(t.Context(), opt.Batch{}))
	})
}

// TestRecord_manySources has sources of one objective record at a time, in two
// processes. Readers rely on the seq having no gap and no repeat.
func TestRecord_manySources(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		journals := []*journal.Journal{open(), open()}
		s := begin(t, journals[0], newObjective())
		s.record(planAdded(s.objective, 0, 1))
		const sources, each = 8, 50
		var wg sync.WaitGroup
		for i := range sources {
			source := s.as(fmt.Sprint("source-", i), journals[i%2])
			wg.Go(func() {
				for n := range each {
					e := s.moved(0, 0, opt.TaskWorking)
					e.Reason = fmt.Sprintf("%d of %s", n, source.source)
					if err := source.j.Record(t.Context(), source.batch(e)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		events := s.events()
		if len(events) != sources*each+2 {
			t.Fatalf("%d events, want %d", len(events), sources*each+2)
		}
		next := map[string]int{}
		for i, e := range events {
			if e.Seq != int64(i+1) {
				t.Fatalf("event %d has seq %d", i, e.Seq)
			}
			if n, source, ok := strings.Cut(e.Event.Reason, " of "); ok {
				if n != fmt.Sprint(next[source]) {
					t.Errorf("seq %d is number %s of %s, want %d", e.Seq, n, source, next[source])
				}
				next[source]++
			}
		}
		if _, seq, err := journals[1].Peek(t.Context(), tenant, s.objective.ID); err != nil || seq != int64(len(events)) {
			t.Errorf("peek: seq %d, %v, want %d", seq, err, len(events))
		}
	})
}

// TestRecord_groups commits good batches and bad ones in one transaction: the bad
// ones change nothing and do not affect the good ones.
func TestRecord_groups(t *testing.T) {
	inFile(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		const count = 30
		scribes := make([]*scribe, count)
		for i := range scribes {
			scribes[i] = begin(t, j, newObjective())
			scribes[i].record(planAdded(scribes[i].objective, 0, 1))
		}
		release := j.Hold(t.Context())
		var wg sync.WaitGroup
		errs := make([]error, count)
		for i, s := range scribes {
			b := s.batch(s.moved(0, 0, opt.TaskWorking), s.moved(0, i%3, opt.TaskCompleted)) // only the first of three is there
			wg.Go(func() { errs[i] = j.Record(t.Context(), b) })
		}
		for j.Queued() < count {
			runtime.Gosched()
		}
		test.OK(t, release())
		wg.Wait()
		for i, s := range scribes {
			want, wantErr := opt.TaskCompleted, error(nil)
			if i%3 > 0 {
				want, wantErr = opt.TaskPending, journal.ErrEarly
			}
			state, seq, err := j.Peek(t.Context(), tenant, s.task(0, 0))
			if err != nil || state != want || int(seq) != len(s.events()) || !errors.Is(errs[i], wantErr) {
				t.Errorf("batch %d: %v, then %s at seq %d of %d, %v; want %v, %s", i, errs[i], state, seq, len(s.events()), err, wantErr, want)
			}
		}
	})
}

// TestRecord_broken breaks the transaction of a group. All callers in the group
// get an error and may try again.
func TestRecord_broken(t *testing.T) {
	inFile(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		s := begin(t, j, newObjective())
		before := dump(t, j)
		release := j.Hold(t.Context())
		errs := make(chan error)
		b := s.batch(opt.Event{Kind: opt.ObjectiveMoved, To: "working"})
		for i, do := range []func() error{
			func() error { return j.Record(t.Context(), b) },
			func() error { return j.Record(t.Context(), s.as("other", j).batch(s.rootMoved(opt.TaskWorking))) },
			func() error { return j.Script(t.Context(), "ROLLBACK") }, // behind the writer's back
		} {
			go func() { errs <- do() }()
			for j.Queued() <= i {
				runtime.Gosched()
			}
		}
		for _, err := range []error{release(), <-errs, <-errs, <-errs} {
			test.Error(t, "signaled", opt.ErrUnavailable, err)
		}
		test.Equal(t, "something changed", before, dump(t, j))
		if err := j.Record(t.Context(), b); err != nil || len(s.events()) != 2 {
			t.Errorf("another time: %v, %d events, want 2", err, len(s.events()))
		}
	})
}

// TestRecord_canceled checks the result for a caller that is canceled before or
// after its write begins.
func TestRecord_canceled(t *testing.T) {
	inFile(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		s := begin(t, j, newObjective())
		before := dump(t, j)
		release := j.Hold(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		b := s.batch(opt.Event{Kind: opt.ObjectiveMoved, To: "working"})
		go func() { failed <- j.Record(ctx, b) }()
		for j.Queued() < 1 {
			runtime.Gosched()
		}
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) { // though the writer is held
			t.Errorf("canceled while it waited: %v", err)
		}
		test.OK(t, release())
		test.Equal(t, "a canceled batch was recorded", before, dump(t, j))
		test.Error(t, "the call", nil, j.Record(t.Context(), b))
		fails(t, "canceled before", context.Canceled)(j.Record(ctx, b))

		ctx, cancel = context.WithCancel(t.Context())
		release = j.Hold(ctx)
		cancel()
		if err := release(); err != nil {
			t.Errorf("canceled after it began: %v, want the outcome", err)
		}
	})
}
