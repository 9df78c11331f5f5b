package journal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/access"
)

// used returns what a tenant uses of the quotas that the journal counts.
func used(t *testing.T, j *journal.Journal, tenant string) (out [3]int64) {
	t.Helper()
	for i, q := range []access.Quota{access.OpenObjectives, access.OpenGates, access.StoredBytes} {
		var err error
		if out[i], err = j.Usage(t.Context(), tenant, "", q); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// What a tenant uses is its own: open objectives, gates that wait, and the blocks of events and
// large contents, which the purge gives back.
func TestJournal_Usage(t *testing.T) {
	const block = 16 << 10
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		other := newObjective()
		other.Tenant = "globex"
		begin(t, j, other)
		o := newObjective()
		test.OK(t, j.WriteBlobs(t.Context(), o.ID, map[string][]byte{"early": make([]byte, 3*block)})) // before there is an objective
		s := begin(t, j, o)
		check := func(when string, want [3]int64) {
			t.Helper()
			test.Equal(t, when+": objectives, gates and bytes", want, used(t, j, tenant))
			if wrong, err := j.Maintenance.Miscounts(t.Context()); err != nil || len(wrong) > 0 {
				t.Errorf("%s: wrong tallies %+v, %v", when, wrong, err)
			}
		}
		check("begun", [3]int64{1, 0, 4 * block})
		s.record(planAdded(o, 0, 2))
		asks := s.moved(0, 0, opt.TaskInputRequired)
		asks.Gate = &opt.Gate{ID: "gate-1", Kind: opt.Approval, TaskID: asks.TaskID}
		s.record(asks)
		check("asks", [3]int64{1, 1, 4 * block})
		for range 2 { // a repeat adds nothing
			test.OK(t, j.WriteBlobs(t.Context(), o.ID, map[string][]byte{"late": make([]byte, 2*block)}))
		}
		check("has a large content", [3]int64{1, 1, 6 * block})
		s.record(s.piece(0, 1, "a", strings.Repeat("x", block), false))
		check("has a long event", [3]int64{1, 1, 7 * block})
		s.record(s.moved(0, 0, opt.TaskCompleted), opt.Event{Kind: opt.ObjectiveMoved, To: "completed"})
		check("has ended", [3]int64{0, 0, 7 * block})
		if n, err := j.Purge(t.Context(), time.Now(), 10); n != 1 || err != nil {
			t.Fatalf("purged %d, %v", n, err)
		}
		check("is purged", [3]int64{})
		test.Equal(t, "the other tenant", [3]int64{1, 0, block}, used(t, j, "globex"))
		fails(t, "running tasks", opt.ErrMalformed)(j.Usage(t.Context(), tenant, "", access.RunningTasks))
	})
}

// What work has used counts in its period, for its tenant and its context.
func TestJournal_Usage_spent(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j, o := open(), newObjective()
		s := begin(t, j, o)
		for i, at := range []time.Time{time.Now(), time.Now().Add(-62 * 24 * time.Hour)} {
			u := opt.Usage{Input: 3, Cached: 1, Output: 2, Cost: 7, Questions: 1, Calls: 2, Ran: 60}
			test.OK(t, j.Record(t.Context(), opt.Batch{ObjectiveID: o.ID, Source: fmt.Sprint("s", i), Events: []opt.Event{{N: 1, Kind: opt.UsageAdded, At: a2a.At(at), Usage: &u}}}))
		}
		for _, tt := range []struct {
			tenant, context string
			quota           access.Quota
			want            int64
		}{
			{tenant, "", "tokens-per-day", 5}, {tenant, "", "cost-in-all", 14}, {tenant, "", "calls-per-month", 2}, {tenant, "other", "questions-in-all", 2},
			{tenant, s.view(o.RootID()).Task.ContextID, "context-tokens-in-all", 10}, {tenant, "other", "context-tokens-in-all", 0}, {"globex", "", "tokens-in-all", 0}, {tenant, "", "time-per-month", 60}, {tenant, "", "time-in-all", 120},
		} {
			if got, err := j.Usage(t.Context(), tt.tenant, tt.context, tt.quota); got != tt.want || err != nil {
				t.Errorf("%+v: %d, %v", tt, got, err)
			}
		}
	})
}

// The use of long ago is added up once in a while, and not before each step; that since then counts at once.
func TestJournal_Usage_settled(t *testing.T) {
	eachPlace(t, func(t *testing.T, cfg journal.Config) {
		now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
		cfg.Now = func() time.Time { return now }
		j, o := openWith(t, cfg), newObjective()
		begin(t, j, o)
		n := 0
		uses := func(at time.Time) {
			t.Helper()
			n++
			test.OK(t, j.Record(t.Context(), opt.Batch{ObjectiveID: o.ID, Source: fmt.Sprint("s", n), Events: []opt.Event{
				{N: 1, Kind: opt.UsageAdded, At: a2a.At(at), Usage: &opt.Usage{Calls: 1, Ran: 1}},
			}}))
		}
		check := func(what string, q access.Quota, want int64) {
			t.Helper()
			if got, err := j.Usage(t.Context(), tenant, o.ContextID, q); got != want || err != nil {
				t.Errorf("%s: %s is %d, %v, want %d", what, q, got, err, want)
			}
		}
		quotas := []access.Quota{"calls-in-all", "calls-per-month", "calls-per-day", "context-calls-in-all", "context-calls-per-day", "time-in-all", "context-time-per-day"}
		for hours := range 6 {
			uses(now.Add(-time.Duration(hours) * time.Hour))
		}
		for _, q := range quotas {
			check("begun", q, 6)
		}
		uses(now)
		uses(now.Add(-3 * time.Hour)) // is late: of the time that is added up
		for _, q := range quotas {
			check("soon", q, 7)
		}
		now = now.Add(time.Hour)
		uses(now)
		for _, q := range quotas {
			check("later", q, 9)
		}
		now = now.AddDate(0, 1, 0)
		check("next month", "calls-per-month", 0)
		check("next month", "calls-in-all", 9)
		now = time.Date(2026, 6, 30, 23, 59, 59, 999_000_000, time.UTC)
		uses(now)
		check("before midnight", "calls-per-day", 1)
		check("before midnight", "context-calls-per-month", 1)
		now = now.Add(time.Millisecond)
		check("at midnight", "calls-per-day", 0)
		check("at the end of the month", "context-calls-per-month", 0)
		uses(now.Add(-time.Millisecond)) // is late: it began before
		uses(now)
		check("after midnight", "calls-per-day", 1)
		check("after the end of the month", "context-calls-per-month", 1)
	})
}

