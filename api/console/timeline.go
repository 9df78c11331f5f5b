package console

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
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
func (m moment) Text() string { return eventText(m.of, m.Event) }

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
	out := view{Template: "timeline", Title: "Timeline of " + a2a.Visible(o.Name), Data: timeline{o, momentsOf(o, page.Events), page.Next, decisions, q.Get("page") != ""}}
	if q.Get("page") == "" {
		out.Events, out.Refresh = eventsOf(o), refreshEvery
	}
	return out, err
}

func momentsOf(o *opt.Objective, events []shown.Recorded) []moment {
	return each(events, func(r shown.Recorded) moment { return moment{r, o} })
}

// eventTexts describe events for which the same words serve each time, with those of [wordsOf] in them.
var eventTexts = map[opt.EventKind]string{
	opt.ObjectiveOpened:   "{asker} asked for it",
	opt.ObjectiveRetried:  "Attempt {attempt} at the objective begins",
	opt.ObjectiveMoved:    "The objective is {stage}{said}",
	opt.ObjectivePaused:   "The objective was paused",
	opt.ObjectiveResumed:  "The objective was resumed",
	opt.ObjectiveChanged:  "The name, the description or the metadata of the objective was changed",
	opt.ObjectiveQueued:   "The objective waits for its turn in its context",
	opt.ObjectiveStopping: "The objective is being stopped{by}, and will be {end}{said}",
	opt.PlanAdded:         "Plan {plan} was added{replaces}",
	opt.PlanChanged:       "The text or the order of plan {plan} was changed",
	opt.PlanStarted:       "Plan {plan} may begin its tasks",
	opt.PlanMoved:         "Plan {plan} is {stage}",
	opt.PlanPaused:        "Plan {plan} was paused",
	opt.PlanResumed:       "Plan {plan} was resumed",
	opt.PlanRetried:       "Attempt {attempt} at plan {plan} begins",
	opt.PlanStopping:      "Plan {plan} is being stopped{reason}",
	opt.TasksAdded:        "{tasks} {were} added to plan {plan}",
	opt.TasksReopened:     "The results of {tasks} of plan {plan} are made again",
	opt.TaskTried:         "Attempt {attempt} begins{again}{said}",
	opt.TaskTaken:         "A worker has taken it after {waited}",
	opt.TaskLinked:        "Another task stands in for it: {link}",
	opt.SourceRewound:     "The work was set back: an operator has reset it in Temporal, or Temporal was restored from an older copy",
}

// wordsOf returns the words of an event for its text. Those that follow others are "" if there is nothing to say.
func wordsOf(o *opt.Objective, e opt.Event) *strings.Replacer {
	return strings.NewReplacer(
		"{asker}", a2a.Visible(o.Principal), "{attempt}", strconv.Itoa(e.Attempt), "{by}", behind(" by ", a2a.Visible(e.Principal)), "{end}", e.Reason,
		"{plan}", nameOfPlan(o, e.PlanID), "{replaces}", when(len(e.Replaces) > 0, " and replaces "+opt.Count(len(e.Replaces), "plan")),
		"{tasks}", opt.Count(len(e.Tasks), "task"), "{were}", cmp.Or(when(len(e.Tasks) == 1, "was"), "were"), "{again}", when(e.Try > 1, " again"),
		"{stage}", stageText(e), "{reason}", reasonSuffix(e.Reason), "{said}", textSuffix(e), "{waited}", durationText(e.Waited), "{link}", a2a.Visible(e.Link),
	)
}

// orderText says what tasks of p wait for since an event.
func orderText(p *opt.Plan, order []opt.TaskOrder) string {
	name := func(id string) string {
		if t := p.Task(id); t != nil {
			return quoted(t.Name)
		}
		return "an earlier task"
	}
	return "The order was changed" + listed(": ", each(order, func(o opt.TaskOrder) string {
		return name(o.ID) + " waits for " + cmp.Or(listed("", each(o.Dependencies, name)), "nothing")
	}))
}

// eventText describes an event in plain words.
func eventText(o *opt.Objective, e opt.Event) string {
	if text, ok := eventTexts[e.Kind]; ok {
		return wordsOf(o, e).Replace(text)
	}
	switch e.Kind {
	case opt.TasksOrdered:
		return orderText(o.Plan(e.PlanID), e.Order)
	case opt.TaskMoved:
		return taskMoveText(e)
	case opt.ArtifactAdded:
		return "Made " + cmp.Or(quoted(e.Chunk.Artifact.Name), "an artifact")
	case opt.MessageAdded:
		return messageEventText(e)
	case opt.CommandAnswered:
		return "A change was refused: " + e.Answer.Refusal.Error()
	}
	return string(e.Kind)
}

// stageText returns the word for the state to which an event moves an objective or a plan, and the reason.
func stageText(e opt.Event) string {
	look := shown.Stage{Status: e.To, Reason: e.Reason}.Look()
	reason := look.ReasonText(e.Reason)
	if strings.HasPrefix(reason, "for ") {
		return look.Word + " " + reason
	}
	return look.Word + behind(": ", reason)
}

