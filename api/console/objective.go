package console

import (
	"slices"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
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
	Why      why
	Spent    string // how long it has taken, and how much of it people were waited for
	Skill    string // "" for none
	Schedule string // id of the schedule that has started it, "" for none
	Origin   string // id of the objective that this one is a fork of, "" for none
	Position int    // in the queue of its context, 0 outside
	Percent  *int   // done, nil before the work and after it
	Links    []link
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

// showObjective shows an objective.
func showObjective(v *visit) (view, error) {
	if to := pageOf(v.r.PathValue("id")); to != "" && to != objectivePath(v.r.PathValue("id")) {
		return view{Location: to}, nil
	}
	at := spotOf(v.r)
	if at.drafts() && v.r.URL.Query().Has("do") { // a form that adds a step
		at.base = objectivePath(v.r.PathValue("id"))
		return view{Location: at.adding(v.r.URL.Query()).path()}, nil
	}
	out, err := objectiveView(v, at, nil)
	p, ok := out.Data.(objectivePage)
	if missed := v.r.URL.Query().Get(missedField); ok && missed != "" {
		out.Problem = missedText(p.Objective, missed)
	}
	return out, err
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
	p := objectivePage{Objective: o, Spot: at, Title: a2a.Visible(o.Name), Spent: spentText(&course, now), Links: linksOf(root.Metadata)}
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
	return addResult(v, view{Template: "objective", Title: p.Title, Data: p, Refresh: refreshEvery, Events: eventsOf(o)}, refused), nil
}

// addPictures adds the view that was chosen, and the panel beside it.
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
	return addPanel(p, f, root, course)
}

// addPanel adds the panel of the selected task or plan, or of the objective.
func addPanel(p *objectivePage, f forms, root read.Task, course *shown.Course) (err error) {
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

// A taskPanel shows a plan task beside the picture of its objective.
type taskPanel struct {
	*opt.Task
	In       *opt.Plan
	Stopping bool // it was asked to stop, and has not ended
	Running  int  // number of the attempt that runs, 0 for none
	Spans    []stretch

	*record
	Links  []link
	Change changeForm // of its state
}

// A planPanel shows a plan beside the picture.
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
	out := &taskPanel{Task: t, In: p, Spans: stretchesOf(course.Tasks[t.ID], a2a.At(f.cfg.Now())), Change: f.state(p, t)}
	outline, err := f.cfg.Service.Tasks.OutlineTask(f.r.Context(), f.call, read.TaskParams{ID: t.A2AID(), History: latestMessages, Scope: shown.ScopeTask})
	if err != nil {
		return nil, err
	}
	_ = outline.Metadata.Decode(opt.KeyAttempt, &out.Running) // stays 0
	out.Stopping, out.Links = outline.Metadata.Has(wire.KeyStopping), linksOf(outline.Metadata)
	out.record, err = recordOf(f.visit, f.o, outline, read.EventListParams{TaskID: t.ID, Limit: timelineSize})
	return out, err
}
