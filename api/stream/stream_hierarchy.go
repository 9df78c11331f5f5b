package stream

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"longhaul/a2a"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A hierarchy is the state of an objective and its plans and tasks after an
// event. From it the stream of a root task makes the updates about them: with the
// extension for clients that understand it, or else about the progress.
// Only events change it, so every client of a kind gets the same updates, wherever
// its stream began.
type hierarchy struct {
	id       string
	attempt  int // of the objective
	revision int64
	status   string            // of the objective
	plans    map[string]string // status by id
	work     planStates        // from which progress is computed
	progress *shown.Progress

	paused    bool            // by a client
	root      a2a.TaskStatus  // of the attempt's root task, without what it says of a pause
	interrupt json.RawMessage // the root task's value of opt.KeyInterrupt, nil for none
	asks      string          // the task at whose gate the root task waits; "" for none
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

// hierarchyIn returns the hierarchy of a snapshot: v, and an objective that was
// read after it; nil to read it now.
func (s *Stream) hierarchyIn(ctx context.Context, v shown.TaskView, o *opt.Objective) (*hierarchy, error) {
	if o == nil {
		var err error
		if o, err = s.journal.Objective(ctx, s.tenant, v.ObjectiveID); err != nil {
			return nil, err
		}
	}
	_, seq, err := s.journal.Peek(ctx, s.tenant, v.Task.ID)
	switch {
	case err != nil:
		return nil, err
	case seq != v.Seq:
		return s.hierarchyAfter(ctx, v.Seq)
	}
	v.Paused, v.Progress, v.Decided = false, nil, nil
	task := read.ToTask(v)
	h := &hierarchy{
		id: o.ID, attempt: o.Attempt, revision: o.Revision, status: string(o.Status), plans: map[string]string{},
		work: newWork(o.Plans), paused: o.Paused, root: task.Status, interrupt: task.Metadata[opt.KeyInterrupt],
	}
	if m := h.root.Message; m != nil && v.State.Waiting() {
		switch g := opt.GateIn(*m); {
		case g == nil: // by hand
		case slices.ContainsFunc(v.Gates, func(open *opt.Gate) bool { return open.ID == g.ID }):
			h.asks = g.TaskID
		default: // the root task has not moved since its gate was closed
			h.forgetQuestion()
		}
	}
	h.progress = shown.ProgressOf(h.work)
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

// update applies e to h and returns the additional update on a root task's
// stream; ok is false if there is none. It has the keys of the extension if the
// client understands that.
func (s *Stream) update(h *hierarchy, e opt.Event) (u *a2a.StatusUpdate, ok bool) {
	if e.Kind == opt.TaskMoved && e.TaskID == opt.RootID(h.id, h.attempt) {
		h.moveRoot(s.status(e), e.Gate)
		return nil, false
	}
	if e.Kind == opt.SourceRewound {
		h.rewind(s, e)
		u = &a2a.StatusUpdate{TaskID: s.taskID, ContextID: s.contextID, Status: h.root, Metadata: read.Place{ObjectiveID: h.id}.Metadata(nil).With(opt.KeyRewound, true)}
		h.addProgress(u, s)
		return u, e.PlanID != ""
	}
	ch, at, ok := h.apply(e)
	if h.work = h.work.after(e); ok {
		h.progress = shown.ProgressOf(h.work)
	}
	if ref, known := opt.ParseID(s.taskID); !ok || !known || ref.Attempt != h.attempt {
		return nil, false
	}
	u = &a2a.StatusUpdate{TaskID: s.taskID, ContextID: s.contextID, Status: h.root, Metadata: read.Place{ObjectiveID: h.id}.Metadata(nil)}
	if s.knowsOPT {
		u.Metadata = h.metadata(ch, at)
	}
	h.addProgress(u, s)
	h.addPause(u)
	return u, true
}

// addPause adds to an update that the work is paused, if it is.
func (h *hierarchy) addPause(u *a2a.StatusUpdate) {
	if h.paused && !h.root.State.Terminal() {
		u.Metadata = u.Metadata.With(opt.KeyPaused, true)
		u.Status = read.PausedStatus(h.root, a2a.Task{ID: u.TaskID, ContextID: u.ContextID})
	}
}

// metadata returns the metadata of an update for clients with the extension.
func (h *hierarchy) metadata(ch change, at read.Place) a2a.Metadata {
	m := at.Metadata(nil).With(opt.KeyEvent, ch)
	if ch.Kind == "plan" {
		m = read.Place{ObjectiveID: h.id}.Metadata(nil).With(opt.KeyPlanID, at.PlanID).With(opt.KeyEvent, ch)
	}
	return m.WithIf(h.interrupt != nil, opt.KeyInterrupt, h.interrupt)
}

// progressChanged reports whether clients without the extension get the progress: if it has
// changed, while the root task works. A question must not be repeated, since it would end
// their streams. The end of the root task also reports the end of the last task.
func (h *hierarchy) progressChanged(before *shown.Progress) bool {
	if h.root.State != a2a.Working || h.root.Message != nil || h.paused || h.progress == nil || h.progress.Text == "" || h.progress.Percent == 100 {
		return false
	}
	return before == nil || *before != *h.progress
}

// addProgress adds the progress to an update of the root task.
func (h *hierarchy) addProgress(u *a2a.StatusUpdate, s *Stream) {
	if ref, ok := opt.ParseID(s.taskID); !ok || ref.Attempt != h.attempt {
		return
	}
	u.Metadata, u.Status = read.WithProgress(u.Metadata, u.Status, h.progress, a2a.Task{ID: s.taskID, ContextID: s.contextID})
}

// moveRoot applies an update of the root task, which waits at a gate; nil for none. The time of
// its status is the time of its latest change of state, and never goes back, as in the journal: clocks differ.
func (h *hierarchy) moveRoot(u *a2a.StatusUpdate, at *opt.Gate) {
	if u.Status.State == h.root.State || u.Status.At.Millis() < h.root.At.Millis() {
		u.Status.At = h.root.At
	}
	h.root, h.interrupt, h.asks = u.Status, u.Metadata[opt.KeyInterrupt], ""
	if at != nil {
		h.asks = at.TaskID
	}
}

// forgetQuestion takes the question from the root task: its gate is closed. The root task moves
// after the task with the gate, and updates in between must not ask again.
func (h *hierarchy) forgetQuestion() { h.root.Message, h.interrupt, h.asks = nil, nil, "" }

// begin begins an attempt with a new root task.
func (h *hierarchy) begin(attempt int, at a2a.Time) {
	h.forgetQuestion()
	h.attempt, h.paused, h.root = max(attempt, 1), false, a2a.TaskStatus{State: a2a.Submitted, At: at}
}

// apply applies e to h, and returns the change and its place; ok is false if
// clients do not see it.
func (h *hierarchy) apply(e opt.Event) (ch change, at read.Place, ok bool) {
	at = read.Place{ObjectiveID: h.id}
	switch e.Kind {
	case opt.ObjectiveOpened:
		h.begin(e.Objective.Attempt, e.At)
		h.revision = e.Objective.Revision
		ch = h.changeStatus("objective", h.id, &h.status, "", string(e.Objective.Status))
	case opt.ObjectiveRetried:
		h.begin(e.Attempt, e.At)
		ch = h.changeStatus("objective", h.id, &h.status, e.From, string(opt.ObjectiveSubmitted))
	case opt.ObjectiveMoved:
		ch = h.changeStatus("objective", h.id, &h.status, e.From, e.To)
	case opt.ObjectivePaused, opt.ObjectiveResumed:
		h.paused = e.Kind == opt.ObjectivePaused
		ch = h.changeStatus("objective", h.id, &h.status, "", h.status)
	case opt.ObjectiveChanged:
		h.revision = max(h.revision, e.Revision)
		ch = h.changeStatus("objective", h.id, &h.status, "", h.status)
	case opt.PlanAdded, opt.PlanMoved, opt.PlanChanged, opt.PlanPaused, opt.PlanResumed, opt.PlanRetried, opt.TasksAdded, opt.TasksReopened, opt.TasksOrdered:
		at.PlanID = e.PlanID
		ch = h.plan(e)
	case opt.TaskMoved, opt.ExchangeAdded, opt.TaskLinked, opt.TaskProgressed:
		return h.task(e)
	default:
		return ch, at, false
	}
	return ch, at, true
}

func (h *hierarchy) task(e opt.Event) (ch change, at read.Place, ok bool) {
	ref, _ := opt.ParseID(e.TaskID)
	if ref.TaskID == "" {
		return ch, at, false // the root task of an earlier attempt
	}
	if e.Kind == opt.TaskMoved && e.TaskID == h.asks && !opt.TaskState(e.To).Waiting() {
		h.forgetQuestion()
	}
	ch = change{"task", ref.TaskID, e.From, cmp.Or(e.To, string(opt.TaskPending)), h.revision}
	if e.Kind == opt.TaskLinked {
		ch.From = ch.To
	}
	return ch, read.PlaceOf(h.id, e.TaskID), true
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
	ch := h.changeStatus("plan", e.PlanID, &status, e.From, to)
	h.plans[e.PlanID] = status
	return ch
}

// changeStatus changes a status, and returns the change.
func (h *hierarchy) changeStatus(kind, id string, status *string, from, to string) change {
	ch := change{kind, id, cmp.Or(from, *status), to, h.revision}
	*status = to
	return ch
}

// planStates are the plans of an objective and their tasks, with the fields from which the
// progress is computed.
type planStates []*opt.Plan

func newWork(plans []*opt.Plan) (w planStates) {
	for _, p := range plans {
		w = append(w, &opt.Plan{ID: p.ID, Name: p.Name, Status: p.Status})
		w.add(p.ID, p.Tasks)
	}
	return w
}

func (w planStates) plan(id string) *opt.Plan {
	for _, p := range w {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// add adds tasks to a plan, or replaces them. The end of an earlier attempt at a task
// may come after its latest one was added, and changes nothing.
func (w planStates) add(planID string, tasks []*opt.Task) {
	p := w.plan(planID)
	if p == nil {
		return
	}
	for _, t := range tasks {
		t := &opt.Task{ID: t.ID, Name: t.Name, State: t.State, Run: max(t.Run, 1), Said: t.Said, Percent: t.Percent}
		i := slices.IndexFunc(p.Tasks, func(old *opt.Task) bool { return old.ID == t.ID })
		switch {
		case i < 0:
			p.Tasks = append(p.Tasks, t)
		case t.Run >= p.Tasks[i].Run:
			t.Name = cmp.Or(t.Name, p.Tasks[i].Name) // an event about a task has no name
			p.Tasks[i] = t
		}
	}
}

// after returns the work after an event.
func (w planStates) after(e opt.Event) planStates {
	switch e.Kind {
	case opt.PlanAdded:
		return append(w, newWork([]*opt.Plan{e.Plan})...)
	case opt.PlanRetried, opt.TasksAdded, opt.TasksReopened:
		w.add(e.PlanID, e.Tasks)
	case opt.TaskMoved, opt.TaskProgressed:
		if ref, ok := opt.ParseID(e.TaskID); ok && ref.TaskID != "" {
			w.add(ref.PlanID, []*opt.Task{{ID: ref.TaskID, State: opt.TaskState(e.To), Run: ref.Attempt, Said: e.Said(), Percent: opt.PercentIn(e.Status)}})
		}
	}
	if p := w.plan(e.PlanID); p != nil {
		if e.PlanHead != nil {
			p.Status = e.PlanHead.Status
		}
		if e.Kind == opt.PlanChanged && e.Text != nil {
			p.Name = e.Text.Name
		}
	}
	return w
}