func taskMoveText(e opt.Event) string {
	switch {
	case e.Step == opt.Expire:
		return "The time of its question was over: " + shown.LookOfTask(e.To).Word
	case e.Step != "":
		return "Its question waits too long: " + string(e.Step)
	case e.Gate != nil:
		return "Waits for an answer: " + nameText(titleOfGate(e.Gate))
	case e.To == string(opt.TaskWorking) && e.Attempt > 1:
		return fmt.Sprintf("Is working, attempt %d", e.Attempt)
	}
	return "Is " + shown.LookOfTask(e.To).Word + reasonSuffix(e.Reason) + textSuffix(e)
}

func messageEventText(e opt.Event) string {
	switch d, principal := e.Decision, a2a.Visible(e.Principal); {
	case d != nil && d.DecidedBy == opt.ByTimer:
		return "No answer came in time: " + string(d.Action)
	case d != nil && d.Verdict != opt.Accepted:
		return "An answer of " + d.Who() + " was refused: " + verdictText(d.Verdict)
	case d != nil:
		return d.Who() + cmp.Or(behind(" decided: ", string(d.Action)), " answered")
	case e.Verdict != "" && !e.Verdict.Kept():
		return "A message of " + principal + " was refused: " + verdictText(e.Verdict)
	case principal == "":
		return "A message of the agent"
	default:
		return principal + " wrote a message"
	}
}

// reasonSuffix returns a reason as the end of a sentence, "" for none.
func reasonSuffix(reason string) string { return behind(": ", shown.ReasonText(reason)) }

// textSuffix returns the text of an event as the end of a sentence, "" for none.
func textSuffix(e opt.Event) string {
	if e.Status == nil {
		return ""
	}
	return behind(". ", shorten(a2a.Visible(e.Status.Text()), 200))
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
		p.Ticks = append(p.Ticks, tick{x, cmp.Or(when(at == begin, "start"), opt.InUnits(at-begin, at))})
	}
	if p.now > p.from && p.now < p.until {
		p.Now, _, _ = p.place(p.now, p.now)
	}
}

// Took returns how long the work on a task has taken, "" if it has not begun.
func (p *picture) Took(t *opt.Task) string {
	all := stretchesOf(p.course.Tasks[t.ID], a2a.AtMillis(p.now))
	if len(all) == 0 {
		return ""
	}
	return durationText(all[len(all)-1].Until.Millis() - all[0].From.Millis())
}

// Bars returns the bars of a task of a plan that are in the picture.
func (p *picture) Bars(plan *opt.Plan, t *opt.Task) (out []stretch) {
	all := stretchesOf(p.course.Tasks[t.ID], a2a.AtMillis(p.now))
	if ready, ok := readyAt(plan, t, p.course); ok && (len(all) > 0 || !t.State.Ended() && !plan.Status.Ended()) {
		begun := p.now
		if len(all) > 0 {
			begun = all[0].From.Millis()
		}
		if begun-ready >= leastShown {
			wait := shown.Span{From: a2a.AtMillis(ready), Until: a2a.AtMillis(begun)}
			all = append([]stretch{{Span: wait, Class: "ready", What: "Waited for its turn"}}, all...)
		}
	}
	for _, s := range all {
		var shown bool
		if s.X, s.W, shown = p.place(s.From.Millis(), s.Until.Millis()); shown {
			out = append(out, s)
		}
	}
	return out
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

// A stretch is a span of the work on a task, which ends now if it lasts, in words: a bar of the picture, or a
// row beside it.
type stretch struct {
	shown.Span
	Class, What string
	X, W        string // its place in the picture, in percent
}

// Took returns how long the stretch is, for people.
func (s stretch) Took() string { return durationText(s.Until.Millis() - s.From.Millis()) }

// stretchesOf returns the stretches of the work on a task.
func stretchesOf(spans []shown.Span, now a2a.Time) (out []stretch) {
	for i, span := range spans {
		s := stretch{Span: span}
		s.Class, s.What = describe(spans[i:])
		if s.Until.IsZero() {
			s.Until = a2a.AtMillis(max(now.Millis(), s.From.Millis()))
		}
		out = append(out, s)
	}
	return out
}

// describe says what the first of the stretches of the work on a task is. An attempt after which another one follows has
// failed.
func describe(spans []shown.Span) (class, what string) {
	s := spans[0]
	class, what = "completed", cmp.Or(when(s.Attempt > 0, "Attempt "+strconv.Itoa(s.Attempt)), "Work")
	switch {
	case s.Kind == shown.LooksWaiting:
		return "waiting", "Waited for people"
	case s.Untaken:
		return "untaken", "Waited for a worker"
	case s.Kind == shown.LooksPending:
		return "ready", "Waited for others"
	case s.End != "":
		class = string(s.End)
	case s.Until.IsZero():
		class = "working"
	case len(spans) > 1 && spans[1].Kind == shown.LooksWorking && spans[1].Attempt > s.Attempt:
		class = "failed"
	}
	return class, what + when(class == "failed" || class == "canceled", ", "+class)
}
