// Package worktime counts working time: a [Calendar] has the hours of a week, holidays and the offsets
// of its time zone as data, so that the same count comes out wherever and whenever it is made.
//
// Like package opt, it is pure.
package worktime

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"
)

// A Calendar says when people work. Its JSON is in histories.
type Calendar struct {
	Name     string     `json:"name"`
	Week     []Interval `json:"week"` // in order, from Sunday on
	Holidays []Holiday  `json:"holidays,omitempty"`
	Offsets  []Offset   `json:"offsets"` // of the time zone, in order. The first is also for times before it, the last for all after it
}

// An Interval is a part of a day, in minutes since midnight on the clock of the zone.
type Interval struct {
	Day  int `json:"day"` // of the week; 0 is Sunday
	From int `json:"from"`
	To   int `json:"to"` // not a part of it
}

// A Holiday is one or several days without work, as "2026-12-24". Both ends count.
type Holiday struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// An Offset is how many seconds a zone is ahead of UTC from a time on.
type Offset struct {
	From    int64 `json:"from"` // seconds since 1970 in UTC
	Seconds int   `json:"seconds"`
}

const (
	daySeconds = 24 * 60 * 60

	// MaxParts bounds the intervals, the holidays and the offsets of a calendar, each.
	MaxParts = 400
)

// Check returns why c is no calendar.
func (c *Calendar) Check() error {
	const day = daySeconds / 60
	before := 0
	for _, p := range c.Week {
		if p.Day < 0 || p.Day > 6 || p.From < 0 || p.From >= p.To || p.To > day || p.Day*day+p.From < before {
			return errors.New("the hours of a day must be in order, apart from each other and from 00:00 to 24:00")
		}
		before = p.Day*day + p.To
	}
	switch {
	case len(c.Week) == 0 || len(c.Week) > MaxParts:
		return fmt.Errorf("a calendar has working hours, at most %d times a week", MaxParts)
	case len(c.Offsets) == 0 || len(c.Offsets) > MaxParts:
		return fmt.Errorf("a calendar has 1 to %d offsets of its time zone", MaxParts)
	case len(c.Holidays) > MaxParts:
		return fmt.Errorf("a calendar has at most %d holidays", MaxParts)
	}
	return c.checkDates()
}

// checkDates returns why the holidays or the offsets of c are wrong.
func (c *Calendar) checkDates() error {
	for _, h := range c.Holidays {
		_, err := time.Parse(time.DateOnly, h.From)
		_, err2 := time.Parse(time.DateOnly, h.To)
		if err != nil || err2 != nil || h.From > h.To {
			return fmt.Errorf("the holiday from %q to %q must be a date, or one and a later one, such as 2026-12-24", h.From, h.To)
		}
	}
	for i, o := range c.Offsets {
		if o.Seconds <= -daySeconds || o.Seconds >= daySeconds || i > 0 && o.From <= c.Offsets[i-1].From {
			return errors.New("the offsets of the time zone must be in order and less than a day")
		}
	}
	return nil
}

// After returns the time at which some seconds of work are done that begin at a time, both in
// seconds since 1970. With no seconds it is when work begins. If that takes more than most seconds,
// it returns the time after most. c must be right, see [Calendar.Check].
func (c *Calendar) After(begin, work, most int64) int64 {
	for from, to := range c.periods(begin, begin+most) {
		if work <= to-from {
			return from + work
		}
		work -= to - from
	}
	return begin + most
}

// Between returns how many seconds of work there are between two times, in seconds since 1970. c must be
// right, see [Calendar.Check].
func (c *Calendar) Between(begin, end int64) (work int64) {
	for from, to := range c.periods(begin, end) {
		work += to - from
	}
	return work
}

// periods iterates over the times of work between two times: when each begins, and when it ends.
func (c *Calendar) periods(begin, end int64) iter.Seq2[int64, int64] {
	return func(yield func(from, to int64) bool) {
		for at := begin; at < end; {
			offset, until := c.zone(at)
			day := time.Unix(at+offset, 0).UTC()
			hour, minute, second := day.Clock()
			midnight := at - int64(hour*3600+minute*60+second)
			next := min(midnight+daySeconds, until, end)
			works := !c.isHoliday(day)
			for _, p := range c.Week {
				from, to := max(at, midnight+int64(p.From)*60), min(next, midnight+int64(p.To)*60)
				if works && p.Day == int(day.Weekday()) && from < to && !yield(from, to) {
					return
				}
			}
			at = next
		}
	}
}

// zone returns the offset at a time, and when it ends.
func (c *Calendar) zone(at int64) (offset, until int64) {
	offset, until = int64(c.Offsets[0].Seconds), 1<<62
	for _, o := range c.Offsets[1:] {
		if o.From > at {
			return offset, o.From
		}
		offset = int64(o.Seconds)
	}
	return offset, until
}

// isHoliday reports whether no one works on a day.
func (c *Calendar) isHoliday(day time.Time) bool {
	date := day.Format(time.DateOnly)
	return slices.ContainsFunc(c.Holidays, func(h Holiday) bool { return h.From <= date && date <= h.To })
}
