package console

import (
	"slices"

	"longhaul/a2a"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// How much of an objective its page shows.
const (
	latestEvents   = 15
	latestMessages = 20
)

// An objectivePage is the data of the page of an objective.
type objectivePage struct {
	*opt.Objective
	Look     shown.Look
	Reason   string // of the state, in plain words
	Skill    string // "" for none
	Schedule string // id of the schedule that has started it, "" for none
	Position int    // in the queue of its context, 0 outside
	Percent  *int   // done, nil before the work and after it
	Gates    []*opt.Gate
	Tree     *tree
	Sections []planSection

	Results  []shownArtifact
	More     int // results that are not shown
	Messages []shownMessage
	Moments  []moment
	Links    []link

	objectiveForms
}

// A planSection is a plan in the list of plans and tasks.
type planSection struct {
	*opt.Plan
	Look   shown.Look
	Key    string
	Reason string
	After  []string // names of the plans that it waits for
	Rows   []taskRow
	planForms
}

// A taskRow is a task in the list of tasks.
type taskRow struct {
	*opt.Task
	Key    string
	Number int
	Note   string // why it is in its state, or what it does; "" for nothing
	After  []int  // numbers of the tasks that it declares to wait for
}

// showObjective shows an objective, or one of its tasks if the address names one.
func showObjective(v *visit) (view, error) {
	if to := pageOf(v.r.PathValue("id")); to != "" {
		return view{Location: to}, nil
	}
	if key := v.r.URL.Query().Get("task"); key != "" {
		return taskView(v, v.r.PathValue("id"), key, nil)
	}
	out, err := objectiveView(v, v.r.PathValue("id"), nil)
	p, ok := out.Data.(objectivePage)
	switch q := v.r.URL.Query(); {
	case ok && q.Has(unpausedField):
		out.Problem = unpausedText(p.Objective)
	case ok && q.Has(unstartedField):
		out.Problem = unstartedText(p.Objective)
	}
	return out, err
}

// objectiveView returns the page of an objective. refused is a form that was refused, whose
// contents stay; nil for none.
func objectiveView(v *visit, id string, refused *refusedForm) (view, error) {
	found, err := v.cfg.Service.Objectives.GetObjective(v.r.Context(), v.call, read.GetObjectiveParams{ID: id, Plans: true, Tasks: true})
	if err != nil {
		return view{}, err
	}
	o := found.Objective
	root, err := v.cfg.Service.Tasks.OutlineTask(v.r.Context(), v.call, read.TaskParams{ID: o.RootID(), History: latestMessages, Scope: shown.ScopeObjective})
	if err != nil {
		return view{}, err
	}
	events, err := v.cfg.Service.Events.ListEvents(v.r.Context(), v.call, read.EventListParams{ObjectiveID: id, Limit: latestEvents})
	if err != nil {
		return view{}, err
	}
	look := shown.LookOf(o)
	p := objectivePage{Objective: o, Look: look, Reason: stageReason(look.Word, o.Reason), Tree: treeOf(o), Moments: momentsOf(o, events.Events)}
	p.Schedule, _ = o.Metadata.String(opt.KeySchedule)
	p.Skill, _ = o.Metadata.String(opt.KeySkill)
	_ = root.Metadata.Decode(opt.KeyQueuePosition, &p.Position) // stays 0
	_ = root.Metadata.Decode(opt.KeyProgress, &p.Percent)       // stays nil
	p.Links = linksOf(root.Metadata)
	space := newBudget()
	p.Results, p.More = artifactsOf(v, root.Task, space)
	p.Messages = messagesOf(v, o, root.History, space)
	forms := formsOf(v, o, refused)
	p.objectiveForms = forms.ofObjective()
	for _, plan := range o.Plans {
		p.Sections = append(p.Sections, sectionOf(o, plan, forms))
		for _, t := range plan.Waiting() {
			p.Gates = append(p.Gates, t.Gate)
		}
	}
	return addResult(v, view{Template: "objective", Title: a2a.Visible(o.Name), Data: p, Refresh: refreshEvery, Events: eventsOf(o)}, refused), nil
}

func sectionOf(o *opt.Objective, p *opt.Plan, forms forms) planSection {
	look := shown.LookOfPlan(p)
	s := planSection{Plan: p, Look: look, Key: planKey(p), Reason: stageReason(look.Word, p.Reason), planForms: forms.ofPlan(p)}
	if o.Unordered() {
		for _, b := range o.Before(p) {
			s.After = append(s.After, nameOfPlan(o, b.ID))
		}
	}
	for i, t := range p.Tasks {
		r := taskRow{Task: t, Key: taskKey(t), Number: i + 1, Note: taskNote(t)}
		if p.Unordered() {
			for _, b := range p.Before(t) {
				r.After = append(r.After, slices.Index(p.Tasks, b)+1)
			}
		}
		s.Rows = append(s.Rows, r)
	}
	return s
}

// unstartedField is the query field of the page of an objective whose new attempt was to be
// started, and perhaps was not.
const unstartedField = "unstarted"

// unstartedText returns the text that a new attempt has not started, "" if it has started, is
// in the queue or has ended.
func unstartedText(o *opt.Objective) string {
	if o.Started || !o.QueuedAt.IsZero() || o.Status.Ended() {
		return ""
	}
	return "The new attempt waits: it was not started. Start it here."
}

// unpausedField is the query field of the page of an objective that was to be paused at once,
// and perhaps was not.
const unpausedField = "unpaused"

// unpausedText returns the text that an objective was not paused at once, "" if it is paused.
func unpausedText(o *opt.Objective) string {
	switch {
	case o.Paused:
		return ""
	case o.Status.Ended():
		return "The objective was not paused: it ended before that."
	}
	return "The objective has begun and was not paused. Pause it here, if its work is to wait until you have read the plan."
}
