package console

import (
	"fmt"
	"strconv"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A picture is the timeline of an objective: a lane for each plan, with a row for each task.
type picture struct {
	Begun string // where it begins, after the beginning of the objective; "" for there
	Ticks []tick
	Now   string // where the present is, in percent; "" if it is not shown
	Lanes []lane
	Zooms []zoom
	Back  string // addresses of the stretches before and after, "" for none
	On    string
}

// A tick is a line across the picture, with how much later than the beginning it is.
type tick struct{ X, Text string }

// A zoom is a choice of how much the picture shows.
type zoom struct {
	Text, Path string
	Chosen     bool
}

// A lane is a plan in the picture.
type lane struct {
	Key, Path, Name string
	Look            shown.Look
	Chosen          bool
	Rows            []laneRow
}

// A laneRow is a task in the picture.
type laneRow struct {
	Key, Path, Name, Took string
	Look                  shown.Look
	Chosen, Optional      bool
	Bars                  []pictureBar
}

// A pictureBar is a stretch of the work on a task. X and W are percent.
type pictureBar struct{ Class, X, W, Title string }

// A scale is the stretch of time that a picture shows, in milliseconds.
type scale struct{ from, until, now int64 }

// leastShown is the shortest time that a picture shows, in milliseconds.
const leastShown = 1000

// fullScale is the scale of the whole course, until now. The end moves in steps, the present in
// smaller ones, so that most bars stay where they are.
func fullScale(c *shown.Course, now a2a.Time) scale {
	s := scale{from: c.Begun.Millis(), until: c.Ended.Millis(), now: now.Millis()}
	for _, spans := range c.Tasks { // tasks may end a little later
		s.until = max(s.until, spans[len(spans)-1].Until.Millis())
	}
	if c.Ended.IsZero() {
		step := max(1000, (s.now-s.from)/100)
		s.now -= (s.now - s.from) % step
		for s.until = s.from + 10*leastShown; s.until < s.now+2*step; {
			s.until += (s.until - s.from) / 8
		}
	}
	s.until = max(s.until, s.from+leastShown)
	return s
}

// place returns where a stretch is, in percent; ok is false if it is not shown.
func (s scale) place(from, until int64) (x, w string, ok bool) {
	from, until = max(from, s.from), min(until, s.until)
	if until < from || from > s.until {
		return "", "", false
	}
	part := func(ms int64) string {
		return strconv.FormatFloat(100*float64(ms)/float64(s.until-s.from), 'f', 2, 64)
	}
	least := (s.until - s.from) / 250 // what can be seen
	return part(from - s.from), part(max(until-from, least)), true
}

// steps are the distances of ticks, and how much a picture can show.
var (
	steps = []time.Duration{
		100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 12 * time.Hour,
		day, 2 * day, 7 * day, 14 * day, 28 * day, 91 * day, 364 * day,
	}
	spans = []time.Duration{10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 8 * time.Hour, day, 7 * day, 28 * day}
)

const day = 24 * time.Hour

// mostTicks is how many ticks fit the window of a phone.
const mostTicks = 5

// pictureOf returns the timeline of o, nil if it has no plans.
func pictureOf(o *opt.Objective, c *shown.Course, at spot, now a2a.Time) *picture {
	if len(o.Plans) == 0 {
		return nil
	}
	full := fullScale(c, now)
	s, p := full, &picture{}
	if span := at.Span * 1000; span > 0 && span < full.until-full.from {
		if s.until = full.until; at.Until > full.from+span && at.Until < full.until {
			s.until = at.Until
		}
		s.from = s.until - span
		if s.from > full.from {
			p.Back = at.ToSpan(at.Span, max(s.until-span/2, full.from+span))
		}
		if s.until < full.until {
			p.On = at.ToSpan(at.Span, min(s.until+span/2, full.until))
		}
	}
	p.Zooms = zoomsOf(full, at, beginOf(o, c, at.Task))
	p.ruler(s, full.from)
	for _, plan := range o.Plans {
		p.Lanes = append(p.Lanes, laneOf(o, plan, c, at, s))
	}
	return p
}

// beginOf returns when the task with a key has begun, 0 for none.
func beginOf(o *opt.Objective, c *shown.Course, key string) int64 {
	if _, t := taskAt(o, key); t != nil && len(c.Tasks[t.ID]) > 0 {
		return c.Tasks[t.ID][0].From.Millis()
	}
	return 0
}

// zoomsOf returns the choices of how much to show, none for a short course. They lead to the
// present, or to where the selected task begins.
func zoomsOf(full scale, at spot, begin int64) (out []zoom) {
	chosen := false
	for _, span := range spans {
		if span.Milliseconds() < full.until-full.from {
			seconds, until := int64(span/time.Second), at.Until
			if begin > 0 && at.Span == 0 {
				until = begin + 3*span.Milliseconds()/4
			}
			chosen = chosen || seconds == at.Span
			out = append(out, zoom{durationText(span.Milliseconds()), at.ToSpan(seconds, until), seconds == at.Span})
		}
	}
	if len(out) > 0 {
		out = append(out, zoom{"All", at.ToSpan(0, 0), !chosen})
	}
	return out
}

// ruler adds the ticks and the present.
func (p *picture) ruler(s scale, begin int64) {
	step := steps[len(steps)-1].Milliseconds()
	for _, d := range steps {
		if (s.until-s.from)/d.Milliseconds() <= mostTicks {
			step = d.Milliseconds()
			break
		}
	}
	for at := s.from + (step-(s.from-begin)%step)%step; at < s.until; at += step {
		x, _, _ := s.place(at, at)
		text := "start"
		if at > begin {
			text = opt.InUnits(at-begin, at)
		}
		p.Ticks = append(p.Ticks, tick{x, text})
	}
	if s.now > s.from && s.now < s.until {
		p.Now, _, _ = s.place(s.now, s.now)
	}
}

func laneOf(o *opt.Objective, plan *opt.Plan, c *shown.Course, at spot, s scale) lane {
	key := planKey(plan)
	l := lane{Key: key, Path: at.ToPlan(key), Name: shorten(a2a.Visible(plan.Name), titleLetters), Look: shown.LookOfPlan(plan), Chosen: key == at.Plan}
	for _, t := range plan.Tasks {
		spans := c.Tasks[t.ID]
		r := laneRow{Key: taskKey(t), Name: shorten(a2a.Visible(t.Name), titleLetters), Look: shown.LookOfTask(t.State), Optional: t.Optional()}
		r.Path, r.Chosen = at.ToTask(r.Key), r.Key == at.Task
		if len(spans) > 0 {
			r.Took = durationText(endOf(spans[len(spans)-1], a2a.AtMillis(s.now)) - spans[0].From.Millis())
		}
		if ready, ok := readyAt(plan, t, c); ok && (len(spans) > 0 || !t.State.Ended() && !plan.Status.Ended()) {
			until := s.now
			if len(spans) > 0 {
				until = spans[0].From.Millis()
			}
			if until-ready >= leastShown {
				r.add(s, ready, until, "ready", "Waited for its turn")
			}
		}
		for i, span := range spans {
			r.add(s, span.From.Millis(), endOf(span, a2a.AtMillis(s.now)), barClass(spans, i), spanText(spans, i))
		}
		l.Rows = append(l.Rows, r)
	}
	return l
}

// add adds a bar, if it is in the picture.
func (r *laneRow) add(s scale, from, until int64, class, what string) {
	if x, w, ok := s.place(from, until); ok {
		r.Bars = append(r.Bars, pictureBar{class, x, w, fmt.Sprintf("%s, %s", what, durationText(until-from))})
	}
}

// readyAt returns when nothing that a task waits for was left; ok is false if something is.
func readyAt(p *opt.Plan, t *opt.Task, c *shown.Course) (at int64, ok bool) {
	begun := c.Plans[p.ID]
	at = begun.Millis()
	for _, b := range p.Before(t) {
		spans := c.Tasks[b.ID]
		if !b.Done() || len(spans) == 0 {
			return 0, false
		}
		at = max(at, spans[len(spans)-1].Until.Millis())
	}
	return at, !begun.IsZero()
}

// endOf returns when a span ends, now for one that lasts.
func endOf(s shown.Span, now a2a.Time) int64 {
	if s.Until.IsZero() {
		return max(now.Millis(), s.From.Millis())
	}
	return s.Until.Millis()
}

// barClass returns the class of the bar for a span: what it does, or how it has ended. An
// attempt after which another one follows has failed.
func barClass(spans []shown.Span, i int) string {
	s := spans[i]
	switch {
	case s.Kind == shown.LooksWaiting:
		return "waiting"
	case s.Untaken:
		return "untaken"
	case s.Kind == shown.LooksPending:
		return "ready"
	case s.End != "":
		return string(s.End)
	case s.Until.IsZero():
		return "working"
	case i+1 < len(spans) && spans[i+1].Kind == shown.LooksWorking && spans[i+1].Attempt > s.Attempt:
		return "failed"
	}
	return "completed"
}
