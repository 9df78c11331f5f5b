package planner_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/planner"
	"longhaul/internal/test"
	"longhaul/opt"
)

const calendars = `
calendars:
  office:
    time-zone: Europe/Berlin
    hours: {mon-thu: [09:00-12:00, 13:00-17:00], fri: [09:00-14:00]}
    holidays: {2026-12-25: Christmas Day, 2026-12-28..2026-12-31: closed}
    default: true
  night:
    time-zone: America/New_York
    hours: {sat-mon: [22:00-24:00]}
    groups: [guards]
`

// calendarsIn reads calendars that begin in 2026.
func calendarsIn(t *testing.T, text string) (planner.Calendars, error) {
	t.Helper()
	path := test.File(t, "calendars.yaml", text)
	c, err := planner.LoadCalendars(path, time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC))
	return c, err
}

// gateOf returns the gate of a playbook whose question waits, and the mistakes in that.
func gateOf(t *testing.T, c planner.Calendars, human string) (*opt.Gate, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "book.yaml")
	text := "name: a\ndefault: true\nplans:\n- name: p\n  tasks:\n  - name: Ask\n    human:\n      approve: Pay?\n      " + human
	test.OK(t, os.WriteFile(path, []byte(text), 0o600))
	books, err := planner.LoadFiles(c, path)
	if err != nil {
		return nil, err
	}
	made := test.Value(books.Plan(context.Background(), activities.Request{Message: &a2a.Message{Parts: []a2a.Part{a2a.TextPart("go")}}}))(t)
	return made.Plans[0].Tasks[0].Ask, nil
}

// A gate opens with the times of its steps, by the calendar of its responders.
func TestCalendars(t *testing.T) {
	c := test.Value(calendarsIn(t, calendars))(t)
	for _, tt := range []struct{ opened, human, want string }{
		{"2026-11-27T11:00:00Z", `wait: [{after: 4 working hours, do: remind}, {after: 90 working minutes, do: expire}]`, "error: book.yaml:9: must be later than the step before"},
		{"2026-11-27T11:00:00Z", `wait: [{after: 4 working hours, do: remind}, {after: 11 working hours, do: expire}]`, "2026-11-30T10:00:00Z 2026-12-01T10:00:00Z"},
		{"2026-12-24T16:00:00Z", `wait: [{after: 1 working hour, do: remind}]`, "2027-01-01T09:00:00Z"},
		{"2026-03-27T12:30:00Z", `wait: [{after: 1 working hour, do: remind}]`, "2026-03-30T07:30:00Z"},
		{"2031-06-30T06:00:00Z", `wait: [{after: 1 working hour, do: remind}]`, "2031-06-30T08:00:00Z"},
		{"2033-07-01T06:00:00Z", `wait: [{after: 1 working hour, do: remind}]`, "2033-07-01T09:00:00Z"}, // the clocks are known for five years
		{"2026-11-25T11:00:00Z", "responders: {groups: [buyers, guards]}\n      wait: [{after: 30 working minutes, do: remind}]", "2026-11-29T03:30:00Z"},
		{"2026-11-27T15:00:00Z", `wait: [{after: 1 working hour, do: remind}, {after: 2h, do: remind}, {after: 7d, do: expire}]`, "2026-11-30T09:00:00Z 2026-11-30T09:00:01Z 2026-12-04T15:00:00Z"},
		{"2026-11-27T11:00:00Z", `wait: [{after: 8784 working hours, do: remind}]`, "2027-11-28T11:00:00Z"},

		{"2026-11-25T11:00:00Z", "calendar: night\n      wait: [{after: 30 working minutes, do: remind}]", "2026-11-29T03:30:00Z"},
		{"2026-11-25T11:00:00Z", "calendar: night\n      wait: [{after: 1 working hour, calendar: office, do: remind}, {after: 2 working hours, do: remind}]", "2026-11-25T13:00:00Z 2026-11-29T04:00:00Z"},
		{"2026-11-25T11:00:00Z", "responders: {principals: [ann]}\n      wait: [{after: 4h, do: escalate, to: {groups: [guards]}}, {after: 4 working hours, do: remind}]", "2026-11-25T15:00:00Z 2026-11-29T04:00:00Z"},
		// The clocks change in Berlin while New York is asked, then in New York.
		{"2026-03-27T12:30:00Z", "wait: [{after: 30 working minutes, do: reassign, to: {groups: [guards]}}, {after: 90 working minutes, do: reassign, to: {groups: [buyers]}}, {after: 150 working minutes, do: expire}]",
			"2026-03-27T13:00:00Z 2026-03-29T03:00:00Z 2026-03-30T08:00:00Z"},
		{"2026-10-30T11:30:00Z", "wait: [{after: 1 working hour, do: reassign, to: {groups: [guards]}}, {after: 4 working hours, do: expire}]", "2026-10-30T12:30:00Z 2026-11-02T04:00:00Z"},
	} {
		got := ""
		g, err := gateOf(t, c, tt.human)
		if err != nil {
			got = "error: " + err.Error()[strings.Index(err.Error(), "book.yaml"):]
		} else {
			at := test.Value(time.Parse(time.RFC3339, tt.opened))(t)
			opened := g.Clocked(a2a.At(at), true)
			opened = opened.Opened(a2a.At(at), 0)
			var times []string
			for i, s := range opened.Ladder {
				times = append(times, at.Add(time.Duration(s.After)*time.Second).Format(time.RFC3339))
				if opened.Taken = i; s.Works || opened.Calendar != nil || opened.CheckLadder() != nil {
					t.Errorf("%s: opened with %+v: %v", tt.human, s, opened.CheckLadder())
				}
			}
			got = strings.Join(times, " ")
		}
		if got != tt.want {
			t.Errorf("%s at %s:\n got %s\nwant %s", tt.human, tt.opened, got, tt.want)
		}
	}
}

