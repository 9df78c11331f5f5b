package journal_test

import (
	"sync"

	"longhaul/a2a"
	"longhaul/opt"
)

// heads has the current states of an objective and its plans. It fills in what
// events carry of them, also for moves that the model would refuse.
type heads struct {
	mu    sync.Mutex
	head  opt.ObjectiveHead
	text  opt.Text
	plans map[string]*opt.PlanHead
	texts map[string]*opt.Text // of plans
	tasks map[string]string    // states
}

func newHeads(o opt.Objective) *heads {
	return &heads{head: *o.Head(), text: *o.Text(), plans: map[string]*opt.PlanHead{}, texts: map[string]*opt.Text{}, tasks: map[string]string{}}
}

// fill adds to e what its kind carries, unless it is there.
func (r *heads) fill(e *opt.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case opt.PlanAdded:
		if e.Plan != nil {
			r.plans[e.PlanID], r.texts[e.PlanID] = e.Plan.Head(), e.Plan.Text()
		}
	case opt.PlanMoved, opt.PlanStarted, opt.PlanPaused, opt.PlanResumed, opt.PlanStopping, opt.PlanRetried:
		if e.PlanHead == nil {
			r.fillPlan(e)
		}
	case opt.PlanChanged:
		if t := r.texts[e.PlanID]; t != nil && e.Text == nil {
			changeText(t, e.Change)
			now := *t
			e.Text = &now
		}
	case opt.TaskMoved:
		if from, ok := r.tasks[e.TaskID]; ok && e.From == "" {
			e.From = from
		}
		r.tasks[e.TaskID] = e.To
	default:
		r.fillObjective(e)
	}
}

func (r *heads) fillObjective(e *opt.Event) {
	h := &r.head
	switch e.Kind {
	case opt.ObjectiveMoved:
		h.Status, h.Reason, h.Started = opt.ObjectiveStatus(e.To), e.Reason, h.Started || e.Reason != opt.ByHand
		h.Failure = failure(h.Failure, e.Status)
		if h.Status != opt.ObjectiveSubmitted {
			h.QueuedAt = a2a.Time{}
		}
	case opt.ObjectiveStopping:
		h.Stopping, h.Failure = e.Reason, failure("", e.Status)
	case opt.ObjectivePaused, opt.ObjectiveResumed:
		h.Paused = e.Kind == opt.ObjectivePaused
	case opt.ObjectiveQueued:
		h.QueuedAt = e.QueuedAt
	case opt.ObjectiveChanged:
		if e.Change == nil && e.Text != nil { // of a planner
			r.text = *e.Text
		}
		changeText(&r.text, e.Change)
		h.Revision = max(h.Revision, e.Revision)
		text := r.text
		e.Text = &text
	case opt.ObjectiveRetried:
		*h = opt.ObjectiveHead{Status: opt.ObjectiveSubmitted, Attempt: e.Attempt, Revision: h.Revision}
	default:
		return
	}
	now := *h
	e.Head = &now
}

func (r *heads) fillPlan(e *opt.Event) {
	h := r.plans[e.PlanID]
	if h == nil {
		h = &opt.PlanHead{Status: opt.PlanPending} // one that is not there
	}
	switch e.Kind {
	case opt.PlanMoved:
		h.Status, h.Reason = opt.PlanStatus(e.To), e.Reason
	case opt.PlanStarted:
		h.Started = true
	case opt.PlanPaused, opt.PlanResumed:
		h.Paused = e.Kind == opt.PlanPaused
	case opt.PlanStopping:
		h.Stopping = e.Reason
	case opt.PlanRetried:
		*h = opt.PlanHead{Status: opt.PlanPending, Run: e.Attempt}
	}
	now := *h
	e.PlanHead = &now
}

// failure returns the text of a status message, or the previous text.
func failure(was string, m *a2a.Message) string {
	if m == nil {
		return was
	}
	return m.Text()
}

func changeText(t *opt.Text, c *opt.Change) {
	if c == nil {
		return
	}
	if c.Name != nil {
		t.Name = *c.Name
	}
	if c.Description != nil {
		t.Description = *c.Description
	}
	if c.Metadata != nil {
		t.Metadata = c.Metadata
	}
	if c.Dependencies != nil {
		t.Dependencies = c.Dependencies
	}
}
