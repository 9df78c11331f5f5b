package api

import (
	"cmp"
	"context"
	"encoding/json"

	"longhaul/a2a"
	"longhaul/opt"
)

// A hierarchy is what the stream of a root task needs to know, where it stands in
// the order of events, to tell of changes above and below that task to a client
// that understands the extension. Nothing but the events changes it, so everybody
// is told the same, wherever a stream began.
type hierarchy struct {
	id       string
	attempt  int // of the objective
	revision int64
	status   string            // of the objective
	plans    map[string]string // status by id

	root      a2a.TaskStatus  // of the attempt's root task
	interrupt json.RawMessage // what that shows under opt.KeyInterrupt, nil for nothing
}

// A change is the value of opt.KeyEvent. What was changed without being moved has
// one status in both places.
type change struct {
	Kind     string `json:"kind"` // objective, plan or task
	ID       string `json:"id"`
	From     string `json:"from,omitempty"`
	To       string `json:"to"`
	Revision int64  `json:"revision"` // of the objective
}

// hierarchyIn returns the hierarchy as a snapshot shows it: t, which is v, and o,
// which was read after that.
func (f *feed) hierarchyIn(ctx context.Context, c *call, v opt.TaskView, t a2a.Task, o *opt.Objective) (*hierarchy, error) {
	_, seq, err := f.s.cfg.Journal.Peek(ctx, c.Tenant, v.Task.ID)
	switch {
	case err != nil:
		return nil, err
	case seq != v.Seq:
		return f.hierarchyAfter(ctx, v.Seq)
	}
	h := &hierarchy{
		id: o.ID, attempt: o.Attempt, revision: o.Revision, status: string(o.Status), plans: map[string]string{},
		root: t.Status, interrupt: t.Metadata[opt.KeyInterrupt],
	}
	for _, p := range o.Plans {
		h.plans[p.ID] = string(p.Status)
	}
	return h, nil
}

// hierarchyAfter returns the hierarchy as it was after an event.
func (f *feed) hierarchyAfter(ctx context.Context, seq int64) (*hierarchy, error) {
	h := &hierarchy{id: f.objectiveID, plans: map[string]string{}}
	for at := int64(0); at < seq; {
		page, err := f.s.cfg.Journal.Events(ctx, f.objectiveID, at, int(min(eventPage, seq-at)))
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			break
		}
		for _, r := range page {
			f.tell(h, r.Event)
			at = r.Seq
		}
	}
	return h, nil
}

// tell has h take in e and returns what that is to the watchers of a root task
// beside what it is to all; ok is false for nothing.
func (f *feed) tell(h *hierarchy, e opt.Event) (u *a2a.StatusUpdate, ok bool) {
	if e.Kind == opt.TaskMoved && e.TaskID == opt.RootID(h.id, h.attempt) {
		h.moveRoot(f.status(e))
		return nil, false
	}
	told, at, ok := h.apply(e)
	if ref, ours := opt.ParseID(f.taskID); !ok || !ours || ref.Attempt != h.attempt {
		return nil, false
	}
	m := at.metadata(nil).With(opt.KeyEvent, told)
	if told.Kind == "plan" {
		m = place{objectiveID: h.id}.metadata(nil).With(opt.KeyPlanID, at.planID).With(opt.KeyEvent, told)
	}
	if h.interrupt != nil {
		m = m.With(opt.KeyInterrupt, h.interrupt)
	}
	return &a2a.StatusUpdate{TaskID: f.taskID, ContextID: f.contextID, Status: h.root, Metadata: m}, true
}

// moveRoot takes in an update of the root task. Its status is as old as its state.
func (h *hierarchy) moveRoot(u *a2a.StatusUpdate) {
	if u.Status.State == h.root.State {
		u.Status.At = h.root.At
	}
	h.root, h.interrupt = u.Status, u.Metadata[opt.KeyInterrupt]
}

// begin begins an attempt, whose root task is new.
func (h *hierarchy) begin(attempt int, at a2a.Time) {
	h.attempt, h.root, h.interrupt = max(attempt, 1), a2a.TaskStatus{State: a2a.Submitted, At: at}, nil
}

// apply changes h as e says, and returns what was changed and where; ok is false
// if it is nothing that anybody is told of.
func (h *hierarchy) apply(e opt.Event) (told change, at place, ok bool) {
	at = place{objectiveID: h.id}
	switch e.Kind {
	case opt.ObjectiveOpened:
		h.begin(e.Objective.Attempt, e.At)
		h.revision = e.Objective.Revision
		told = h.moved("objective", h.id, &h.status, "", string(e.Objective.Status))
	case opt.ObjectiveAgain:
		h.begin(e.Attempt, e.At)
		told = h.moved("objective", h.id, &h.status, e.From, string(opt.ObjectiveSubmitted))
	case opt.ObjectiveMoved:
		told = h.moved("objective", h.id, &h.status, e.From, e.To)
	case opt.ObjectiveChanged:
		h.revision = max(h.revision, e.Revision)
		told = h.moved("objective", h.id, &h.status, "", h.status)
	case opt.PlanAdded, opt.PlanMoved, opt.PlanChanged, opt.PlanAgain, opt.TasksAdded:
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
	case opt.PlanAgain:
		to = string(opt.PlanPending)
	}
	told := h.moved("plan", e.PlanID, &status, e.From, to)
	h.plans[e.PlanID] = status
	return told
}

// moved changes a status, and returns that.
func (h *hierarchy) moved(kind, id string, status *string, from, to string) change {
	told := change{kind, id, cmp.Or(from, *status), to, h.revision}
	*status = to
	return told
}
