package console

import (
	"cmp"
	"fmt"
	"strings"

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
		if workers, known := v.cfg.Service.Overviews.Workforce(v.r.Context()); known && workers.Absent() && w.Did != "" {
			w.Before = "No worker runs tasks now. It waits for one with"
		} else if known && mayWait(workers, w.last, a2a.At(v.cfg.Now())) {
			q := workers.Queues[0]
			w.Before = fmt.Sprintf("Waits for a worker of the queue of %s, where %s for up to %s, or has just got one:", q.Of, waitText(q.Waiting), durationText(q.Oldest.Milliseconds()))
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
	return why{Before: reasonText(o.Reason)}, nil
}

// whyAsked returns the oldest question that waits for people.
func whyAsked(o *opt.Objective) (w why, ok bool) {
	var first *opt.Gate
	n := 0
	for _, p := range o.Plans {
		for _, t := range p.Waiting() {
			if n++; first == nil || t.Gate.RequestedAt.Millis() < first.RequestedAt.Millis() {
				first = t.Gate
			}
		}
	}
	if first == nil {
		return w, false
	}
	w = why{Before: "Waits for " + peopleText(first) + ":", Link: shorten(a2a.Visible(titleOfGate(first)), titleLetters), Path: gatePath(first.ID), Did: "asked", Since: first.RequestedAt}
	if n > 1 {
		w.After = fmt.Sprintf("and %s", opt.Count(n-1, "more question"))
	}
	return w, true
}

// peopleText names who can answer a gate.
func peopleText(g *opt.Gate) string {
	r := cmp.Or(g.Responders, &opt.Responders{})
	var names []string
	for _, p := range r.Principals {
		if !g.Voted(p) {
			names = append(names, shorten(a2a.Visible(p), 40))
		}
	}
	for _, group := range r.Groups {
		names = append(names, "a member of "+shorten(a2a.Visible(group), 40))
	}
	const most = 3
	switch n := len(names); {
	case n == 0 && r.NotRequester:
		return "anyone but those who shaped the work"
	case n == 0:
		return "anyone who may answer"
	case n > most:
		return strings.Join(names[:most], ", ") + " or " + opt.Count(n-most, "other")
	case n > 1:
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return names[0]
}

// whyWorks returns the task that has run for the longest time, or one that a quota holds back if none runs.
func whyWorks(o *opt.Objective, c *shown.Course) (w why, ok bool) {
	var longest *opt.Task
	var since a2a.Time
	var held *opt.Task
	n, holds := 0, 0
	for _, p := range o.Plans {
		for _, t := range p.Running() {
			spans := c.Tasks[t.ID]
			switch {
			case t.Reason == opt.HeldByQuota:
				if holds++; held == nil {
					held = t
				}
			case len(spans) == 0:
			default:
				if n++; longest == nil || spans[0].From.Millis() < since.Millis() {
					longest, since = t, spans[0].From
				}
			}
		}
	}
	if longest == nil {
		return whyHeld(o, c, held, holds)
	}
	w = why{Before: "Works on", Link: shorten(a2a.Visible(longest.Name), titleLetters), Path: taskPath(o.ID, taskKey(longest)), Did: "begun", Since: since, last: c.Tasks[longest.ID]}
	if n > 1 {
		w.After = "and " + opt.Count(n-1, "other task")
	}
	return w, true
}

// whyHeld returns the quota that holds back the next steps of n tasks, of which t is one; nil for none.
func whyHeld(o *opt.Objective, c *shown.Course, t *opt.Task, n int) (w why, ok bool) {
	if t == nil {
		return w, false
	}
	text := "A quota is used up."
	if spans := c.Tasks[t.ID]; len(spans) > 0 {
		text = cmp.Or(spans[len(spans)-1].Text, text)
	}
	w = why{Before: shorten(a2a.Visible(text), 300) + " This holds back", Link: shorten(a2a.Visible(t.Name), titleLetters), Path: taskPath(o.ID, taskKey(t))}
	if n > 1 {
		w.After = "and " + opt.Count(n-1, "other task")
	}
	return w, true
}

// answerAge is how old answers about workers may be, in milliseconds, with what the clocks differ.
const answerAge = 5000

// mayWait reports whether a task with some spans may wait for a worker: it is not known that one has taken it, and
// others that began before it, or at that time, are waiting.
func mayWait(workers shown.Workforce, spans []shown.Span, now a2a.Time) bool {
	last := spans[len(spans)-1]
	taken := len(spans) > 1 && spans[len(spans)-2].Untaken && spans[len(spans)-2].Until == last.From
	queue := workers.Queues[0]
	return queue.Waiting > 0 && !taken && now.Millis()-last.From.Millis() <= queue.Oldest.Milliseconds()+answerAge
}

func waitText(n int64) string {
	if n == 1 {
		return "1 task waits"
	}
	return opt.Grouped(n) + " tasks wait"
}

// whyEnded returns the failure of o, the zero why for none.
func whyEnded(o *opt.Objective) why {
	if o.Status != opt.ObjectiveFailed {
		return why{}
	}
	for _, p := range o.Plans {
		for _, t := range p.Tasks {
			if t.Broken() && t.Failure != "" {
				return why{Before: "It failed at", Link: shorten(a2a.Visible(t.Name), titleLetters), Path: taskPath(o.ID, taskKey(t)), After: shorten(a2a.Visible(t.Failure), 300)}
			}
		}
	}
	return why{Before: shorten(a2a.Visible(o.Failure), 300)}
}

// whyQueued returns which objective has the turn in the context.
func whyQueued(v *visit, o *opt.Objective, position int) (why, error) {
	w := why{Before: fmt.Sprintf("Waits for its turn in its context, at place %d. It begins when those before it have ended:", position), Did: "queued", Since: o.QueuedAt}
	page, err := v.cfg.Service.Objectives.ListObjectives(v.r.Context(), v.call, read.ListObjectivesParams{Filter: shown.ObjectiveSearch{
		ObjectiveFilter: shown.ObjectiveFilter{Limit: objectivesSize}, ContextID: o.ContextID,
	}})
	for _, other := range page.Objectives {
		if other.ID != o.ID && !other.Status.Ended() && other.QueuedAt.IsZero() {
			w.Link, w.Path = shorten(a2a.Visible(other.Name), titleLetters), objectivePath(other.ID)
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
