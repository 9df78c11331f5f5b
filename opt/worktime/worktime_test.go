package worktime_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"longhaul/opt/worktime"
)

const year = 366 * 24 * 60 * 60

// berlin is a calendar with a break at noon; its clocks change on 29 March and 25 October 2026.
func berlin() *worktime.Calendar {
	at := func(text string) int64 { return instant(text).Unix() }
	c := &worktime.Calendar{
		Holidays: []worktime.Holiday{{From: "2026-12-24", To: "2026-12-27"}, {From: "2026-05-01", To: "2026-05-01"}},
		Offsets:  []worktime.Offset{{at("2025-10-26T01:00:00Z"), 3600}, {at("2026-03-29T01:00:00Z"), 7200}, {at("2026-10-25T01:00:00Z"), 3600}},
	}
	for day := time.Monday; day <= time.Friday; day++ {
		c.Week = append(c.Week, worktime.Interval{Day: int(day), From: 9 * 60, To: 12 * 60}, worktime.Interval{Day: int(day), From: 13 * 60, To: 17 * 60})
	}
	return c
}

func instant(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return at
}

func TestCalendar_After(t *testing.T) {
	nights := berlin()
	nights.Week = append([]worktime.Interval{{To: 4 * 60}}, nights.Week...)
	for _, tt := range []struct {
		name     string
		calendar *worktime.Calendar
		begin    string
		work     time.Duration
		want     string
	}{
		{"within the morning", berlin(), "2026-11-25T09:30:00+01:00", time.Hour, "2026-11-25T10:30:00+01:00"},
		{"over noon", berlin(), "2026-11-25T11:00:00+01:00", 2 * time.Hour, "2026-11-25T14:00:00+01:00"},
		{"to the end of the day", berlin(), "2026-11-25T13:00:00+01:00", 4 * time.Hour, "2026-11-25T17:00:00+01:00"},
		{"over a night", berlin(), "2026-11-25T16:00:00+01:00", 90 * time.Minute, "2026-11-26T09:30:00+01:00"},
		{"over a weekend", berlin(), "2026-11-27T16:59:59+01:00", 2 * time.Second, "2026-11-30T09:00:01+01:00"},
		{"from a Sunday on", berlin(), "2026-11-29T20:00:00+01:00", 4 * time.Hour, "2026-11-30T14:00:00+01:00"},
		{"a week", berlin(), "2026-11-25T12:30:00+01:00", 35 * time.Hour, "2026-12-02T12:00:00+01:00"},
		{"nothing, at work", berlin(), "2026-11-25T10:00:00+01:00", 0, "2026-11-25T10:00:00+01:00"},
		{"nothing, at night", berlin(), "2026-11-25T17:00:00+01:00", 0, "2026-11-26T09:00:00+01:00"},
		{"over holidays", berlin(), "2026-12-23T16:30:00+01:00", time.Hour, "2026-12-28T09:30:00+01:00"},
		{"from a holiday on", berlin(), "2026-05-01T10:00:00+02:00", time.Hour, "2026-05-04T10:00:00+02:00"},
		{"over the change to summer", berlin(), "2026-03-27T16:00:00+01:00", 2 * time.Hour, "2026-03-30T10:00:00+02:00"},
		{"over the change to winter", berlin(), "2026-10-23T16:00:00+02:00", 2 * time.Hour, "2026-10-26T10:00:00+01:00"},
		{"in a night of 23 hours", nights, "2026-03-29T00:00:00+01:00", 3 * time.Hour, "2026-03-29T04:00:00+02:00"},
		{"in a night of 25 hours", nights, "2026-10-25T00:00:00+02:00", 5 * time.Hour, "2026-10-25T04:00:00+01:00"},
		{"after the last offset", berlin(), "2027-07-01T12:00:00+01:00", time.Hour, "2027-07-01T14:00:00+01:00"},
		{"more than a year", berlin(), "2026-01-01T00:00:00Z", 2000 * time.Hour, "2027-01-02T00:00:00Z"},
	} {
		got := time.Unix(tt.calendar.After(instant(tt.begin).Unix(), int64(tt.work/time.Second), year), 0)
		if !got.Equal(instant(tt.want)) {
			t.Errorf("%s: %v after %s is %v, want %s", tt.name, tt.work, tt.begin, got.UTC(), tt.want)
		}
	}
}

