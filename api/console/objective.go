package console

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/api/work"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/opt/wire"
)

// How much of an objective its page shows.
const (
	latestEvents   = 15
	latestMessages = 20
)

// An objectivePage is the data of the page of an objective: its picture, and beside it what
// the address selects, a task, a plan or the objective as a whole.
type objectivePage struct {
	*opt.Objective
	Title    string // the name of what the address selects
	Spot     spot
	Why      shown.Why
	Spent    string // how long it has taken, and how much of it people were waited for
	Skill    string // "" for none
	Schedule string // id of the schedule that has started it, "" for none
	Origin   string // id of the objective that this one is a fork of, "" for none
	Position int    // in the queue of its context, 0 outside
	Percent  *int   // done, nil before the work and after it
	Links    []choice
	Change   changeForm // of its state
	Forms    offers     // about it as a whole

	Picture *picture // nil in the other view
	Tree    *tree    // likewise, and without plans

	Draft *draftPanel // in place of those below
	Task  *taskPanel
	Plan  *planPanel
	Whole *record
}

// A record has the latest events and messages of an objective or a task, and its results.
type record struct {
	Results  []shownArtifact
	More     int // results that are not shown
	Messages []shownMessage
	Moments  []moment
}

// MayDraft reports whether the caller may change the plans in a draft.
func (p objectivePage) MayDraft() bool { return p.Forms["add-plan"] != nil && !p.Status.Ended() }

func showObjective(v *visit) (view, error) {
	if to := pageOf(v.r.PathValue("id")); to != "" && to != objectivePath(v.r.PathValue("id")) {
		return view{Location: to}, nil
	}
	at := spotOf(v.r)
	if at.drafts() && v.r.URL.Query().Has("do") { // a form that adds a step
		at.base = objectivePath(v.r.PathValue("id"))
		return view{Location: at.adding(v.r.URL.Query()).path()}, nil
	}
	return objectiveView(v, at, nil)
}

// objectiveView returns the page of an objective. refused is a form that was refused, whose
// contents stay; nil for none.
func objectiveView(v *visit, at spot, refused *change) (view, error) {
	id := v.r.PathValue("id")
	o, err := v.objective(id)
	if err != nil {
		return view{}, err
	}
	course, err := v.cfg.Service.Events.GetCourse(v.r.Context(), v.call, id)
	if err != nil {
		return view{}, err
	}
	root, err := v.cfg.Service.Tasks.OutlineTask(v.r.Context(), v.call, read.TaskParams{ID: o.RootID(), History: latestMessages, Scope: shown.ScopeObjective})
	if err != nil {
		return view{}, err
	}
	now := a2a.At(v.cfg.Now())
	p := objectivePage{Objective: o, Spot: at, Title: a2a.Visible(o.Name), Spent: course.SpentText(now), Links: linksOf(root.Metadata)}
	p.Schedule, _ = o.Metadata.String(opt.KeySchedule)
	p.Skill, _ = o.Metadata.String(opt.KeySkill)
	var of opt.ForkOf
	_ = o.Metadata.Decode(opt.KeyForkOf, &of) // stays empty
	p.Origin = of.ObjectiveID
	_ = root.Metadata.Decode(opt.KeyQueuePosition, &p.Position) // stays 0
	_ = root.Metadata.Decode(opt.KeyProgress, &p.Percent)       // stays nil
	if p.Why, err = whyOf(v, o, &course, p.Position); err != nil {
		return view{}, err
	}
	forms := forms{v, o, refused}
	p.Change, p.Forms = forms.state(nil, nil), forms.ofObjective()
	if err := addPictures(&p, forms, root, &course, now); err != nil {
		return view{}, err
	}
	out := view{Template: "objective", Title: p.Title, Data: p, Refresh: refreshEvery, Events: eventsOf(o), Problem: missedText(o, v.r.URL.Query().Get(missedField))}
	return addResult(v, out, refused), nil
}

