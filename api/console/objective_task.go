package console

import (
	"slices"
	"strconv"

	"longhaul/a2a"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/opt/wire"
)

// A taskPanel shows a plan task beside the picture of its objective.
type taskPanel struct {
	*opt.Task
	In       string // the name of its plan
	Key      string
	Note     string
	Input    string // that its executor reads, as JSON; "" for none
	Stopping bool   // it was asked to stop, and has not ended
	Before   []neighbour
	After    []neighbour
	Running  int // number of the attempt that runs, 0 for none
	Spans    []spanRow

	Artifacts []shownArtifact
	More      int // artifacts that are not shown
	Messages  []shownMessage
	Moments   []moment
	Links     []link

	taskForms
}

// A neighbour is a task that another one waits for, or that waits for it.
type neighbour struct {
	*opt.Task
	Key string
}

// A spanRow is a line about a stretch of the work on a task.
type spanRow struct {
	shown.Span
	What string
	Took string
}

// A planPanel shows a plan beside the picture.
type planPanel struct {
	*opt.Plan
	Look   shown.Look
	Key    string
	Reason string
	After  []string // names of the plans that it waits for
	planForms
}

func planPanelOf(o *opt.Objective, p *opt.Plan) *planPanel {
	look := shown.LookOfPlan(p)
	out := &planPanel{Plan: p, Look: look, Key: planKey(p), Reason: stageReason(look.Word, p.Reason)}
	for _, b := range o.Before(p) {
		out.After = append(out.After, nameOfPlan(o, b.ID))
	}
	return out
}

// taskPanelOf returns the panel of a plan task.
func taskPanelOf(v *visit, o *opt.Objective, p *opt.Plan, t *opt.Task, course *shown.Course) (*taskPanel, error) {
	out := &taskPanel{Task: t, In: p.Name, Key: taskKey(t), Note: taskNote(t), Spans: spanRows(course.Tasks[t.ID], a2a.At(v.cfg.Now()))}
	if t.Failure != "" {
		out.Note = beginningText(a2a.Visible(t.Failure), 4000)
	}
	if len(t.Input) > 0 {
		out.Input = beginningText(a2a.Visible(a2a.DataText(t.Input)), mostShown)
	}
	for _, other := range p.Tasks {
		if slices.Contains(p.Before(t), other) {
			out.Before = append(out.Before, neighbour{other, taskKey(other)})
		}
		if slices.Contains(p.Before(other), t) {
			out.After = append(out.After, neighbour{other, taskKey(other)})
		}
	}
	return out, fillTask(v, o, out)
}

// fillTask adds what only the task itself has: one that was not begun has no messages and
// no artifacts yet.
func fillTask(v *visit, o *opt.Objective, panel *taskPanel) error {
	events, err := v.cfg.Service.Events.ListEvents(v.r.Context(), v.call, read.EventListParams{ObjectiveID: o.ID, TaskID: panel.ID, Limit: timelineSize})
	if err != nil {
		return err
	}
	panel.Moments = momentsOf(o, events.Events)
	outline, err := v.cfg.Service.Tasks.OutlineTask(v.r.Context(), v.call, read.TaskParams{ID: panel.A2AID(), History: latestMessages, Scope: shown.ScopeTask})
	if err != nil {
		return err
	}
	_ = outline.Metadata.Decode(opt.KeyAttempt, &panel.Running) // stays 0
	panel.Stopping = outline.Metadata.Has(wire.KeyStopping)
	panel.Links = linksOf(outline.Metadata)
	space := newBudget()
	panel.Artifacts, panel.More = artifactsOf(v, outline.Task, space)
	panel.Messages = messagesOf(v, o, outline.History, space)
	return nil
}

// spanRows returns the lines about the work on a task.
func spanRows(spans []shown.Span, now a2a.Time) (out []spanRow) {
	for i, s := range spans {
		out = append(out, spanRow{s, spanText(spans, i), durationText(endOf(s, now) - s.From.Millis())})
	}
	return out
}

// spanText says what a task did in one of its spans.
func spanText(spans []shown.Span, i int) string {
	s := spans[i]
	what := "Attempt " + strconv.Itoa(s.Attempt)
	switch {
	case s.Kind == shown.LooksWaiting:
		return "Waited for people"
	case s.Untaken:
		return "Waited for a worker"
	case s.Kind == shown.LooksPending:
		return "Waited for others"
	case s.Attempt == 0:
		what = "Work"
	}
	switch barClass(spans, i) {
	case "failed":
		return what + ", failed"
	case "canceled":
		return what + ", canceled"
	}
	return what
}
