package journal_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/standing"
)

// A standingDecision returns a decision of bob, which may be used twice.
func standingDecision(id string) standing.Decision {
	now := time.Now()
	return standing.Decision{
		ID: id, Gates: "pay/Pay/Approve", Action: opt.Accept, Holds: "object.amount < 50", MadeAt: "task-a-1-1:1", Most: 2, Need: 1,
		CreatedAt: a2a.At(now), ExpiresAt: a2a.At(now.Add(time.Hour)), By: []opt.Vote{{Action: opt.Accept, DecidedBy: "bob"}},
	}
}

func mustAdd(t *testing.T, j *journal.Journal, d standing.Decision) {
	t.Helper()
	if ok, err := j.Standing.AddStanding(t.Context(), "acme", d); err != nil || !ok {
		t.Fatal(ok, err)
	}
}

func question(n int) opt.StandingQuestion {
	return opt.StandingQuestion{Tenant: "acme", ObjectiveID: "obj-a", Gate: opt.Gate{ID: fmt.Sprintf("task-a-1-%d:1", n)}}
}

// mustUse uses a decision and returns the number of the use, 0 if it was not used.
func mustUse(t *testing.T, j *journal.Journal, q opt.StandingQuestion, id string) int {
	t.Helper()
	n, ok, err := j.Standing.UseStanding(t.Context(), q, id)
	test.OK(t, err)
	if !ok {
		return 0
	}
	return n
}

// Of many uses at a time, by several processes, no more count than may. A repeat for the same gate is the
// same use.
func TestStanding_limit(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		places := []*journal.Journal{open(), open()}
		mustAdd(t, places[0], standingDecision("sd-1"))
		var used atomic.Int64
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				n, ok, err := places[i%2].Standing.UseStanding(t.Context(), question(i/2), "sd-1") // each gate twice
				switch {
				case err != nil:
					t.Error(err)
				case ok && (n < 1 || n > 2):
					t.Errorf("use %d", n)
				case ok:
					used.Add(1)
				}
			})
		}
		all.Wait()
		d, err := places[1].Standing.Standing(t.Context(), "acme", "sd-1")
		uses, errUses := places[1].Standing.StandingUses(t.Context(), "acme", "sd-1")
		if err := errors.Join(err, errUses); err != nil || d.Used != 2 || len(uses) != 2 || uses[0].N != 2 || used.Load() > 4 || used.Load() < 2 {
			t.Errorf("%d calls have used it: %d uses, for %+v, %v", used.Load(), d.Used, uses, err)
		}
		test.Is(t, "the decision", standing.UsedUp, d.State(a2a.At(time.Now())))
	})
}

// About gates with one name there are 20 decisions at most that can still count.
func TestStanding_most(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		add := func(id string, change func(*standing.Decision)) bool {
			d := standingDecision(id)
			change(&d)
			ok := test.Value(j.Standing.AddStanding(t.Context(), "acme", d))(t)
			return ok
		}
		same := func(*standing.Decision) {}
		for n := range 20 {
			mustAdd(t, j, standingDecision(fmt.Sprint("sd-", n)))
		}
		if add("sd-20", same) || !add("sd-19", same) || !add("sd-other", func(d *standing.Decision) { d.Gates = "pay/Pay/Check" }) {
			t.Error("one more was added, a repeat was refused, or one about other gates")
		}
		test.Error(t, "one more was kept", opt.ErrUnknown, test.Err(j.Standing.Standing(t.Context(), "acme", "sd-20")))
		test.OK(t, j.Standing.RevokeStanding(t.Context(), "acme", "sd-3", "carol"))
		if !add("sd-20", same) || add("sd-21", same) {
			t.Error("a revoked one does not make room for one other")
		}
	})
}

// A decision counts until it is revoked or has expired, when enough people are behind it, in its tenant.
func TestStanding_counts(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		s := j.Standing
		few, old := standingDecision("sd-few"), standingDecision("sd-old")
		few.Need, old.ExpiresAt = 2, a2a.At(time.Now().Add(-time.Second))
		for _, d := range []standing.Decision{standingDecision("sd-1"), few, old} {
			mustAdd(t, j, d)
			mustAdd(t, j, d) // a repeat changes nothing
		}
		list, err := s.ActiveStanding(t.Context(), "acme", "pay/Pay/Approve")
		if err != nil || len(list) != 1 || list[0].ID != "sd-1" {
			t.Errorf("those that count: %+v, %v", list, err)
		}
		foreign := question(7)
		foreign.Tenant = "other"
		for id, q := range map[string]opt.StandingQuestion{"sd-few": question(8), "sd-old": question(9), "sd-1": foreign} {
			if n := mustUse(t, j, q, id); n != 0 {
				t.Errorf("%s was used", id)
			}
		}
		test.Error(t, "another tenant sees it", opt.ErrUnknown, test.Err(s.Standing(t.Context(), "other", "sd-1")))
		test.Error(t, "another tenant revokes it", opt.ErrUnknown, s.RevokeStanding(t.Context(), "other", "sd-1", "eve"))
		carol := opt.Vote{Action: opt.Accept, DecidedBy: "carol"}
		for i, want := range []bool{true, false} { // a repeat is not seen as another person
			if ok, err := s.BackStanding(t.Context(), "acme", few, carol); ok != want || err != nil {
				t.Errorf("time %d: %v, %v", i+1, ok, err)
			}
		}
		test.Is(t, "with two people behind it: use", 1, mustUse(t, j, question(10), "sd-few"))
		for i, want := range []int{3, 2} { // a purge removes what ended before its time
			test.OK(t, test.Err(j.Purge(t.Context(), time.Now().Add(time.Duration(i-1)*time.Hour), 1)))
			if list, err := s.Standings(t.Context(), "acme"); err != nil || len(list) != want {
				t.Errorf("after purge %d there are %d, %v", i, len(list), err)
			}
		}
	})
}

// After it was revoked a decision is not used, not even for a gate about which it was asked before.
func TestStanding_revoked(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j := open()
		mustAdd(t, j, standingDecision("sd-1"))
		for i, want := range []int{1, 1} {
			test.Is(t, fmt.Sprintf("time %d: use", i+1), want, mustUse(t, j, question(1), "sd-1"))
		}
		test.OK(t, errors.Join(j.Standing.RevokeStanding(t.Context(), "acme", "sd-1", "carol"), j.Standing.RevokeStanding(t.Context(), "acme", "sd-1", "dave")))
		for _, q := range []opt.StandingQuestion{question(1), question(2)} {
			test.Is(t, fmt.Sprintf("%s: use", q.Gate.ID), 0, mustUse(t, j, q, "sd-1"))
		}
		if d, err := j.Standing.Standing(t.Context(), "acme", "sd-1"); err != nil || d.RevokedBy != "carol" || d.Used != 1 {
			t.Errorf("%+v, %v", d, err)
		}
	})
}

// A revocation beside uses: none is counted after it.
func TestStanding_revokedMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j, other := open(), open()
		many := standingDecision("sd-1")
		many.Most = 1000
		mustAdd(t, j, many)
		var revoked atomic.Bool
		var all sync.WaitGroup
		for i := range 30 {
			all.Go(func() {
				if i == 10 {
					test.Error(t, "the call", nil, other.Standing.RevokeStanding(t.Context(), "acme", "sd-1", "carol"))
					revoked.Store(true)
					return
				}
				before := revoked.Load()
				if _, ok, err := j.Standing.UseStanding(t.Context(), question(i), "sd-1"); err != nil || before && ok {
					t.Errorf("used %v after it was revoked, %v", ok, err)
				}
			})
		}
		all.Wait()
	})
}