// minutes counts working time as a person would, one minute after another, by the clock of the zone.
func minutes(c *worktime.Calendar, begin, work int64) int64 {
	at := begin
	for ; ; at += 60 {
		offset := c.Offsets[0].Seconds
		for _, o := range c.Offsets {
			if o.From <= at {
				offset = o.Seconds
			}
		}
		local := time.Unix(at+int64(offset), 0).UTC()
		holiday := false
		for _, h := range c.Holidays {
			date := local.Format(time.DateOnly)
			holiday = holiday || h.From <= date && date <= h.To
		}
		for _, p := range c.Week {
			if m := local.Hour()*60 + local.Minute(); !holiday && p.Day == int(local.Weekday()) && m >= p.From && m < p.To {
				if work -= 60; work == 0 {
					return at + 60
				}
			}
		}
	}
}

func TestCalendar_After_countsMinutes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		c, begin := &worktime.Calendar{}, instant("2026-01-01T00:00:00Z").Unix()+60*r.Int64N(60*24*60)
		for at := begin - 60*r.Int64N(9000); len(c.Offsets) < 4; at += 60 * (1 + r.Int64N(9000)) {
			c.Offsets = append(c.Offsets, worktime.Offset{From: at, Seconds: 900 * (r.IntN(112) - 56)})
		}
		for day := range 7 {
			for from := r.IntN(600); r.IntN(3) > 0 && from < 1440; from += 1 + r.IntN(300) {
				to := min(1440, from+1+r.IntN(400))
				c.Week = append(c.Week, worktime.Interval{Day: day, From: from, To: to})
				from = to
			}
		}
		for range r.IntN(4) {
			from := time.Unix(begin, 0).UTC().AddDate(0, 0, r.IntN(20)-5)
			c.Holidays = append(c.Holidays, worktime.Holiday{From: from.Format(time.DateOnly), To: from.AddDate(0, 0, r.IntN(5)).Format(time.DateOnly)})
		}
		if err := c.Check(); err != nil {
			continue // without hours
		}
		work := 60 * (1 + r.Int64N(600))
		if got, want := c.After(begin, work, 10*year), minutes(c, begin, work); got != want {
			t.Fatalf("calendar %d: %d s after %d is %d, want %d: %+v", n, work, begin, got, want, c)
		}
	}
}

func TestCalendar_Check(t *testing.T) {
	for name, change := range map[string]func(c *worktime.Calendar){
		"":                     func(*worktime.Calendar) {},
		"no hours":             func(c *worktime.Calendar) { c.Week = nil },
		"hours that overlap":   func(c *worktime.Calendar) { c.Week[1].From = 11 * 60 },
		"hours of no time":     func(c *worktime.Calendar) { c.Week[0].To = 9 * 60 },
		"hours after 24:00":    func(c *worktime.Calendar) { c.Week[1].To = 1441 },
		"hours before 00:00":   func(c *worktime.Calendar) { c.Week[0].From = -1 },
		"a day after Saturday": func(c *worktime.Calendar) { c.Week[9].Day = 7 },
		"days out of order":    func(c *worktime.Calendar) { c.Week[1].Day = 0 },
		"no offsets":           func(c *worktime.Calendar) { c.Offsets = nil },
		"offsets out of order": func(c *worktime.Calendar) { c.Offsets[1].From = 0 },
		"offset of a day":      func(c *worktime.Calendar) { c.Offsets[1].Seconds = 86400 },
		"no date":              func(c *worktime.Calendar) { c.Holidays[0].From = "24 Dec" },
		"an end before":        func(c *worktime.Calendar) { c.Holidays[0].To = "2026-12-23" },
		"too many holidays":    func(c *worktime.Calendar) { c.Holidays = make([]worktime.Holiday, worktime.MaxParts+1) },
	} {
		c := berlin()
		change(c)
		if err := c.Check(); (err == nil) != (name == "") {
			t.Errorf("%q: error %v", name, err)
		}
	}
}
