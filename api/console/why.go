package console

import (
	"cmp"
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A why says in one sentence why an objective is where it is, and who can end a wait. The
// link is in the middle of it.
type why struct {
	Before, Link, Path, After string
	Did                       string   // what began then
	Since                     a2a.Time // zero if it does not matter

	last []shown.Span // of a task that works
}

// whyOf returns why o waits, works or has ended; position is its place in the queue.
func whyOf(v *visit, o *opt.Objective, c *shown.Course, position int) (why, error) {
	if o.Status.Ended() {
		return whyEnded(o), nil
	}
	switch {
	case o.Stopping != "":
		return why{Before: "It is being stopped, and will be " + o.Stopping + " once its running tasks have ended."}, nil
	case o.Paused:
		return why{Before: "It is paused. People who may change it can resume it."}, nil
	case !o.QueuedAt.IsZero():
		return whyQueued(v, o, position)
	}
	if w, ok := whyAsked(o); ok {
		return w, nil
	}
	if w, ok := whyWorks(o, c); ok {
		workers, known := v.cfg.Service.Overviews.Workforce(v.r.Context())
		if wait := workers.WaitOf(w.last, a2a.At(v.cfg.Now())); known && w.Did != "" && wait != "" {
			w.Before = wait + ":"
		}
		return w, nil
	}
	switch {
	case o.Status == opt.ObjectivePlanning:
		return why{Before: "A planner makes its plans."}, nil
	case !o.Started:
		return why{Before: "It was not started. People who may change it can start it."}, nil
	case o.Reason == opt.NothingToDo:
		return why{Before: "It has no open plan. People who may change it can add one."}, nil
	}
	return why{Before: shown.ReasonText(o.Reason)}, nil
}

// whyAsked returns the oldest question that waits for people.
func whyAsked(o *opt.Objective) (w why, ok bool) {
	var all []*opt.Gate
	for _, p := range o.Plans {
		all = append(all, each(p.Waiting(), func(t *opt.Task) *opt.Gate { return t.Gate })...)
	}
	if len(all) == 0 {
		return w, false
	}
	first := slices.MinFunc(all, func(a, b *opt.Gate) int { return a.RequestedAt.Time().Compare(b.RequestedAt.Time()) })
	return why{
		Before: "Waits for " + peopleText(first) + ":", Link: nameText(titleOfGate(first)), Path: gatePath(first.ID),
		After: others(len(all), "more question"), Did: "asked", Since: first.RequestedAt,
	}, true
}

// others says how many there are beside the one of several that a sentence is about.
func others(n int, what string) string {
	if n < 2 {
		return ""
	}
	return "and " + opt.Count(n-1, what)
}

// silentAt names those who are asked by name at a gate and have not voted.
func silentAt(g *opt.Gate) []string {
	return filter(shown.Named(g.Responders), func(name string) bool { return !g.Voted(name) })
}

// peopleText says who can answer a gate.
func peopleText(g *opt.Gate) string {
	switch names := silentAt(g); {
	case len(names) > 0:
		return shown.Joined(g.Responders, few(each(names, nameText)))
	case g.Responders != nil && g.Responders.NotRequester:
		return "anyone but those who shaped the work"
	}
	return "anyone who may answer"
}

// whyWorks returns the task that has run for the longest time, or one that a quota holds back if none runs.
func whyWorks(o *opt.Objective, c *shown.Course) (w why, ok bool) {
	var works, held []*opt.Task
	for _, p := range o.Plans {
		for _, t := range p.Running() {
			if t.Reason == opt.HeldByQuota {
				held = append(held, t)
			} else if len(c.Tasks[t.ID]) > 0 {
				works = append(works, t)
			}
		}
	}
	begun := func(t *opt.Task) a2a.Time { return c.Tasks[t.ID][0].From }
	switch {
	case len(works) > 0:
		t := slices.MinFunc(works, func(a, b *opt.Task) int { return begun(a).Time().Compare(begun(b).Time()) })
		w = why{Before: "Works on", After: others(len(works), "other task"), Did: "begun", Since: begun(t), last: c.Tasks[t.ID]}
		return w.linked(t), true
	case len(held) > 0:
		text := "A quota is used up."
		if spans := c.Tasks[held[0].ID]; len(spans) > 0 {
			text = cmp.Or(spans[len(spans)-1].Text, text)
		}
		w = why{Before: shorten(a2a.Visible(text), 300) + " This holds back", After: others(len(held), "other task")}
		return w.linked(held[0]), true
	}
	return w, false
}

// linked returns w with a link to a task.
func (w why) linked(t *opt.Task) why {
	w.Link, w.Path = nameText(t.Name), pageOf(t.ID)
	return w
}

// whyEnded returns the failure of o, the zero why for none.
func whyEnded(o *opt.Objective) why {
	if o.Status != opt.ObjectiveFailed {
		return why{}
	}
	for _, p := range o.Plans {
		for _, t := range p.Tasks {
			if t.Broken() && t.Failure != "" {
				return why{Before: "It failed at", After: shorten(a2a.Visible(t.Failure), 300)}.linked(t)
			}
		}
	}
	return why{Before: shorten(a2a.Visible(o.Failure), 300)}
}

// whyQueued returns which objective has the turn in the context.
func whyQueued(v *visit, o *opt.Objective, position int) (why, error) {
	w := why{Before: fmt.Sprintf("Waits for its turn in its context, at place %d. It begins when those before it have ended:", position), Did: "queued", Since: o.QueuedAt}
	search := shown.ObjectiveSearch{ObjectiveFilter: shown.ObjectiveFilter{Limit: objectivesSize}, ContextID: o.ContextID}
	page, err := v.cfg.Service.Objectives.ListObjectives(v.r.Context(), v.call, read.ListObjectivesParams{Filter: search})
	for _, other := range page.Objectives {
		if other.ID != o.ID && !other.Status.Ended() && other.QueuedAt.IsZero() {
			w.Link, w.Path = nameText(other.Name), objectivePath(other.ID)
			w.After = "of " + shorten(a2a.Visible(other.Principal), 40)
		}
	}
	return w, err
}

// spentText says how long an objective has taken, and for how much of that people were
// waited for.
func spentText(c *shown.Course, now a2a.Time) string {
	if c.Begun.IsZero() {
		return ""
	}
	if !c.Ended.IsZero() {
		now = c.Ended
	}
	text := durationText(now.Millis() - c.Begun.Millis())
	if waited := c.Total(shown.LooksWaiting, now); waited >= 1000 {
		text += ", " + durationText(waited) + " of it for people"
	}
	return text
}

// durationText returns a time in milliseconds for people: in two units, if the first of them
// says little.
func durationText(ms int64) string { return opt.InUnits(ms, 10) }