// addPictures adds the view that was chosen, and beside it the panel of the selected task or plan, or of the objective.
func addPictures(p *objectivePage, f forms, root read.Task, course *shown.Course, now a2a.Time) (err error) {
	switch {
	case p.Spot.drafts() && len(p.Plans) > 0:
		p.Tree, p.Draft, err = draftPanelOf(f, p.Spot)
		return err
	case p.Spot.Graph():
		p.Tree = treeOf(p.Objective, p.Spot.To, nil)
	default:
		p.Picture = pictureOf(p.Objective, course, p.Spot, now)
	}
	switch task, plan := p.Spot.Get("task"), p.Spot.Get("plan"); {
	case task != "":
		in, t := taskOf(p.Objective, idOf(p.ID, task))
		if t == nil {
			return call.PlanTaskUnknown(task)
		}
		p.Title = a2a.Visible(t.Name)
		p.Task, err = taskPanelOf(f, in, t, course)
	case plan != "":
		at := p.Objective.Plan(idOf(p.ID, plan))
		if at == nil {
			return call.Missing("PLAN_NOT_FOUND", "Plan", plan)
		}
		p.Title = a2a.Visible(at.Name)
		p.Plan = &planPanel{at, f.state(at, nil), f.allows(opt.Command{Kind: opt.AddTasks, PlanID: at.ID, Tasks: []opt.TaskSpec{{Name: "another"}}})}
	default:
		p.Whole, err = recordOf(f.visit, p.Objective, root, read.EventListParams{Limit: latestEvents})
	}
	return err
}

// recordOf returns what a page shows of an A2A task of an objective, with some of its events.
func recordOf(v *visit, o *opt.Objective, t read.Task, p read.EventListParams) (*record, error) {
	p.ObjectiveID = o.ID
	events, err := v.cfg.Service.Events.ListEvents(v.r.Context(), v.call, p)
	if err != nil {
		return nil, err
	}
	r, show := &record{Moments: momentsOf(o, events.Events)}, viewer{markdown: v.markdown, measure: recordMeasure}
	r.Results, r.More = show.artifacts(t.Task)
	r.Messages = show.messages(o, t.History)
	return r, nil
}

// missedField is the query field of the page of an objective for a change that was to be made at once, and
// perhaps was not: missedStart of a new attempt, or missedPause.
const (
	missedField = "missed"
	missedStart = "start"
	missedPause = "pause"
)

// missedText returns the text that something was not done at once, "" if it was, or has lost its sense.
func missedText(o *opt.Objective, missed string) string {
	switch ended := o.Status.Ended(); {
	case missed == missedStart && !o.Started && o.QueuedAt.IsZero() && !ended:
		return "The new attempt waits: it was not started. Start it here."
	case missed != missedPause || o.Paused:
		return ""
	case ended:
		return "The objective was not paused: it ended before that."
	}
	return "The objective has begun and was not paused. Pause it here, if its work is to wait until you have read the plan."
}

type taskPanel struct {
	*opt.Task
	In       *opt.Plan
	Stopping bool // it was asked to stop, and has not ended
	Running  int  // number of the attempt that runs, 0 for none
	Spans    []shown.Span

	*record
	Links  []choice
	Change changeForm // of its state
}

type planPanel struct {
	*opt.Plan
	Change changeForm // of its state
	Draft  bool       // its tasks and its order can be changed in a draft
}

// Before lists the tasks that the task waits for, and After those that wait for it.
func (p *taskPanel) Before() []*opt.Task { return p.In.Before(p.Task) }
func (p *taskPanel) After() []*opt.Task {
	return filter(p.In.Tasks, func(o *opt.Task) bool { return slices.Contains(p.In.Before(o), p.Task) })
}

