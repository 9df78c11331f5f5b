package opt_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/worktime"
)

// tick is what tests count in: all of their times and calendars are whole ones.
const tick = 900

// A staff works in some hours of the week, by a clock that changes once.
type staff struct {
	works  [7 * 24]bool
	change int64 // when
	ahead  [2]int64
}

func randomStaff(r *rand.Rand, begin int64) *staff {
	s := &staff{change: begin + tick*r.Int64N(4*24*5), ahead: [2]int64{tick * (r.Int64N(80) - 40), tick * (r.Int64N(80) - 40)}}
	for hour := range s.works {
		s.works[hour] = r.IntN(3) == 0
	}
	s.works[r.IntN(len(s.works))] = true
	return s
}

func (s *staff) calendar() *worktime.Calendar {
	c := &worktime.Calendar{Offsets: []worktime.Offset{{Seconds: int(s.ahead[0])}, {From: s.change, Seconds: int(s.ahead[1])}}}
	for hour, works := range s.works {
		if works {
			c.Week = append(c.Week, worktime.Interval{Day: hour / 24, From: hour % 24 * 60, To: hour%24*60 + 60})
		}
	}
	return c
}

// worksAt reports whether people work in the tick from a time on.
func (s *staff) worksAt(at int64) bool {
	local := time.Unix(at+s.ahead[0], 0).UTC()
	if at >= s.change {
		local = time.Unix(at+s.ahead[1], 0).UTC()
	}
	return s.works[int(local.Weekday())*24+local.Hour()]
}

// A clocked is a ladder with people for each step, who count the time before it.
type clocked struct {
	gate   opt.Gate
	before []*staff
}

func randomClocked(r *rand.Rand, begin int64) clocked {
	c := clocked{before: []*staff{randomStaff(r, begin)}}
	c.gate.Calendar = c.before[0].calendar()
	last := map[bool]int64{}
	for i := range 2 + r.IntN(4) {
		s := opt.Step{Kind: opt.Remind, Works: r.IntN(3) > 0}
		last[s.Works] += tick * (1 + r.Int64N(60))
		if s.After = last[s.Works]; i > 0 {
			c.before = append(c.before, c.before[i-1])
			if r.IntN(2) == 0 {
				c.before[i] = randomStaff(r, begin)
				s.Calendar = c.before[i].calendar()
			}
		}
		c.gate.Ladder = append(c.gate.Ladder, s)
	}
	if r.IntN(2) == 0 {
		c.gate.Ladder[0].Calendar, c.gate.Calendar = c.gate.Calendar, nil
	}
	return c
}

// times counts when the steps come, one tick after another. clear is false if two come at once.
func (c clocked) times(opened int64) (list []int64, clear bool) {
	worked, clear := int64(0), true
	for at := opened; len(list) < len(c.gate.Ladder); at += tick {
		due := func() bool {
			s := c.gate.Ladder[len(list)]
			return s.Works && worked >= s.After || !s.Works && at-opened >= s.After
		}
		if at > opened && due() {
			list = append(list, at)
			clear = clear && (len(list) == len(c.gate.Ladder) || !due())
		}
		if len(list) < len(c.gate.Ladder) && c.before[len(list)].worksAt(at) {
			worked += tick
		}
	}
	return list, clear
}

// later counts when the steps come after one of them that comes late, one tick after another.
func (c clocked) later(planned []int64, n int, at int64) []int64 {
	list := slices.Clone(planned)
	for i := n + 1; i < len(list); i++ {
		counts := func(at int64) bool { return !c.gate.Ladder[i].Works || c.before[i].worksAt(at) }
		left := 0
		for t := planned[i-1]; t < planned[i]; t += tick {
			if counts(t) {
				left++
			}
		}
		for ; left > 0; at += tick {
			if counts(at) {
				left--
			}
		}
		list[i] = at
	}
	return list
}

// A gate opens with the times of its steps, each counted by its calendar, and counts them again after one
// that comes late.
func TestGate_Clocked_countsTicks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	compared, moved := 0, 0
	for n := range 1000 {
		begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Unix() + tick*r.Int64N(4*24*365)
		c := randomClocked(r, begin)
		if err := c.gate.CheckLadder(); err != nil {
			t.Fatalf("gate %d: %v", n, err)
		}
		want, clear := c.times(begin)
		if !clear {
			continue
		}
		compared++
		at := a2a.AtMillis(begin*1000 + 999*r.Int64N(2))
		open := c.gate.Clocked(at, true)
		open = open.Opened(at, 0)
		if diff := cmp.Diff(want, timesOf(&open)); diff != "" {
			t.Fatalf("gate %d: steps (-want +got):\n%s", n, diff)
		}
		for i := range len(want) - 1 {
			late := int64(0)
			if r.IntN(2) == 0 {
				late = tick * r.Int64N(200)
			}
			planned := want
			want = c.later(want, i, want[i]+late)
			if next, _ := open.NextStep(); next.At.Millis()/1000 != planned[i] {
				t.Fatalf("gate %d: the step %d comes at %v, want %d", n, i, next.At, planned[i])
			}
			open = open.Stepped(a2a.AtMillis((planned[i]+late)*1000+999), &c.gate)
			if late > 0 {
				moved++
			}
			if diff := cmp.Diff(want[i+1:], timesOf(&open)[i+1:]); diff != "" {
				t.Fatalf("gate %d: steps after the %dth, %d s late (-want +got):\n%s", n, i, late, diff)
			}
		}
	}
	if compared < 300 || moved < 300 {
		t.Errorf("compared %d gates, and %d after late steps", compared, moved)
	}
}

// timesOf returns when the steps of an open gate come, in seconds since 1970.
func timesOf(g *opt.Gate) (list []int64) {
	for rest := *g; rest.Taken < len(rest.Ladder); rest.Taken++ {
		next, _ := rest.NextStep()
		list = append(list, next.At.Millis()/1000)
	}
	return append(slices.Repeat([]int64{0}, g.Taken), list...)
}
