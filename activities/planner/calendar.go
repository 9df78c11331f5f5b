package planner

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"longhaul/internal/opfile"
	"longhaul/opt"
	"longhaul/opt/worktime"
)

// Calendars are the working hours of groups, from a file of the operator. The zero value has none.
type Calendars struct {
	list   map[string]*worktime.Calendar
	groups map[string]string // names of calendars; that of "" is for all other groups
}

// A calendarForm is one calendar as it is written.
type calendarForm struct {
	Zone     string              `yaml:"time-zone"`
	Hours    map[string][]string `yaml:"hours"`    // by "mon" or "mon-fri"
	Holidays map[string]string   `yaml:"holidays"` // names by "2026-12-24" or "2026-12-24..2026-12-31"
	Groups   []string            `yaml:"groups"`
	Default  bool                `yaml:"default"`
}

// zoneYears is how many years after this one the clocks of time zones are known in plans.
const zoneYears = 5

// LoadCalendars reads the calendars in a file, "" for none. The error has all mistakes.
func LoadCalendars(path string, now time.Time) (Calendars, error) {
	if path == "" {
		return Calendars{}, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Calendars{}, fmt.Errorf("read the calendars: %w", err)
	}
	return calendarsIn(data, path, now)
}

// calendarsIn reads the text of a file with calendars.
func calendarsIn(data []byte, path string, now time.Time) (Calendars, error) {
	c := Calendars{list: map[string]*worktime.Calendar{}, groups: map[string]string{}}
	var file struct {
		Calendars map[string]calendarForm `yaml:"calendars"`
	}
	if err := opfile.ReadText(data, path, &file); err != nil {
		return c, err
	}
	return c, opfile.Within(path+": ", opfile.Each("calendar", file.Calendars, func(f calendarForm, name string) (err error) {
		if c.list[name], err = f.calendar(name, now); err != nil {
			return err
		}
		groups := slices.Clone(f.Groups)
		if f.Default {
			groups = append(groups, "")
		}
		for _, group := range groups {
			if other, twice := c.groups[group]; twice {
				return fmt.Errorf("the calendar %s is also %s", other, whose(group))
			}
			c.groups[group] = name
		}
		return nil
	}))
}

func whose(group string) string {
	if group == "" {
		return "the default"
	}
	return "that of the group " + group
}

func (f calendarForm) calendar(name string, now time.Time) (*worktime.Calendar, error) {
	out := &worktime.Calendar{Name: name}
	zone, err := time.LoadLocation(f.Zone)
	if f.Zone == "" || f.Zone == "Local" || err != nil {
		return nil, errors.New("time-zone: must be a name of the IANA time zone database, such as Europe/Berlin")
	}
	for at := time.Date(now.Year()-1, 1, 1, 0, 0, 0, 0, zone); !at.IsZero() && at.Year() <= now.Year()+zoneYears; _, at = at.ZoneBounds() {
		_, seconds := at.Zone()
		out.Offsets = append(out.Offsets, worktime.Offset{From: at.Unix(), Seconds: seconds})
	}
	var week [7][]worktime.Interval
	for _, days := range slices.Sorted(maps.Keys(f.Hours)) {
		if err := addHours(&week, days, f.Hours[days]); err != nil {
			return nil, fmt.Errorf("hours: %s: %w", days, err)
		}
	}
	out.Week = slices.Concat(week[:]...)
	for _, days := range slices.Sorted(maps.Keys(f.Holidays)) {
		from, to, several := strings.Cut(days, "..")
		if !several {
			to = from
		}
		out.Holidays = append(out.Holidays, worktime.Holiday{From: from, To: to})
	}
	return out, out.Check()
}

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// addHours adds the hours of a weekday, or of several one after another.
func addHours(week *[7][]worktime.Interval, days string, hours []string) error {
	from, to, several := strings.Cut(days, "-")
	if !several {
		to = from
	}
	day, last := slices.Index(weekdays, from), slices.Index(weekdays, to)
	if day < 0 || last < 0 {
		return errors.New("must be days such as mon or mon-fri")
	}
	for ; ; day = (day + 1) % len(week) {
		if week[day] != nil {
			return fmt.Errorf("%s has hours already", weekdays[day])
		}
		for _, text := range hours {
			from, to, _ := strings.Cut(text, "-")
			begin, ok := minuteOf(from)
			end, ok2 := minuteOf(to)
			if !ok || !ok2 {
				return fmt.Errorf("%q must be hours such as 09:00-17:30", text)
			}
			week[day] = append(week[day], worktime.Interval{Day: day, From: begin, To: end})
		}
		if day == last {
			return nil
		}
	}
}

