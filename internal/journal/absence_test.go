package journal_test

import (
	"fmt"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

// absenceOf returns an absence of bob for an hour, with carol as the deputy.
func absenceOf(id string, from time.Time) opt.Absence {
	return opt.Absence{ID: id, Principal: "bob", Groups: []string{"leads"}, Deputy: "carol", MadeBy: "bob", From: a2a.At(from), Until: a2a.At(from.Add(time.Hour))}
}

// A deputy has the seat from the beginning of the absence to its end, in its tenant.
func TestAbsences(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		store, now := open().Absences, time.Now()
		for id, from := range map[string]time.Time{"abs-now": now.Add(-time.Minute), "abs-later": now.Add(time.Minute), "abs-over": now.Add(-time.Hour)} {
			for _, at := range []time.Time{from, now} {
				if ok := test.Value(store.AddAbsence(t.Context(), "acme", absenceOf(id, at)))(t); !ok {
					t.Errorf("%s is one too many", id)
				}
			}
		}
		seats := test.Value(store.Seats(t.Context(), "acme", "carol"))(t)
		if want := absenceOf("abs-now", now).Seat(); len(seats) != 1 || seats[0].AbsenceID != want.AbsenceID || seats[0].Groups[0] != "leads" || seats[0].MadeBy != "" {
			t.Errorf("seats %+v, want %+v", seats, want)
		}
		for tenant, deputy := range map[string]string{"acme": "bob", "other": "carol"} {
			if seats := test.Value(store.Seats(t.Context(), tenant, deputy))(t); len(seats) > 0 {
				t.Errorf("%s in %s has %+v", deputy, tenant, seats)
			}
		}
		test.Error(t, "ended by another tenant", opt.ErrUnknown, store.EndAbsence(t.Context(), "other", "abs-now", "eve"))
		test.OK(t, store.EndAbsence(t.Context(), "acme", "abs-now", "bob"))
		test.OK(t, store.EndAbsence(t.Context(), "acme", "abs-now", "eve"))
		a := test.Value(store.Absence(t.Context(), "acme", "abs-now"))(t)
		if seats := test.Value(store.Seats(t.Context(), "acme", "carol"))(t); len(seats) > 0 || a.EndedBy != "bob" || a.EndedAt.IsZero() {
			t.Errorf("after the end: %+v, %+v", seats, a)
		}
		if list := test.Value(store.Absences(t.Context(), "acme"))(t); len(list) != 3 || list[0].ID != "abs-later" {
			t.Errorf("listed: %+v", list)
		}
	})
}

// A principal has at most 20 absences that have not ended. A purge removes those that ended before its time.
func TestAbsences_most(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		j, now := open(), time.Now()
		add := func(id string, from time.Time) bool {
			return test.Value(j.Absences.AddAbsence(t.Context(), "acme", absenceOf(id, from)))(t)
		}
		add("abs-old", now.Add(-2*time.Hour))
		for i := range 20 {
			if id := fmt.Sprint("abs-", i); !add(id, now) {
				t.Errorf("%s is one too many", id)
			}
		}
		if add("abs-20", now) || !add("abs-3", now) {
			t.Error("the 21st is kept, or a repeat is refused")
		}
		test.Value(j.Purge(t.Context(), now.Add(-time.Minute), 1))(t)
		test.Is(t, "there are", 20, len(test.Value(j.Absences.Absences(t.Context(), "acme"))(t)))
	})
}

// The channel of a deputy gets notices about gates of the absent person, during the absence.
func TestJournal_Record_notifiesDeputies(t *testing.T) {
	t.Parallel()
	carol := outbox.Channel{Name: "carol", Principal: "carol", Tenants: []string{tenant}}
	j := openChannels(t, newClock(), carol, outbox.Channel{Name: "dora", Principal: "dora", Tenants: []string{tenant}})
	s := begin(t, j, newObjective())
	s.record(planAdded(s.objective, 0, 1), s.moved(0, 0, opt.TaskWorking))
	batch := s.batch(s.ladder()...)
	during := absenceOf("abs-1", batch.Events[0].At.Time())
	during.Groups, during.Until = []string{"editors"}, batch.Events[3].At // the end is not in it
	test.Value(j.Absences.AddAbsence(t.Context(), tenant, during))(t)
	test.OK(t, j.Record(t.Context(), batch))
	got := notices(t, j, s.task(0, 0))
	if len(got) == 0 || got[0] != "notice:carol opened g1 due" || len(got) > 2 {
		t.Errorf("notices %q", got)
	}
}
