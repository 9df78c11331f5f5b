package timetable_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/timetable"
)

// nightly is a schedule without mistakes.
func nightly() timetable.Schedule {
	return timetable.Schedule{
		ID: "nightly", Tenant: "acme", Principal: "ann", Text: "Write", Times: timetable.Times{Cron: []string{"0 2 * * mon-fri"}},
		Overlap: timetable.OverlapSkip, CatchUp: timetable.DefaultCatchUp, CreatedAt: a2a.AtMillis(1),
	}
}

func TestSchedule_Check(t *testing.T) {
	at := func(day int) a2a.Time { return a2a.At(time.Date(2026, 3, day, 0, 0, 0, 0, time.UTC)) }
	for name, tc := range map[string]struct {
		change func(s *timetable.Schedule)
		field  string // that is wrong, "" for none
	}{
		"right":                   {func(*timetable.Schedule) {}, ""},
		"an interval":             {func(s *timetable.Schedule) { s.Times = timetable.Times{Every: 1} }, ""},
		"a macro":                 {func(s *timetable.Schedule) { s.Times.Cron = []string{"@daily"} }, ""},
		"with seconds and a year": {func(s *timetable.Schedule) { s.Times.Cron = []string{"*/5 0 2 * * 1-5 2027"} }, ""},
		"of a playbook": {func(s *timetable.Schedule) {
			s.Playbook, s.ID = "tea", timetable.PlaybookScheduleID("tea", "daily")
		}, ""},
		"an id of a playbook":     {func(s *timetable.Schedule) { s.ID = "playbook:tea:daily" }, "id"},
		"an id of no playbook":    {func(s *timetable.Schedule) { s.ID = "playbook::ghost" }, "id"},
		"no id":                   {func(s *timetable.Schedule) { s.ID = "" }, "id"},
		"an id with a slash":      {func(s *timetable.Schedule) { s.ID = "a/b" }, "id"},
		"a blank text":            {func(s *timetable.Schedule) { s.Text = " " }, "text"},
		"a long text":             {func(s *timetable.Schedule) { s.Text = strings.Repeat("x", timetable.MaxScheduleText+1) }, "text"},
		"no times":                {func(s *timetable.Schedule) { s.Times = timetable.Times{} }, "cron"},
		"four fields":             {func(s *timetable.Schedule) { s.Times.Cron = []string{"@daily", "0 2 * *"} }, "cron[1]"},
		"a time zone in the cron": {func(s *timetable.Schedule) { s.Times.Cron = []string{"TZ=UTC 0 2 * * *"} }, "cron[0]"},
		"an interval in the cron": {func(s *timetable.Schedule) { s.Times.Cron = []string{"@every 1h"} }, "cron[0]"},
		"a zone without cron":     {func(s *timetable.Schedule) { s.Times = timetable.Times{Every: 60, TimeZone: "Europe/Berlin"} }, "timeZone"},
		"a negative interval":     {func(s *timetable.Schedule) { s.Times.Every = -1 }, "every"},
		"a negative jitter":       {func(s *timetable.Schedule) { s.Times.Jitter = -1 }, "jitter"},
		"an end before the start": {func(s *timetable.Schedule) { s.Times.From, s.Times.Until = at(2), at(1) }, "until"},
		"a policy that is none":   {func(s *timetable.Schedule) { s.Overlap = "terminate" }, "overlap"},
		"too short a catch-up":    {func(s *timetable.Schedule) { s.CatchUp = 1 }, "catchUp"},
	} {
		s := nightly()
		tc.change(&s)
		err, field := s.Check(), ""
		var wrong *opt.SpecError
		if errors.As(err, &wrong) {
			field = wrong.Field
		}
		if field != tc.field || (err == nil) != (field == "") {
			t.Errorf("%s: %v, want a mistake in %q", name, err, tc.field)
		}
	}
}

// However often a principal has a schedule start something, the schedule does not grow, and none of it is forgotten.
func TestSchedule_AddStart(t *testing.T) {
	s := nightly()
	at := func(n int64) a2a.Time { return a2a.AtMillis(n * 60_000) }
	for n := range int64(100) {
		for _, by := range []string{"ann", "bob", "carol"} {
			s.AddStart(timetable.Start{By: by, From: at(2 * n), Until: at(2 * n)})
		}
	}
	test.Is(t, "starts", 40, len(s.Starts))
	for n, want := range map[int64][]string{0: {"bob", "carol"}, 198: {"bob", "carol"}, 197: nil, 200: nil} {
		test.Equal(t, fmt.Sprint(n), want, s.Starters(at(n).String()))
	}
}

// A time of a schedule has one objective, which no other schedule has, and none that was
// made before under the same id.
func TestSchedule_ObjectiveID(t *testing.T) {
	const at = "2026-03-01T02:00:00Z"
	s := nightly()
	seen := map[string]string{s.ObjectiveID(at): "itself"}
	for name, change := range map[string]func(s *timetable.Schedule) string{
		"another time":      func(*timetable.Schedule) string { return "2026-03-02T02:00:00Z" },
		"another id":        func(s *timetable.Schedule) string { s.ID = "daily"; return at },
		"another tenant":    func(s *timetable.Schedule) string { s.Tenant = "rival"; return at },
		"another principal": func(s *timetable.Schedule) string { s.Principal = "bob"; return at },
		"made again":        func(s *timetable.Schedule) string { s.CreatedAt = a2a.AtMillis(2); return at },
	} {
		other := nightly()
		when := change(&other)
		id := other.ObjectiveID(when)
		if before, twice := seen[id]; twice {
			t.Errorf("%s has the objective of %s", name, before)
		}
		seen[id] = name
	}
	changed := nightly()
	changed.Text, changed.Times = "Read", timetable.Times{Every: 60}
	if changed.ObjectiveID(at) != s.ObjectiveID(at) {
		t.Error("a change of a schedule changes the objectives of times that have passed")
	}
}
