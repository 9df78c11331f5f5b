package console

import (
	"strings"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/opt/wire"
)

// A taskPage is the data of the page of a plan task.
type taskPage struct {
	*opt.Task
	Objective *opt.Objective
	Plan      *opt.Plan
	Key       string
	Note      string
	Stopping  bool // it was asked to stop, and has not ended
	Before    []taskRow
	After     []taskRow
	Running   int // number of the attempt that runs, 0 for none

	Artifacts []shownArtifact
	More      int // artifacts that are not shown
	Messages  []shownMessage
	Moments   []moment
	Links     []link

	taskForms
}

// taskView returns the page of a plan task. refused is a form that was refused.
func taskView(v *visit, id, key string, refused *refusedForm) (view, error) {
	shown, err := v.cfg.Service.Objectives.GetObjective(v.r.Context(), v.call, read.GetObjectiveParams{ID: id, Plans: true, Tasks: true})
	if err != nil {
		return view{}, err
	}
	o := shown.Objective
	p, t := taskAt(o, key)
	if t == nil {
		return view{}, unknownTask(key)
	}
	page := taskPage{Task: t, Objective: o, Plan: p, Key: key, Note: taskNote(t)}
	if t.Failure != "" {
		page.Note = beginningText(a2a.Visible(t.Failure), 4000)
	}
	for i, other := range p.Tasks {
		row := taskRow{Task: other, Key: taskKey(other), Number: i + 1}
		for _, b := range p.Before(t) {
			if b == other {
				page.Before = append(page.Before, row)
			}
		}
		for _, b := range p.Before(other) {
			if b == t {
				page.After = append(page.After, row)
			}
		}
	}
	if err := fillTask(v, &page); err != nil {
		return view{}, err
	}
	page.taskForms = formsOf(v, o, refused).ofTask(p, t)
	return addResult(v, view{Template: "task", Title: a2a.Visible(t.Name), Data: page, Refresh: refreshEvery, Events: eventsOf(o)}, refused), nil
}

// fillTask adds what only the task itself has: one that was not begun has no messages and
// no artifacts yet.
func fillTask(v *visit, page *taskPage) error {
	events, err := v.cfg.Service.Events.ListEvents(v.r.Context(), v.call, read.EventListParams{ObjectiveID: page.Objective.ID, TaskID: page.ID, Limit: timelineSize})
	if err != nil {
		return err
	}
	page.Moments = momentsOf(page.Objective, events.Events)
	outline, err := v.cfg.Service.Tasks.OutlineTask(v.r.Context(), v.call, read.TaskParams{ID: page.A2AID(), History: latestMessages, Scope: shown.ScopeTask})
	if err != nil {
		return err
	}
	_ = outline.Metadata.Decode(opt.KeyAttempt, &page.Running) // stays 0
	page.Stopping = outline.Metadata.Has(wire.KeyStopping)
	page.Links = linksOf(outline.Metadata)
	space := newBudget()
	page.Artifacts, page.More = artifactsOf(v, outline.Task, space)
	page.Messages = messagesOf(v, page.Objective, outline.History, space)
	return nil
}

// taskAt returns the task with a key, and its plan; nil for none.
func taskAt(o *opt.Objective, key string) (*opt.Plan, *opt.Task) {
	for _, p := range o.Plans {
		if plan, _, _ := strings.Cut(key, "-"); plan != planKey(p) {
			continue
		}
		for _, t := range p.Tasks {
			if taskKey(t) == key {
				return p, t
			}
		}
	}
	return nil, nil
}

func unknownTask(key string) *call.Fault {
	return &call.Fault{Kind: call.NotFound, Message: "Task not found", Info: map[string]string{"task": shorten(key, 40)}}
}
