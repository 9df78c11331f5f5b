package service

import (
	"cmp"
	"context"
	"encoding/json"

	"longhaul/a2a"
	"longhaul/opt"
)

// A hierarchy is the state of an objective and its plans and tasks after an
// event. From it a stream makes the updates for clients with the extension. Only
// events change it, so every client gets the same updates, wherever its stream
// began.
type hierarchy struct {
	id       string
	attempt  int // of the objective
	revision int64
	status   string            // of the objective
	plans    map[string]string // status by id

	paused    bool            // by a client
	root      a2a.TaskStatus  // of the attempt's root task, without what it says of a pause
	interrupt json.RawMessage // the root task's value of opt.KeyInterrupt, nil for none
}

// A change is the value of opt.KeyEvent. From and To are the same if the status
// did not change.
type change struct {
	Kind     string `json:"kind"` // objective, plan or task
	ID       string `json:"id"`
	From     string `json:"from,omitempty"`
	To       string `json:"to"`
	Revision int64  `json:"revision"` // of the objective
}

// hierarchyIn returns the hierarchy of a snapshot: t, which is v with an
// objective that was read after it.
func (s *Stream) hierarchyIn(ctx context.Context, v opt.TaskView, t Task) (*hierarchy, error) {
	_, seq, err := s.journal.Peek(ctx, s.tenant, v.Task.ID)
	switch {
	case err != nil:
		return nil, err
	case seq != v.Seq:
		return s.hierarchyAfter(ctx, v.Seq)
	}
	o := t.Objective
	v.Paused = false
	h := &hierarchy{
		id: o.ID, attempt: o.Attempt, revision: o.Revision, status: string(o.Status), plans: map[string]string{},
		paused: o.Paused, root: present(v).Status, interrupt: t.Metadata[opt.KeyInterrupt],
	}
	for _, p := range o.Plans {
		h.plans[p.ID] = string(p.Status)
	}
	return h, nil
}

// hierarchyAfter returns the hierarchy after an event.
func (s *Stream) hierarchyAfter(ctx context.Context, seq int64) (*hierarchy, error) {
	h := &hierarchy{id: s.objectiveID, plans: map[string]string{}}
	for at := int64(0); at < seq; {
		page, err := s.journal.Events(ctx, s.objectiveID, at, int(min(eventPage, seq-at)))
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			break
		}
		for _, r := range page {
			s.update(h, r.Event)
			at = r.Seq
		}
	}
	return h, nil
}

// update applies e to h and returns the additional update for clients with the
// extension on a root task's stream; ok is false if there is none.
func (s *Stream) update(h *hierarchy, e opt.Event) (u *a2a.StatusUpdate, ok bool) {
	if e.Kind == opt.TaskMoved && e.TaskID == opt.RootID(h.id, h.attempt) {
		h.moveRoot(s.status(e))
		return nil, false
	}
	told, at, ok := h.apply(e)
	if ref, ours := opt.ParseID(s.taskID); !ok || !ours || ref.Attempt != h.attempt {
		return nil, false
	}
	m := at.metadata(nil).With(opt.KeyEvent, told)
	if told.Kind == "plan" {
		m = place{objectiveID: h.id}.metadata(nil).With(opt.KeyPlanID, at.planID).With(opt.KeyEvent, told)
	}
	if h.interrupt != nil {
		m = m.With(opt.KeyInterrupt, h.interrupt)
	}
	u = &a2a.StatusUpdate{TaskID: s.taskID, ContextID: s.contextID, Status: h.root, Metadata: m}
	if h.paused && !h.root.State.Terminal() {
		u.Metadata = m.With(opt.KeyPaused, true)
		u.Status = paused(h.root, a2a.Task{ID: s.taskID, ContextID: s.contextID})
	}
	return u, true
}

// moveRoot applies an update of the root task. The time of its status is that of
// its last change of state.
func (h *hierarchy) moveRoot(u *a2a.StatusUpdate) {
	if u.Status.State == h.root.State {
		u.Status.At = h.root.At
	}
	h.root, h.interrupt = u.Status, u.Metadata[opt.KeyInterrupt]
}

// begin begins an attempt with a new root task.
func (h *hierarchy) begin(attempt int, at a2a.Time) {
	h.attempt, h.paused, h.root, h.interrupt = max(attempt, 1), false, a2a.TaskStatus{State: a2a.Submitted, At: at}, nil
}

// apply applies e to h, and returns the change and its place; ok is false if
// clients do not see it.
func (h *hierarchy) apply(e opt.Event) (told change, at place, ok bool) {
	at = place{objectiveID: h.id}
	switch e.Kind {
	case opt.ObjectiveOpened:
		h.begin(e.Objective.Attempt, e.At)
		h.revision = e.Objective.Revision
		told = h.moved("objective", h.id, &h.status, "", string(e.Objective.Status))
	case opt.ObjectiveRetried:
		h.begin(e.Attempt, e.At)
		told = h.moved("objective", h.id, &h.status, e.From, string(opt.ObjectiveSubmitted))
	case opt.ObjectiveMoved:
		told = h.moved("objective", h.id, &h.status, e.From, e.To)
	case opt.ObjectivePaused, opt.ObjectiveResumed:
		h.paused = e.Kind == opt.ObjectivePaused
		told = h.moved("objective", h.id, &h.status, "", h.status)
	case opt.ObjectiveChanged:
		h.revision = max(h.revision, e.Revision)
		told = h.moved("objective", h.id, &h.status, "", h.status)
	case opt.PlanAdded, opt.PlanMoved, opt.PlanChanged, opt.PlanPaused, opt.PlanResumed, opt.PlanRetried, opt.TasksAdded, opt.TasksReopened:
		at.planID = e.PlanID
		told = h.plan(e)
	case opt.TaskMoved, opt.TaskLinked:
		ref, _ := opt.ParseID(e.TaskID)
		if ref.TaskID == "" {
			return told, at, false // the root task of an earlier attempt
		}
		at = placeOf(h.id, e.TaskID)
		told = change{"task", ref.TaskID, e.From, cmp.Or(e.To, string(opt.TaskPending)), h.revision}
		if e.Kind == opt.TaskLinked {
			told.From = told.To
		}
	default:
		return told, at, false
	}
	return told, at, true
}

func (h *hierarchy) plan(e opt.Event) change {
	status := h.plans[e.PlanID]
	to := status
	switch e.Kind {
	case opt.PlanAdded:
		to = string(e.Plan.Status)
	case opt.PlanMoved:
		to = e.To
	case opt.PlanRetried:
		to = string(opt.PlanPending)
	}
	told := h.moved("plan", e.PlanID, &status, e.From, to)
	h.plans[e.PlanID] = status
	return told
}

// moved changes a status, and returns the change.
func (h *hierarchy) moved(kind, id string, status *string, from, to string) change {
	told := change{kind, id, cmp.Or(from, *status), to, h.revision}
	*status = to
	return told
}