// taskPanelOf returns the panel of a plan task. One that was not begun has no messages and no artifacts yet.
func taskPanelOf(f forms, p *opt.Plan, t *opt.Task, course *shown.Course) (*taskPanel, error) {
	out := &taskPanel{Task: t, In: p, Spans: course.Work(t.ID, a2a.At(f.cfg.Now())), Change: f.state(p, t)}
	outline, err := f.cfg.Service.Tasks.OutlineTask(f.r.Context(), f.call, read.TaskParams{ID: t.A2AID(), History: latestMessages, Scope: shown.ScopeTask})
	if err != nil {
		return nil, err
	}
	_ = outline.Metadata.Decode(opt.KeyAttempt, &out.Running) // stays 0
	out.Stopping, out.Links = outline.Metadata.Has(wire.KeyStopping), linksOf(outline.Metadata)
	out.record, err = recordOf(f.visit, f.o, outline, read.EventListParams{TaskID: t.ID, Limit: timelineSize})
	return out, err
}

// whyOf returns why o waits, works or has ended; position is its place in the queue. It adds what others do meanwhile:
// the workers, and the objective that has the turn in the context.
func whyOf(v *visit, o *opt.Objective, c *shown.Course, position int) (shown.Why, error) {
	w := shown.WhyOf(o, c, position)
	switch w.Did {
	case shown.DidBegin:
		workers, known := v.cfg.Service.Overviews.Workforce(v.r.Context())
		if wait := workers.WaitOf(c.Tasks[w.Of], a2a.At(v.cfg.Now())); known && wait != "" {
			w.Before = wait + ":"
		}
	case shown.DidQueue:
		page, err := v.list(shown.ObjectiveSearch{ObjectiveFilter: shown.ObjectiveFilter{Limit: objectivesSize}, ContextID: o.ContextID})
		for _, other := range page.Objectives {
			if other.ID != o.ID && !other.Status.Ended() && other.QueuedAt.IsZero() {
				w.Name, w.Of, w.After = shown.Name(other.Name), other.ID, "of "+shorten(a2a.Visible(other.Principal), 40)
			}
		}
		return w, err
	}
	return w, nil
}

// A change is a form that was sent, about an objective or a part of it.
type change struct {
	*visit
	objectiveID string
	id          string // of that objective, or of the plan or the task in it that the path names
	button      string // which button
	revision    int64
	at          spot     // the page that is shown again if the change is refused
	next        spot     // the page that is shown if it is made
	said        []string // more fields of the address of that, names and values in turn
	unconfirmed int      // plans that had not confirmed it
	made        int      // steps of a draft that were carried out before it was refused

	fault  *call.Fault // why it was refused
	reused bool        // it was sent before with other contents, as from another tab
}

// errForm is the fault of a form without the fields that all forms have.
var errForm = call.InvalidField("form", "is incomplete: open the page again")

// errAction is the fault of a form whose button no page has.
var errAction = call.InvalidField("do", "names no change")

// changing returns what makes the change that a form on the page of an objective asks for, or on that of the plan
// or task that the path of the form names. A form that is refused shows its page again, to callers who may read it.
func changing(apply func(*change) error) func(*visit) (view, error) {
	return func(v *visit) (view, error) {
		v.call.OfOPT = true
		id := v.r.PathValue("id")
		c := &change{visit: v, objectiveID: id, id: id, button: v.field("do"), at: spotOf(v.r)}
		for _, part := range []string{"plan", "task"} {
			if key := v.r.PathValue(part); key != "" {
				c.at, c.id = c.at.with(part, key), idOf(id, key)
			}
		}
		c.next = c.at.sent()
		var err error
		key := v.field("key")
		if c.revision, err = strconv.ParseInt(v.field("revision"), 10, 64); err != nil || key == "" || len(key) > 100 || c.revision <= 0 {
			return view{}, errForm
		}
		v.call.Key, v.call.KeyField = key+":"+c.button, "key"
		return v.submit(func() (string, error) {
			if err = apply(c); c.unconfirmed > 0 {
				c.said = append(c.said, "unconfirmed", strconv.Itoa(c.unconfirmed))
			}
			return c.next.At(c.next.base, append(c.said, "done", c.button)...), err
		}, func(f *call.Fault) (view, error) {
			if f.Kind != call.InvalidState && f.Kind != call.InvalidParams && f.Kind != call.Unavailable {
				return view{}, f
			}
			c.fault, c.reused = f, errors.Is(err, opt.ErrConflict)
			return objectiveView(v, c.at, c)
		})
	}
}

