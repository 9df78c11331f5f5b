package journal_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/a2a"
	"longhaul/internal/journal"
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
		for name, test := range map[string]struct {
			batches []opt.Batch
			want    error
		}{
			"the last is early":    {[]opt.Batch{added, started, more, early}, journal.ErrEarly},
			"in the wrong order":   {[]opt.Batch{started, added}, journal.ErrEarly},
			"one is left out":      {[]opt.Batch{added, more}, journal.ErrGap},
			"of two objectives":    {[]opt.Batch{added, other}, opt.ErrMalformed},
			"one without a source": {[]opt.Batch{added, {ObjectiveID: s.objective.ID, Events: started.Events}}, opt.ErrMalformed},
		} {
			if err := j.Record(t.Context(), test.batches...); !errors.Is(err, test.want) {
				t.Errorf("%s: %v, want %v", name, err, test.want)
			}
			if diff := cmp.Diff(before, dump(t, j)); diff != "" {
				t.Fatalf("%s: something changed (-before +after):\n%s", name, diff)
			}
		}
		for range 2 {
			must(t, j.Record(t.Context(), opt.Batch{}, added, started, more))
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
	j := value(journal.Open(t.Context(), journal.Config{Log: zap.New(core)}))(t)
	t.Cleanup(func() { j.Close() })
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
		must(t, j.Record(t.Context(), b))
	}
	before := dump(t, j)
	from := func(b opt.Batch, n int) opt.Batch { b.Events = b.Events[n:]; return b }
	for i, b := range []opt.Batch{batch("other"), batch("one", "two", "other", "four"), from(batch("one", "other"), 1), from(batch("one", "two", "other"), 2)} {
		err := j.Record(t.Context(), b)
		if !errors.Is(err, journal.ErrContradiction) || !errors.Is(err, opt.ErrConflict) || logs.Len() != i+1 {
			t.Errorf("batch %d: %v, %d lines in the log", i, err, logs.Len())
		}
	}
	equal(t, "something changed", before, dump(t, j))
	if err := j.Record(t.Context(), from(batch("one", "two", "three", "four"), 2)); err != nil {
		t.Error(err)
	}
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
			must(t, j.Record(t.Context(), part(max(0, from-3), min(from+size, len(all)))))
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
		equal(t, "something changed", before, dump(t, j))
		kept, err := j.Kept(t.Context(), tenant, s.objective.ID)
		if err != nil || kept.Recorded["long"] != 300 {
			t.Errorf("%d are recorded, %v, want 300", kept.Recorded["long"], err)
		}
	})
}

// The API and the workflow record the same opening. The workflow's was decoded
// and encoded again.
func TestRecord_encodedAgain(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		o := newObjective()
		o.Metadata = a2a.Metadata{"k": []byte(`"<&>"`)}
		s := begin(t, open(), o)
		o.Metadata = a2a.Metadata{"k": []byte(`"\u003c\u0026\u003e"`)}
		m := userMessage(o.MessageID, "Ship it, please")
		o.Digest = m.Digest()
		workflow := s.as(o.ID, s.j)
		workflow.record(opt.Opening{Objective: o, Message: &m}.Event(), opt.Event{Kind: opt.ObjectiveMoved, To: "working"})
		if n := len(s.events()); n != 2 {
			t.Errorf("%d events, want 2", n)
		}
	})
}

// A program that was rolled back knows fewer members of an event than the one that has
// recorded it, and a newer one more. Neither contradicts the other, in any order.
func TestRecord_unknownMembers(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		for _, newerFirst := range []bool{true, false} {
			s := begin(t, open(), newObjective())
			s.record(planAdded(s.objective, 0, 1))
			gate := &opt.Gate{ID: s.task(0, 0) + ":1", Kind: opt.Approval, Title: "Ship?", Description: "All of it."}
			newer := s.moved(0, 0, opt.TaskInputRequired)
			newer.Gate, newer.Status, newer.Step = gate, agentMessage(gate.ID, "Ship?"), opt.StepKind("remind")
			newer.Status.Metadata = a2a.Metadata{"k": []byte("1")}
			older := newer
			older.Gate, older.Status, older.Step = &opt.Gate{ID: gate.ID, Kind: gate.Kind}, agentMessage(gate.ID, "Ship it?"), ""
			first, again := newer, older
			if !newerFirst {
				first, again = older, newer
			}
			b := s.batch(first)
			must(t, s.j.Record(t.Context(), b))
			before := len(s.events())
			again.N, again.At = b.Events[0].N, b.Events[0].At
			if err := s.j.Record(t.Context(), opt.Batch{ObjectiveID: s.objective.ID, Source: s.source, Events: []opt.Event{again}}); err != nil {
				t.Errorf("the newer first %t: repeated with other members: %v", newerFirst, err)
			}
			if n := len(s.events()); n != before {
				t.Errorf("the newer first %t: %d events, want %d", newerFirst, n, before)
			}
		}
	})
}
