package shown

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Span is a stretch of time in which a plan task was in one state, or in one attempt.
type Span struct {
	Kind    Kind     // of the state
	From    a2a.Time // since when
	Until   a2a.Time // zero while it lasts
	Attempt int      // within the round; 0 for a state without an attempt
	End     Kind     // how the task, or the attempt, has ended with it; "" if it has not
	Untaken bool     // it waited for a worker
	Text    string   // why a quota holds the task back
}

// A Course has the spans of the work on the tasks of an objective, from its events. The zero
// Course has seen no event. It is not safe for concurrent use.
type Course struct {
	Seq   int64               // of the last event that was added
	Tasks map[string][]Span   // by the id of the plan task, in order of time
	Plans map[string]a2a.Time // when a plan might begin its tasks first, by its id
	Begun a2a.Time            // when the objective was opened
	Ended a2a.Time            // when it ended; zero while it is open
}

// Clone returns a copy that later events do not change.
func (c *Course) Clone() Course {
	out := *c
	out.Plans, out.Tasks = maps.Clone(c.Plans), make(map[string][]Span, len(c.Tasks))
	for id, spans := range c.Tasks {
		out.Tasks[id] = slices.Clone(spans)
	}
	return out
}

// Add adds the next event of the objective.
func (c *Course) Add(r Recorded) {
	e := r.Event
	c.Seq = r.Seq
	if c.Tasks == nil {
		c.Tasks, c.Plans = map[string][]Span{}, map[string]a2a.Time{}
	}
	switch e.Kind {
	case opt.ObjectiveOpened:
		c.Begun = e.At
	case opt.ObjectiveMoved:
		c.Ended = a2a.Time{}
		if opt.ObjectiveStatus(e.To).Ended() {
			c.Ended = e.At
		}
	case opt.ObjectiveRetried:
		c.Ended = a2a.Time{}
	case opt.PlanStarted:
		if c.Plans[e.PlanID].IsZero() {
			c.Plans[e.PlanID] = e.At
		}
	case opt.PlanRetried, opt.TasksReopened:
		for _, t := range e.Tasks {
			c.close(t.ID, e.At, "")
		}
	case opt.TaskMoved, opt.TaskTried:
		c.move(e)
	case opt.TaskTaken:
		c.take(e)
	case opt.TaskProgressed:
		if ref, _ := opt.ParseID(e.TaskID); c.held(ref.TaskID) { // by a quota until now
			c.move(e)
		}
	}
	if e.EndsTasks() {
		for id := range c.Tasks {
			if ref, _ := opt.ParseID(id); e.PlanID == "" || ref.PlanID == e.PlanID {
				c.close(id, e.At, LooksFailed)
			}
		}
	}
}

// othersWork are the reasons for which a task that has begun waits while others work.
var othersWork = []string{opt.SentBack, opt.HeldByQuota}

// move adds what a move of a plan task, or another attempt at it, has begun and ended.
func (c *Course) move(e opt.Event) {
	ref, _ := opt.ParseID(e.TaskID)
	if ref.TaskID == "" {
		return // a root task, which follows the objective
	}
	kind := LookOfTask(e.To).Kind
	if opt.TaskState(e.To).Ended() {
		c.close(ref.TaskID, e.At, kind)
		return
	}
	if slices.Contains(othersWork, e.Reason) {
		kind = LooksPending
	}
	last, end := c.last(ref.TaskID), Kind("")
	switch {
	case last.Kind != kind:
	case last.Attempt < e.Attempt && kind == LooksWorking:
		end = LooksFailed // this attempt follows it
	case last.Attempt == e.Attempt && last.Until.IsZero() && e.Kind == opt.TaskMoved:
		last.Text = heldText(e)
		return // a step at a gate
	}
	c.close(ref.TaskID, e.At, end)
	c.Tasks[ref.TaskID] = append(c.Tasks[ref.TaskID], Span{Kind: kind, From: e.At, Attempt: e.Attempt, Text: heldText(e)})
}

// heldText returns what e says about the quota that holds a task back, "" for none.
func heldText(e opt.Event) string {
	if e.Reason != opt.HeldByQuota {
		return ""
	}
	return e.Said()
}

// held reports whether a task that has begun waits for others than people.
func (c *Course) held(task string) bool {
	last := c.last(task)
	return last.Until.IsZero() && last.Kind == LooksPending
}

// last returns the latest span of a task, one of no kind if it has none.
func (c *Course) last(task string) *Span {
	if spans := c.Tasks[task]; len(spans) > 0 {
		return &spans[len(spans)-1]
	}
	return &Span{}
}

