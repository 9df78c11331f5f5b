package journal_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
)

// TestRecord_together records batches of several sources in one transaction: a
// batch may depend on the one before, and either all are recorded or none.
func TestRecord_together(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		s := begin(t, j, newObjective())
		plan := s.as(s.plan(0), j)
		added := s.batch(planAdded(s.objective, 0, 2))
		started := plan.batch(opt.Event{Kind: opt.PlanStarted, PlanID: s.plan(0)}, s.moved(0, 0, opt.TaskWorking))
		more := plan.batch(s.moved(0, 0, opt.TaskCompleted))
		early := plan.batch(s.moved(0, 7, opt.TaskWorking))
		foreign := newObjective()
		other := (&scribe{objective: foreign, source: "x"}).batch(opt.Opening{Objective: foreign}.Event())
		before := dump(t, j)
		for name, tt := range map[string]struct {
			batches []opt.Batch
			want    error
		}{
			"the last is early":    {[]opt.Batch{added, started, more, early}, journal.ErrEarly},
			"in the wrong order":   {[]opt.Batch{started, added}, journal.ErrEarly},
			"one is left out":      {[]opt.Batch{added, more}, journal.ErrGap},
			"of two objectives":    {[]opt.Batch{added, other}, opt.ErrMalformed},
			"one without a source": {[]opt.Batch{added, {ObjectiveID: s.objective.ID, Events: started.Events}}, opt.ErrMalformed},
		} {
			fails(t, name, tt.want)(j.Record(t.Context(), tt.batches...))
			if diff := cmp.Diff(before, dump(t, j)); diff != "" {
				t.Fatalf("%s: something changed (-before +after):\n%s", name, diff)
			}
		}
		for range 2 {
			test.OK(t, j.Record(t.Context(), opt.Batch{}, added, started, more))
			if v := s.view(s.task(0, 0)); v.State != opt.TaskCompleted || v.Seq != 5 || len(s.events()) != 5 {
				t.Errorf("%s at %d of %d events, want completed at 5", v.State, v.Seq, len(s.events()))
			}
		}
	})
}

// TestRecord_contradiction refuses other content under a known number, also of an
// event that came too late to be shown, and says so in the log.
func TestRecord_contradiction(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.ErrorLevel)
	j := openWith(t, journal.Config{Log: zap.New(core)})
	s := begin(t, j, newObjective())
	s.record(planAdded(s.objective, 0, 1), s.moved(0, 0, opt.TaskCompleted))
	piece := func(text string) opt.Event {
		e := s.piece(0, 0, "a", text, true)
		e.Round, e.Attempt, e.At = 1, 1, at(9)
		return e
	}
	batch := func(texts ...string) opt.Batch {
		b := opt.Batch{ObjectiveID: s.objective.ID, Source: "late"}
		for i, text := range texts {
			e := piece(text)
			e.N = int64(i + 1)
			b.Events = append(b.Events, e)
		}
		return b
	}
	for _, b := range []opt.Batch{batch("one", "two"), batch("one", "two", "three"), batch("one")} {
		test.OK(t, j.Record(t.Context(), b))
	}
	before := dump(t, j)
	from := func(b opt.Batch, n int) opt.Batch { b.Events = b.Events[n:]; return b }
	for i, b := range []opt.Batch{batch("other"), batch("one", "two", "other", "four"), from(batch("one", "other"), 1), from(batch("one", "two", "other"), 2)} {
		err := j.Record(t.Context(), b)
		if !errors.Is(err, journal.ErrContradiction) || !errors.Is(err, opt.ErrConflict) || logs.Len() != i+1 {
			t.Errorf("batch %d: %v, %d lines in the log", i, err, logs.Len())
		}
	}
	test.Equal(t, "something changed", before, dump(t, j))
	test.Error(t, "the call", nil, j.Record(t.Context(), from(batch("one", "two", "three", "four"), 2)))
}

// The journal knows each event of a source, however many there are and in batches
// of any size.
func TestRecord_longSource(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		s := begin(t, j, newObjective())
		var all []opt.Event
		for n := int64(1); n <= 300; n++ {
			e := said(s.objective.ID, "", fmt.Sprint("m-", n), opt.Noted)
			e.N, e.At = n, at(n)
			all = append(all, e)
		}
		part := func(from, to int) opt.Batch {
			return opt.Batch{ObjectiveID: s.objective.ID, Source: "long", Events: slices.Clone(all[from:to])}
		}
		for from, size := 0, 1; from < len(all); from, size = min(from+size, len(all)), size*2%97 {
			test.OK(t, j.Record(t.Context(), part(max(0, from-3), min(from+size, len(all)))))
		}
		before := dump(t, j)
		if err := j.Record(t.Context(), part(0, len(all))); err != nil || len(s.events()) != 301 {
			t.Errorf("all of it again: %v, %d events", err, len(s.events()))
		}
		for n := range all {
			b := part(n, n+1)
			b.Events[0].At = at(9999)
			if err := j.Record(t.Context(), b); !errors.Is(err, journal.ErrContradiction) {
				t.Fatalf("event %d with another content: %v", n+1, err)
			}
		}
		test.Equal(t, "something changed", before, dump(t, j))
		kept, err := j.Kept(t.Context(), tenant, s.objective.ID)
		if err != nil || kept.Recorded["long"] != 300 {
			t.Errorf("%d are recorded, %v, want 300", kept.Recorded["long"], err)
		}
	})
}
