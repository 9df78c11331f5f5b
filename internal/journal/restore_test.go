package journal_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
)

// Events that were restored show the same as those that were recorded, under higher
// numbers.
func TestRestore(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s, _, _ := ledger(t, open())
		lost := openFile(t, "")
		var batches []opt.Batch
		for _, e := range s.events() {
			batches = append(batches, opt.Batch{ObjectiveID: s.objective.ID, Source: s.objective.ID, Events: []opt.Event{e.Event}})
		}
		const after = 1 << 40
		added, err := lost.Maintenance.Restore(t.Context(), after, batches...)
		if err != nil || added != len(batches) {
			t.Fatalf("restored %d of %d events, error %v", added, len(batches), err)
		}
		want := test.Value(s.j.Objective(t.Context(), tenant, s.objective.ID))(t)
		got := test.Value(lost.Objective(t.Context(), tenant, s.objective.ID))(t)
		test.Equal(t, "objective", want, got)
		events := test.Value(lost.Events(t.Context(), s.objective.ID, 0, 0))(t)
		for i, e := range events {
			want := int64(1)
			if i > 0 {
				want = after + int64(i)
			}
			test.Is(t, fmt.Sprintf("event %d has seq", i), want, e.Seq)
		}
		if added, err := lost.Maintenance.Restore(t.Context(), 2*after, batches...); added != 0 || err != nil {
			t.Errorf("restored again: %d events, error %v; want none", added, err)
		}
		test.Equal(t, "restored again", want, test.Value(lost.Objective(t.Context(), tenant, s.objective.ID))(t))
	})
}

func TestCompare(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		s.record(planAdded(s.objective, 0, 1))
		known := s.events()
		batch := func(source string, events ...opt.Event) opt.Batch {
			return opt.Batch{ObjectiveID: s.objective.ID, Source: source, Events: events}
		}
		own := s.objective.ID
		other := known[1].Event
		other.Reason = "changed"
		later := s.rootMoved(opt.TaskWorking)
		later.N = 9
		for _, tt := range []struct {
			name    string
			batches []opt.Batch
			want    journal.Difference
		}{
			{"the same", []opt.Batch{batch(own, known[0].Event, known[1].Event)}, journal.Difference{Known: []string{own}}},
			{"changed", []opt.Batch{batch(own, known[0].Event, other)}, journal.Difference{Known: []string{own}, Changed: []string{fmt.Sprintf("event 2 of %s, plan-added", own)}}},
			{"more", []opt.Batch{s.batch(s.rootMoved(opt.TaskWorking))}, journal.Difference{Known: []string{own}, Missing: 1}},
			{"a gap", []opt.Batch{batch(own, later)}, journal.Difference{Known: []string{own}, Missing: 1, Gaps: []string{own}}},
			{"another source", []opt.Batch{batch("other", known[0].Event)}, journal.Difference{Missing: 1}},
		} {
			got, err := s.j.Maintenance.Compare(t.Context(), tt.batches...)
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			got.Last = nil
			test.Equal(t, tt.name, tt.want, got)
		}
	})
}

// What a workflow was about to record when it was reset is not missing, and is not restored.
func TestCompare_reset(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		s.record(planAdded(s.objective, 0, 1))
		late := s.batch(s.rootMoved(opt.TaskWorking))
		o := s.objective
		o.Root = opt.TaskSubmitted
		back := s.as(s.objective.ID+"@2", s.j)
		back.record(opt.Event{Kind: opt.SourceRewound, Epoch: 2, Objective: &o, Head: o.Head(), Text: o.Text()})
		got := test.Value(s.j.Maintenance.Compare(t.Context(), late))(t)
		got.Last = nil
		test.Equal(t, "the difference", journal.Difference{Known: []string{s.objective.ID}}, got)
		added := test.Value(s.j.Maintenance.Restore(t.Context(), 0, late))(t)
		test.Is(t, "restored events", 0, added)
	})
}

// At rest the caches of connections are empty, and are filled again by later reads.
func TestRest(t *testing.T) {
	j := test.Value(journal.Open(t.Context(), configAt(filepath.Join(t.TempDir(), "journal.db"))))(t)
	t.Cleanup(func() { _ = j.Close() })
	s := begin(t, j, newObjective())
	for i := range 20 {
		test.OK(t, j.WriteBlobs(t.Context(), s.objective.ID, map[string][]byte{fmt.Sprint(i): make([]byte, 64<<10)}))
	}
	before := test.Value(j.CacheBytes(t.Context()))(t)
	test.OK(t, j.Maintenance.Rest(t.Context()))
	after := test.Value(j.CacheBytes(t.Context()))(t)
	if before < 1<<20 || after > before/4 {
		t.Errorf("%d bytes before, %d after", before, after)
	}
	test.Value(j.Objective(t.Context(), tenant, s.objective.ID))(t)
}

// Compacting gives space back, while others have the journal open, and loses nothing.
func TestCompact(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j, other := open(), open()
		s := begin(t, j, newObjective())
		for i := range 200 {
			test.OK(t, j.WriteBlobs(t.Context(), s.objective.ID, map[string][]byte{fmt.Sprint(i): make([]byte, 64<<10)}))
		}
		kept := begin(t, j, newObjective())
		s.record(s.rootMoved(opt.TaskWorking))
		end := s.rootMoved(opt.TaskCompleted)
		s.record(end, opt.Event{Kind: opt.ObjectiveMoved, To: "completed"})
		purge(t, j, 1<<40, 1)
		before := test.Value(j.Maintenance.Size(t.Context()))(t)
		test.OK(t, j.Maintenance.Compact(t.Context()))
		after, err := other.Maintenance.Size(t.Context()) // statements of j would be prepared again
		if err != nil || before.Free > 0 && after.Bytes > before.Bytes-10<<20 {
			t.Errorf("%+v before, %+v after, error %v; want 10 MiB less", before, after, err)
		}
		watch := other.Watch(kept.objective.ID)
		defer watch.Close()
		kept = kept.as("another source", open()) // likewise
		kept.record(planAdded(kept.objective, 0, 1))
		<-watch.C()
		test.Error(t, "the call", nil, test.Err(other.Objective(t.Context(), tenant, kept.objective.ID)))
		if found, err := other.Maintenance.Damage(t.Context()); err != nil || len(found) > 0 {
			t.Errorf("damage %v, error %v", found, err)
		}
	})
}