// minuteOf returns the minute of the day of a time such as 09:00; 24:00 is its end.
func minuteOf(text string) (minute int, ok bool) {
	if text == "24:00" {
		return 24 * 60, true
	}
	at, err := time.Parse("15:04", text)
	return at.Hour()*60 + at.Minute(), err == nil
}

// of returns the calendar of the first group of r that has one, else the default; nil for none.
func (c Calendars) of(r *opt.Responders) *worktime.Calendar {
	groups := []string{""}
	if r != nil {
		groups = append(slices.Clone(r.Groups), "")
	}
	for _, group := range groups {
		if name, ok := c.groups[group]; ok {
			return c.list[name]
		}
	}
	return nil
}

// readCalendar reads the name of a calendar.
func readCalendar(s *source, n *yaml.Node) *worktime.Calendar {
	c := s.calendars.list[s.str(n)]
	if c == nil {
		s.fail(n, "%v", opfile.Unknown("calendar", n.Value, slices.Sorted(maps.Keys(s.calendars.list))))
	}
	return c
}

// lastWorking returns the index of the last step of f that counts working time, -1 if none does. Calendars that nothing
// counts by are mistakes.
func lastWorking(s *source, f *form) int {
	last := -1
	for i, w := range f.wait {
		if w.Works {
			last = i
		} else if w.named != nil {
			s.wrong.add(s.file, w.line, unworked)
		}
	}
	if f.named != nil && last < 0 {
		s.wrong.add(s.file, f.line, unworked)
	}
	return last
}

// setCalendars gives f and its steps the calendars by which they count: that of the step, else that of f, else
// that of those who are asked until then, else the one before; none before the first that has one. Steps after the last in
// working time need none.
func setCalendars(s *source, f *form) {
	asked, before, last := f.responders, (*worktime.Calendar)(nil), lastWorking(s, f)
	for i := range f.wait[:last+1] {
		w := &f.wait[i]
		c := cmp.Or(w.named, f.named, s.calendars.of(asked), before)
		switch {
		case c == nil && w.Works:
			s.wrong.add(s.file, w.line, "working time needs a calendar: there must be one for a group of the responders, or a default, in the file of --calendars or beside the playbooks")
			return
		case i == 0:
			f.calendar = c
		case c != before:
			w.Calendar = c
		}
		before = c
		switch {
		case w.To == nil:
		case w.Kind == opt.Escalate:
			asked = asked.Joined(w.To)
		case w.Kind == opt.Reassign:
			asked = asked.Replaced(w.To)
		}
	}
}

// unworked is the mistake of a calendar for no working time.
const unworked = "a calendar is for steps in working time, such as 4 working hours"

var worksForm = regexp.MustCompile(`^(\d{1,6}) working (hour|minute)s?$`)

// readAfter reads when a step comes, a duration or working time.
func readAfter(s *source, n *yaml.Node, step *opt.Step) {
	d, ok := wholeSeconds(n.Value)
	if m := worksForm.FindStringSubmatch(n.Value); m != nil {
		count, _ := strconv.Atoi(m[1])
		d = time.Duration(count) * time.Minute
		if m[2] == "hour" {
			d *= 60
		}
		step.Works, ok = true, d > 0
	}
	if step.After = int64(d / time.Second); !ok || step.After > opt.MaxStepAfter {
		s.unfit(n, "be a duration of whole seconds, such as 90m, 4h or 7d, or working time, such as 4 working hours, of 366d at the most")
	}
}