// No working time counts before a step by which those with a calendar are asked.
func TestCalendars_later(t *testing.T) {
	c := test.Value(calendarsIn(t, strings.Replace(calendars, "    default: true\n", "", 1)))(t)
	g := test.Value(gateOf(t, c, "responders: {principals: [ann]}\n      wait: [{after: 1h, do: escalate, to: {groups: [guards]}}, {after: 1 working hour, do: remind}]"))(t)
	night := a2a.At(time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC))
	test.Is(t, "seconds after which an hour of the guards is over", 2*3600, g.Clocked(night, true).Ladder[1].After)
}

func TestLoadCalendars_mistakes(t *testing.T) {
	const zone = "time-zone: UTC, "
	for text, want := range map[string]string{
		"{time-zone: Mars, hours: {mon: [09:00-17:00]}}":                    "calendar a: time-zone: must be a name",
		"{hours: {mon: [09:00-17:00]}}":                                     "calendar a: time-zone: must be a name",
		"{" + zone + "hours: {}}":                                           "calendar a: a calendar has working hours",
		"{" + zone + "hours: {mon: []}}":                                    "calendar a: a calendar has working hours",
		"{" + zone + "hours: {monday: [09:00-17:00]}}":                      "calendar a: hours: monday: must be days such as mon or mon-fri",
		"{" + zone + "hours: {mon: [9-17]}}":                                `calendar a: hours: mon: "9-17" must be hours such as 09:00-17:30`,
		"{" + zone + "hours: {mon: [17:00-09:00]}}":                         "calendar a: the hours of a day must be in order",
		"{" + zone + "hours: {mon-fri: [09:00-17:00], wed: [09:00-12:00]}}": "calendar a: hours: wed: wed has hours already",
		"{" + zone + "hours: {mon: [09:00-17:00]}, holidays: {25 Dec: x}}":  `calendar a: the holiday from "25 Dec" to "25 Dec" must be a date`,
		"{" + zone + "hours: {mon: [09:00-17:00]}, holidays: [2026-12-25]}": ":2: holidays: must be an object",
		"{" + zone + "hours: {mon: [09:00-17:00]}, groups: [x]}\n  b: {" + zone + "hours: {mon: [09:00-17:00]}, groups: [x]}":     "calendar b: the calendar a is also that of the group x",
		"{" + zone + "hours: {mon: [09:00-17:00]}, default: true}\n  b: {" + zone + "hours: {mon: [09:00-17:00]}, default: true}": "calendar b: the calendar a is also the default",
	} {
		test.Fails(t, text, want, test.Err(calendarsIn(t, "calendars:\n  a: "+text)))
	}
	_, err := gateOf(t, planner.Calendars{}, "wait:\n      - {after: 1h, do: remind}\n      - {after: 4 working hours, do: remind}")
	test.Fails(t, "without a calendar", "book.yaml:11: working time needs a calendar", err)
	c, err := calendarsIn(t, calendars)
	test.OK(t, err)
	for human, want := range map[string]string{
		"calendar: offic\n      wait: [{after: 4 working hours, do: remind}]":               `book.yaml:9: there is no calendar "offic" (did you mean office?); known are night, office`,
		"wait:\n      - after: 4 working hours\n        calendar: nigt\n        do: remind": `book.yaml:11: there is no calendar "nigt" (did you mean night?)`,
		"calendar: office\n      wait: [{after: 4h, do: remind}]":                           "book.yaml:8: a calendar is for steps in working time",
		"wait: [{after: 4h, calendar: office, do: remind}]":                                 "book.yaml:9: a calendar is for steps in working time",
	} {
		test.Fails(t, human, want, test.Err(gateOf(t, c, human)))
	}
	_, err = gateOf(t, planner.Calendars{}, "wait: [{after: 4 working weeks, do: remind}]")
	test.Fails(t, "weeks", "after: must be a duration of whole seconds, such as 90m, 4h or 7d, or working time", err)
}
