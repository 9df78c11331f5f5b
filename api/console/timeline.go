package console

import (
	"cmp"
	"strconv"
	"time"

	"longhaul/a2a"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/opt/wire"
)

const timelineSize = 50

// A moment is one line of a timeline: an event of an objective.
type moment struct {
	shown.Recorded
	of *opt.Objective
}

// Text describes the event in plain words. A timeline names its task.
func (m moment) Text() string { return shown.EventText(m.of, m.Event) }

// Task returns the plan task that the event is about, nil for none.
func (m moment) Task() *opt.Task {
	_, t := taskOf(m.of, cmp.Or(m.Event.ForTask, m.Event.TaskID))
	return t
}

// Kind returns the kind of the state to which the event has led, "" for none.
func (m moment) Kind() shown.Kind {
	switch m.Event.Kind {
	case opt.ObjectiveMoved, opt.PlanMoved, opt.TaskMoved:
		return shown.Stage{Status: m.Event.To, Reason: m.Event.Reason}.Look().Kind
	}
	return ""
}

type timeline struct {
	Objective *opt.Objective
	Moments   []moment
	Next      string // token of the page with earlier events, "" for none
	Decisions wire.DecisionPage
	Earlier   bool // it is not the first page
}

// showTimeline shows the events of an objective, the latest first, and the decisions at its gates.
func showTimeline(v *visit) (view, error) {
	if ref, ok := opt.ParseID(v.r.PathValue("id")); ok && ref.ObjectiveID != v.r.PathValue("id") {
		return view{Location: objectivePath(ref.ObjectiveID) + "/timeline"}, nil
	}
	o, err := v.objective(v.r.PathValue("id"))
	if err != nil {
		return view{}, err
	}
	q := v.r.URL.Query()
	page, err := v.cfg.Service.Events.ListEvents(v.r.Context(), v.call, read.EventListParams{ObjectiveID: o.ID, Limit: timelineSize, PageToken: q.Get("page")})
	if err != nil {
		return view{}, err
	}
	decisions, err := v.cfg.Service.Decisions.ListDecisions(v.r.Context(), v.call, read.DecisionListParams{ObjectiveID: o.ID, Limit: timelineSize, PageToken: q.Get("decisions")})
	out := view{Template: "timeline", Title: "All events of " + a2a.Visible(o.Name), Data: timeline{o, momentsOf(o, page.Events), page.Next, decisions, q.Get("page") != ""}}
	if q.Get("page") == "" {
		out.Events, out.Refresh = eventsOf(o), refreshEvery
	}
	return out, err
}

func momentsOf(o *opt.Objective, events []shown.Recorded) []moment {
	return each(events, func(r shown.Recorded) moment { return moment{r, o} })
}

// A picture is the timeline of an objective: a lane for each plan, with a row for each task.
type picture struct {
	Ticks []tick
	Now   string // where the present is, in percent; "" if it is not shown
	Zooms []choice
	Back  string // addresses of the stretches before and after, "" for none
	On    string

	course *shown.Course
	scale
}

type tick struct{ X, Text string }

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
	p := &picture{course: c, scale: full}
	seconds, end := at.number("span"), at.number("until")
	if span := seconds * 1000; span > 0 && span < full.until-full.from {
		if end > full.from+span && end < full.until {
			p.until = end
		}
		p.from = p.until - span
		if p.from > full.from {
			p.Back = at.ToSpan(seconds, max(p.until-span/2, full.from+span))
		}
		if p.until < full.until {
			p.On = at.ToSpan(seconds, min(p.until+span/2, full.until))
		}
	}
	p.Zooms = zoomsOf(full, at, c.Tasks[idOf(o.ID, at.Get("task"))])
	p.ruler(full.from)
	return p
}

// zoomsOf returns the choices of how much to show, none for a short course. They lead to the
// present, or to where the selected task begins.
func zoomsOf(full scale, at spot, selected []shown.Span) (out []choice) {
	chosen, now := false, at.number("span")
	for _, span := range spans {
		if span.Milliseconds() < full.until-full.from {
			seconds, until := int64(span/time.Second), at.number("until")
			if len(selected) > 0 && now == 0 {
				until = selected[0].From.Millis() + 3*span.Milliseconds()/4
			}
			chosen = chosen || seconds == now
			out = append(out, choice{at.ToSpan(seconds, until), durationText(span.Milliseconds()), seconds == now})
		}
	}
	if len(out) > 0 {
		out = append(out, choice{at.ToSpan(0, 0), "All", !chosen})
	}
	return out
}

// ruler adds the ticks and the present.
func (p *picture) ruler(begin int64) {
	fits := func(d time.Duration) bool { return (p.until-p.from)/d.Milliseconds() <= mostTicks }
	step := append(filter(steps, fits), steps[len(steps)-1])[0].Milliseconds()
	last := p.until - (p.until-p.from)/10 // on a phone, the text of a later one would be cut
	for at := p.from + (step-(p.from-begin)%step)%step; at < last; at += step {
		x, _, _ := p.place(at, at)
		p.Ticks = append(p.Ticks, tick{x, cmp.Or(shown.When(at == begin, "start"), opt.InUnits(at-begin, at))})
	}
	if p.now > p.from && p.now < p.until {
		p.Now, _, _ = p.place(p.now, p.now)
	}
}

// Took returns how long the work on a task has taken, "" if it has not begun.
func (p *picture) Took(t *opt.Task) string {
	all := p.course.Work(t.ID, a2a.AtMillis(p.now))
	if len(all) == 0 {
		return ""
	}
	return shown.Span{From: all[0].From, Until: all[len(all)-1].Until}.Took()
}

// A bar is a span of the work on a task in the picture, with its place in percent.
type bar struct {
	shown.Span
	What, X, W string
}

// Bars returns the bars of a task of a plan that are in the picture.
func (p *picture) Bars(plan *opt.Plan, t *opt.Task) (out []bar) {
	add := func(s shown.Span, what string) {
		if x, w, ok := p.place(s.From.Millis(), s.Until.Millis()); ok {
			out = append(out, bar{s, what, x, w})
		}
	}
	all := p.course.Work(t.ID, a2a.AtMillis(p.now))
	if ready, ok := p.course.Ready(plan, t); ok && (len(all) > 0 || !t.State.Ended() && !plan.Status.Ended()) {
		wait := shown.Span{Kind: shown.LooksPending, From: ready, Until: a2a.AtMillis(p.now)}
		if len(all) > 0 {
			wait.Until = all[0].From
		}
		if wait.Until.Millis()-ready.Millis() >= leastShown {
			add(wait, "Waited for its turn")
		}
	}
	for _, s := range all {
		add(s, s.What())
	}
	return out
}