// take adds that the last span of a task has waited for a worker until then.
func (c *Course) take(e opt.Event) {
	ref, _ := opt.ParseID(e.TaskID)
	spans := c.Tasks[ref.TaskID]
	if len(spans) == 0 || !spans[len(spans)-1].Until.IsZero() || spans[len(spans)-1].Kind != LooksWorking {
		return
	}
	last := spans[len(spans)-1]
	if e.At.Millis() <= last.From.Millis() { // by a clock that is slow
		return
	}
	spans = spans[:len(spans)-1]
	from := a2a.AtMillis(max(last.From.Millis(), e.At.Millis()-e.Waited))
	if last.From.Millis() < from.Millis() { // a leg before it has worked
		before := last
		before.Until = from
		spans = append(spans, before)
	}
	last.From = e.At
	c.Tasks[ref.TaskID] = append(spans, Span{Kind: LooksPending, From: from, Until: e.At, Attempt: e.Attempt, Untaken: true}, last)
}

// close ends the last span of a task, if it lasts, and the task with it unless end is "".
func (c *Course) close(task string, at a2a.Time, end Kind) {
	spans := c.Tasks[task]
	if n := len(spans); n > 0 && spans[n-1].Until.IsZero() {
		spans[n-1].Until, spans[n-1].End = at, end
	}
}

// Total returns how many milliseconds at least one task was in a state of a kind, until now.
func (c *Course) Total(kind Kind, now a2a.Time) (total int64) {
	var all []Span
	for _, spans := range c.Tasks {
		for _, s := range spans {
			if s.Kind == kind {
				all = append(all, s)
			}
		}
	}
	slices.SortFunc(all, func(a, b Span) int { return int(a.From.Millis() - b.From.Millis()) })
	covered := int64(0)
	for _, s := range all {
		until := now.Millis()
		if !s.Until.IsZero() {
			until = s.Until.Millis()
		}
		from := max(covered, s.From.Millis())
		total += max(0, until-from)
		covered = max(covered, until)
	}
	return total
}

// Ready returns when nothing that a task of p waits for was left; ok is false if something is.
func (c *Course) Ready(p *opt.Plan, t *opt.Task) (at a2a.Time, ok bool) {
	begun := c.Plans[p.ID]
	at = begun
	for _, b := range p.Before(t) {
		spans := c.Tasks[b.ID]
		if !b.Done() || len(spans) == 0 {
			return at, false
		}
		if last := spans[len(spans)-1].Until; last.Millis() > at.Millis() {
			at = last
		}
	}
	return at, !begun.IsZero()
}

// Work returns the spans of the work on a task until now. One that lasts ends now, and its end is that it works.
func (c *Course) Work(task string, now a2a.Time) []Span {
	spans := slices.Clone(c.Tasks[task])
	if last := len(spans) - 1; last >= 0 && spans[last].Until.IsZero() {
		spans[last].Until, spans[last].End = a2a.AtMillis(max(now.Millis(), spans[last].From.Millis())), LooksWorking
	}
	return spans
}

// Took returns how long a span of [Course.Work] is, for people.
func (s Span) Took() string { return opt.InUnits(s.Until.Millis()-s.From.Millis(), 10) }

// Class returns the kind of the end of a span of [Course.Work]: "waiting" of one that waits for people, "untaken" and
// "ready" of those that wait for a worker and for others.
func (s Span) Class() string {
	switch {
	case s.Kind == LooksWaiting:
		return "waiting"
	case s.Untaken:
		return "untaken"
	case s.Kind == LooksPending:
		return "ready"
	}
	return string(cmp.Or(s.End, LooksCompleted))
}

// What says what a span is.
func (s Span) What() string {
	what := map[string]string{"waiting": "Waited for people", "untaken": "Waited for a worker", "ready": "Waited for others"}[s.Class()]
	work := cmp.Or(When(s.Attempt > 0, "Attempt "+strconv.Itoa(s.Attempt)), "Work")
	return cmp.Or(what, work+When(s.End == LooksFailed || s.End == LooksCanceled, ", "+string(s.End)))
}

// SpentText says how long an objective has taken until now, and for how much of that people were waited for.
func (c *Course) SpentText(now a2a.Time) string {
	if c.Begun.IsZero() {
		return ""
	}
	if !c.Ended.IsZero() {
		now = c.Ended
	}
	text := opt.InUnits(now.Millis()-c.Begun.Millis(), 10)
	if waited := c.Total(LooksWaiting, now); waited >= 1000 {
		part := opt.InUnits(waited, 10)
		if part == text {
			part = "all"
		}
		text += ", " + part + " of it for people"
	}
	return text
}