// An encrypted journal counts what it stores, for events as for large contents.
func TestJournal_Usage_sealed(t *testing.T) {
	const block = 16 << 10
	eachPlace(t, func(t *testing.T, cfg journal.Config) {
		j := openWith(t, sealing(t, cfg, true, 1))
		o := newObjective()
		s := begin(t, j, o)
		s.record(planAdded(o, 0, 1))
		s.record(s.piece(0, 0, "a", strings.Repeat("x", 12*block), false)) // 4 bytes for 3
		if got := used(t, j, tenant)[2]; got != 17*block {
			t.Errorf("%d blocks are counted, want 17", got/block)
		}
	})
}

// Contexts that callers name push no sums of others out.
func TestJournal_Usage_named(t *testing.T) {
	j, o := openFile(t, ""), newObjective()
	begin(t, j, o)
	n := 0
	check := func(what string, want int64) {
		t.Helper()
		n++
		late := opt.Event{N: 1, Kind: opt.UsageAdded, At: a2a.At(time.Now().Add(-time.Hour)), Usage: &opt.Usage{Calls: 1}}
		test.OK(t, j.Record(t.Context(), opt.Batch{ObjectiveID: o.ID, Source: fmt.Sprint("s", n), Events: []opt.Event{late}}))
		if got, err := j.Usage(t.Context(), tenant, o.ContextID, "context-calls-in-all"); got != want || err != nil {
			t.Errorf("%s: %d, %v, want %d", what, got, err, want)
		}
	}
	check("added up", 1)
	check("not again", 1)
	for i := range 10_000 {
		if got, err := j.Usage(t.Context(), tenant, fmt.Sprint("named-", i), "context-calls-in-all"); got != 0 || err != nil {
			t.Fatal(got, err)
		}
	}
	check("after others", 1)
}

// A tenant has as many notices in an hour as its limit says, also if several processes send
// them. A repeat takes no other place, and an hour later the place is free.
func TestJournal_TakeNotice(t *testing.T) {
	eachPlace(t, func(t *testing.T, cfg journal.Config) {
		now := at(0).Time()
		cfg.Now = func() time.Time { return now }
		j := openWith(t, cfg)
		take := func(tenant, delivery string) string {
			free, ok, err := j.TakeNotice(t.Context(), tenant, delivery, 2)
			test.OK(t, err)
			if ok {
				return delivery
			}
			return fmt.Sprint("waits ", free.Time().Sub(now))
		}
		var got []string
		got = append(got, take(tenant, "a"))
		now = now.Add(10 * time.Minute)
		got = append(got, take(tenant, "b"), take(tenant, "a"), take(tenant, "c"), take("globex", "c"))
		now = now.Add(50 * time.Minute)
		got = append(got, take(tenant, "c"), take(tenant, "d"))
		want := []string{"a", "b", "a", "waits 50m0s", "c", "c", "waits 10m0s"}
		test.Equal(t, "places", want, got)
	})
}

// A task that a quota holds back counts until it says that it works; other texts about work leave reasons alone.
func TestJournal_held(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j, o := open(), newObjective()
		s := begin(t, j, o)
		s.record(planAdded(o, 0, 2))
		moved := s.moved(0, 0, opt.TaskWorking)
		moved.Reason, moved.Status = opt.HeldByQuota, a2a.AgentMessage(o.ContextID, moved.TaskID, ":progress-1", "Waits.")
		s.record(moved)
		check := func(when string, want int64, said string) {
			t.Helper()
			d, err := j.Depth(t.Context(), time.Now())
			v, wrong := j.Overview(t.Context(), tenant, at(0), at(1))
			held := int64(0)
			if len(v.Held) > 0 && v.Held[0].Of == o.ContextID {
				held = int64(v.Held[0].N)
			}
			if err != nil || wrong != nil || d.Held != want || held != want {
				t.Errorf("%s: %d are held, and %+v, %v, %v", when, d.Held, v.Held, err, wrong)
			}
			test.Equal(t, when, said, s.view(moved.TaskID).Task.Status.Message.Text())
		}
		check("held", 1, "Waits.")
		works := opt.Event{
			N: 1, Kind: opt.TaskProgressed, At: at(2), PlanID: moved.PlanID, TaskID: moved.TaskID, From: moved.To, To: moved.To, Round: 1, Attempt: 1, Try: 1,
			Status: a2a.AgentMessage(o.ContextID, moved.TaskID, ":progress-2", "Works."),
		}
		test.OK(t, j.Record(t.Context(), opt.Batch{ObjectiveID: o.ID, Source: moved.TaskID + "#1.1.1", Events: []opt.Event{works}}))
		check("works", 0, "Works.")
	})
}