// perform makes a change of the objective as it was seen.
func (c *change) perform(cmd opt.Command) error {
	cmd.ObjectiveID, cmd.Seen = c.objectiveID, c.revision
	n, err := c.cfg.Service.Work.Perform(c.r.Context(), c.call, cmd)
	c.unconfirmed += n
	return err
}

func changeState(c *change) error {
	ref, ok := opt.ParseID(c.id)
	if !ok || ref.ObjectiveID != c.objectiveID || (ref.TaskID != "") != (c.r.PathValue("task") != "") {
		return opt.ErrUnknown
	}
	all := buttonsOf(c.id)
	i := slices.IndexFunc(all, func(b button) bool { return b.Do == c.button })
	if i < 0 {
		return errAction
	}
	if err := c.perform(all[i].command(c.id)); err != nil || c.id != c.objectiveID || c.button != "retry" {
		return err
	}
	c.call.Key += ":start" // the new attempt waits until it is started
	c.revision = 0
	fault := c.cfg.Service.Guard(c.call, func() error {
		return c.perform(opt.Command{Kind: opt.UpdateObjective, Status: string(opt.ObjectiveWorking)})
	})
	if fault != nil { // the attempt stays
		c.said = append(c.said, missedField, missedStart)
	}
	return nil
}

func changeText(c *change) error {
	return c.perform(opt.Command{Kind: opt.UpdateObjective, Change: &opt.Change{Name: new(c.trimmed("name")), Description: new(c.trimmed("description"))}})
}

func replan(c *change) error {
	return c.perform(opt.Command{Kind: opt.Replan, Text: c.field("reason")})
}

// fork starts another objective from an event of this one, and shows it.
func fork(c *change) error {
	p := work.ForkParams{ID: c.objectiveID, Message: c.trimmed("message"), Repeat: c.field("repeat") != ""}
	if text := c.trimmed("at"); text != "" {
		var err error
		if p.At, err = strconv.Atoi(text); err != nil || p.At < 1 {
			return call.InvalidField("at", "is not the number of an event")
		}
	}
	made, err := c.cfg.Service.Forks.ForkObjective(c.r.Context(), c.call, p)
	if err == nil {
		c.next = spot{objectivePath(made.ID), listing{url.Values{}}}
	}
	return err
}

func addPlan(c *change) error {
	after := func(key string) string { return idOf(c.objectiveID, key) }
	spec := opt.PlanSpec{Name: c.trimmed("name"), Description: c.trimmed("description"), Dependencies: append([]string{}, each(c.r.PostForm["after"], after)...)}
	if c.field("optional") != "" {
		spec.Metadata = spec.Metadata.With(opt.KeyOptional, true)
	}
	for line := range strings.Lines(c.field("tasks")) {
		if name := strings.TrimSpace(line); name != "" {
			spec.Tasks = append(spec.Tasks, opt.TaskSpec{Name: name})
		}
	}
	return c.perform(opt.Command{Kind: opt.CreatePlan, Plan: &spec})
}

// sendDraft makes the changes of a draft, one after another. Those that were made are no longer in
// it if one is refused.
func sendDraft(c *change) error {
	o, err := c.objective(c.objectiveID)
	if err != nil {
		return err
	}
	d, lines := draftOf(forms{visit: c.visit, o: o}, c.at)
	if slices.ContainsFunc(lines, draftLine.refused) && o.Revision == c.revision {
		return errAction
	}
	key, steps := c.call.Key, slices.Clone(c.at.Values["step"])
	for _, a := range d.asked {
		c.call.Key = key + ":" + strconv.FormatInt(c.revision, 10)
		if err := c.perform(a.Command); err != nil {
			return err
		}
		for _, i := range a.steps {
			if steps[i] != "" {
				steps[i] = ""
				c.made++
			}
		}
		c.revision++
		left := slices.DeleteFunc(slices.Clone(steps), func(text string) bool { return text == "" })
		c.at = c.at.stepping(left).with("draft", numberText(c.revision))
	}
	return nil
}
