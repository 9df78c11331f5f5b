package api_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"longhaul/a2a"
	"longhaul/api/service"
	"longhaul/opt"
)

// A memory is a journal that forgets. It applies events as the real one does.
type memory struct {
	mu         sync.Mutex
	down       error
	calls      int
	objectives map[string]*opt.Objective
	tasks      map[string]*opt.TaskView
	log        map[string][]opt.Recorded
	sources    map[string]int64
	judgements map[string]opt.Judgement
	watches    map[*watch]string
	kept       map[string]a2a.Time
	wanted     opt.TaskWant // of the task that was read last
	shown      func()       // called after an objective was read; nil for nothing
}

func newMemory() *memory {
	return &memory{
		objectives: map[string]*opt.Objective{}, tasks: map[string]*opt.TaskView{}, log: map[string][]opt.Recorded{},
		sources: map[string]int64{}, judgements: map[string]opt.Judgement{}, watches: map[*watch]string{}, kept: map[string]a2a.Time{},
	}
}

type watch struct {
	m *memory
	c chan struct{}
}

func (w *watch) C() <-chan struct{} { return w.c }

func (w *watch) Close() {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	delete(w.m.watches, w)
}

func (m *memory) Watch(objectiveID string) service.Watch {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := &watch{m, make(chan struct{}, 1)}
	m.watches[w] = objectiveID
	return w
}

func (m *memory) watching() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.watches)
}

// enter locks m for one call.
func (m *memory) enter(ctx context.Context) (func(), error) {
	m.mu.Lock()
	m.calls++
	if err := errors.Join(m.down, ctx.Err()); err != nil {
		m.mu.Unlock()
		return nil, err
	}
	return m.mu.Unlock, nil
}

func (m *memory) Record(ctx context.Context, b opt.Batch) error {
	leave, err := m.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	key := b.ObjectiveID + " " + b.Source
	for _, e := range b.Events {
		if e.N <= m.sources[key] {
			continue
		}
		if e.N != m.sources[key]+1 {
			return fmt.Errorf("event %d follows on %d", e.N, m.sources[key])
		}
		m.sources[key] = e.N
		seq := int64(len(m.log[b.ObjectiveID]) + 1)
		m.log[b.ObjectiveID] = append(m.log[b.ObjectiveID], opt.Recorded{Seq: seq, Event: e})
		m.apply(b.ObjectiveID, e, seq)
	}
	m.tell(b.ObjectiveID)
	return nil
}

func (m *memory) tell(objectiveID string) {
	for w, id := range m.watches {
		if id == objectiveID {
			select {
			case w.c <- struct{}{}:
			default:
			}
		}
	}
}

// play records events of an objective as its workflow would.
func (m *memory) play(objectiveID string, events ...opt.Event) {
	m.mu.Lock()
	n := m.sources[objectiveID+" "+objectiveID]
	m.mu.Unlock()
	for i := range events {
		n++
		events[i].N = n
		if events[i].At.IsZero() {
			events[i].At = a2a.AtMillis(start.UnixMilli() + 100*n)
		}
	}
	if err := m.Record(context.Background(), opt.Batch{ObjectiveID: objectiveID, Source: objectiveID, Events: events}); err != nil {
		panic(err)
	}
}

func (m *memory) apply(id string, e opt.Event, seq int64) {
	switch e.Kind {
	case opt.ObjectiveOpened:
		o := *e.Objective
		m.objectives[id] = &o
		m.add(opt.TaskView{ObjectiveID: id, IsRoot: true, Name: o.Name, MessageID: o.MessageID, Digest: o.Digest}, o.RootID(), e.At)
	case opt.PlanAdded:
		p := *e.Plan
		o := m.objectives[id]
		o.Plans = append(o.Plans, &p)
		for _, t := range p.Tasks {
			m.add(opt.TaskView{ObjectiveID: id, PlanID: p.ID, Index: t.Index, Name: t.Name, Dependencies: t.Dependencies}, t.ID, e.At)
			m.tasks[t.ID].State = t.State
		}
	case opt.ObjectiveMoved, opt.ObjectiveStopping, opt.ObjectiveChanged:
		m.obey(m.objectives[id].Apply(e))
	case opt.ObjectiveAgain:
		o := m.objectives[id]
		m.obey(o.Apply(e))
		m.add(opt.TaskView{ObjectiveID: id, IsRoot: true, Name: o.Name, MessageID: o.MessageID, Digest: o.Digest}, o.RootID(), e.At)
	case opt.PlanMoved:
		p := m.objectives[id].Plan(e.PlanID)
		p.Status, p.Reason, p.UpdatedAt = opt.PlanStatus(e.To), e.Reason, e.At
		p.Started = p.Started || e.To == "working" && e.Reason != opt.ByHand
	case opt.PlanStopping, opt.PlanChanged, opt.PlanAgain, opt.TasksAdded, opt.TaskLinked:
		p := m.objectives[id].Plan(e.PlanID)
		if e.Kind == opt.PlanAgain {
			p.Status = opt.PlanFailed // its objective has made it pending already
		}
		m.obey(p.Apply(e))
		for _, t := range p.Tasks {
			if m.tasks[t.A2AID()] == nil {
				m.add(opt.TaskView{ObjectiveID: id, PlanID: p.ID, Index: t.Index, Name: t.Name, Dependencies: t.Dependencies}, t.A2AID(), e.At)
			}
		}
	case opt.TaskMoved:
		m.move(m.tasks[e.TaskID], e)
		if p := m.objectives[id].Plan(e.PlanID); p != nil {
			t := p.Task(e.TaskID)
			t.State, t.Reason, t.Gate, t.ByHand = opt.TaskState(e.To), e.Reason, e.Gate, t.ByHand || e.Reason == opt.ByHand
		} else if o := m.objectives[id]; e.TaskID == o.RootID() {
			o.Root, o.RootGate = opt.TaskState(e.To), ""
			if e.Gate != nil {
				o.RootGate = e.Gate.ID
			}
		}
	case opt.TaskTried:
		m.tasks[e.TaskID].Attempt = e.Attempt
	case opt.ArtifactAdded:
		for _, to := range []string{e.TaskID, e.RootID} {
			if t := m.tasks[to]; t != nil {
				add(t, *e.Chunk)
			}
		}
	}
	if e.Message != nil {
		m.judgements[id+" "+e.Principal+" "+e.Message.MessageID] = opt.Judgement{Seq: seq, TaskID: e.TaskID, Verdict: e.Verdict, Digest: e.Message.Digest()}
		if e.Verdict.Kept() {
			t := m.tasks[e.TaskID]
			t.Task.History = append(t.Task.History, *e.Message)
		}
	}
}

func (m *memory) obey(err error) {
	if err != nil {
		panic(err)
	}
}

func (m *memory) add(v opt.TaskView, id string, at a2a.Time) {
	o := m.objectives[v.ObjectiveID]
	v.State, v.Principal = opt.TaskPending, o.Principal
	if v.IsRoot {
		v.State = opt.TaskSubmitted
	}
	v.Task = a2a.Task{ID: id, ContextID: o.ContextID, Status: a2a.TaskStatus{State: a2a.Submitted, At: at}}
	m.tasks[id] = &v
}

func (m *memory) move(t *opt.TaskView, e opt.Event) {
	if said := t.Task.Status.Message; said != nil {
		t.Task.History = append(t.Task.History, *said)
	}
	at := e.At
	if t.State == opt.TaskState(e.To) {
		at = t.Task.Status.At // a status is as old as its state
	}
	t.State, t.Attempt = opt.TaskState(e.To), max(t.Attempt, e.Attempt)
	t.Task.Status = a2a.TaskStatus{State: t.State.A2A(), At: at, Message: e.Status}
	t.Gates = nil
	if e.Gate != nil {
		t.Gates = []*opt.Gate{e.Gate}
	}
}

func add(t *opt.TaskView, c opt.Chunk) {
	for i, a := range t.Task.Artifacts {
		if a.ArtifactID == c.Artifact.ArtifactID && c.Append {
			t.Task.Artifacts[i].Parts = append(slices.Clone(a.Parts), c.Artifact.Parts...)
			return
		}
	}
	t.Task.Artifacts = append(t.Task.Artifacts, c.Artifact)
}

func (m *memory) view(t *opt.TaskView, want opt.TaskWant) opt.TaskView {
	v := *t
	if o := m.objectives[v.ObjectiveID]; v.IsRoot && !o.QueuedAt.IsZero() {
		v.QueuedAt, v.Position = o.QueuedAt, 1
		for _, other := range m.objectives {
			if other.Tenant == o.Tenant && other.ContextID == o.ContextID && !other.QueuedAt.IsZero() && other.QueuedAt.Millis() < o.QueuedAt.Millis() {
				v.Position++
			}
		}
	}
	v.Seq = int64(len(m.log[v.ObjectiveID]))
	m.wanted = want
	v.Task.History = slices.Clone(v.Task.History[max(0, len(v.Task.History)-want.History):])
	if v.Task.Artifacts = slices.Clone(v.Task.Artifacts); !want.Artifacts {
		v.Task.Artifacts = nil
	}
	if !v.IsRoot {
		return v
	}
	v.Gates = nil
	for _, p := range m.objectives[v.ObjectiveID].Plans {
		for _, task := range p.Tasks {
			inner := m.tasks[task.A2AID()]
			v.Gates = append(v.Gates, inner.Gates...)
			if v.PlanID == "" && !v.State.Ended() && !inner.State.Ended() && inner.State != opt.TaskPending {
				v.PlanID, v.Index = p.ID, inner.Index
			}
		}
	}
	return v
}

func (m *memory) mine(tenant, objectiveID string) (*opt.Objective, error) {
	if o := m.objectives[objectiveID]; o != nil && o.Tenant == tenant {
		return o, nil
	}
	return nil, fmt.Errorf("%s: %w", objectiveID, opt.ErrUnknown)
}

func (m *memory) Task(ctx context.Context, tenant, id string, want opt.TaskWant) (opt.TaskView, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return opt.TaskView{}, err
	}
	defer leave()
	if t := m.tasks[id]; t != nil {
		if _, err := m.mine(tenant, t.ObjectiveID); err == nil {
			return m.view(t, want), nil
		}
	}
	return opt.TaskView{}, fmt.Errorf("task %s: %w", id, opt.ErrUnknown)
}

func (m *memory) Peek(ctx context.Context, tenant, id string) (opt.TaskState, int64, error) {
	v, err := m.Task(ctx, tenant, id, opt.TaskWant{})
	return v.State, v.Seq, err
}

func (m *memory) Tasks(ctx context.Context, tenant string, f opt.TaskFilter) ([]opt.TaskView, int, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer leave()
	var list []opt.TaskView
	total := 0
	for _, t := range m.tasks {
		if _, err := m.mine(tenant, t.ObjectiveID); err != nil || f.ContextID != "" && f.ContextID != t.Task.ContextID ||
			f.State != "" && f.State != t.Task.Status.State || t.Task.Status.At.Millis() < f.Since.Millis() {
			continue
		}
		total++
		if f.After == (opt.Cursor{}) || later(f.After, opt.Cursor{At: t.Task.Status.At, ID: t.Task.ID}) {
			list = append(list, m.view(t, f.Want))
		}
	}
	slices.SortFunc(list, func(a, b opt.TaskView) int {
		return cmp.Or(cmp.Compare(b.Task.Status.At.Millis(), a.Task.Status.At.Millis()), strings.Compare(b.Task.ID, a.Task.ID))
	})
	return list[:min(len(list), f.Limit)], total, nil
}

// later reports whether a stands before b in a list that is newest first.
func later(a, b opt.Cursor) bool {
	return cmp.Or(cmp.Compare(a.At.Millis(), b.At.Millis()), strings.Compare(a.ID, b.ID)) > 0
}

func (m *memory) Objective(ctx context.Context, tenant, id string) (*opt.Objective, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	o, err := m.mine(tenant, id)
	if err != nil {
		return nil, err
	}
	if m.shown != nil {
		defer m.shown()
	}
	return m.whole(o), nil
}

func (m *memory) Keep(ctx context.Context, tenant, id string, at a2a.Time) error {
	_, err := m.Objective(ctx, tenant, id)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept[id] = at
	return err
}

// forget removes an objective.
func (m *memory) forget(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objectives, id)
	delete(m.log, id)
	maps.DeleteFunc(m.sources, func(key string, _ int64) bool { return strings.HasPrefix(key, id) })
	maps.DeleteFunc(m.tasks, func(_ string, v *opt.TaskView) bool { return v.ObjectiveID == id })
	m.tell(id)
}

// Whole returns what Objective does, since no task here has artifacts of its own.
func (m *memory) Whole(ctx context.Context, tenant, id string) (*opt.Objective, error) {
	return m.Objective(ctx, tenant, id)
}

// whole returns a copy of o with its tasks as they are now.
func (m *memory) whole(o *opt.Objective) *opt.Objective {
	out := *o
	out.Plans = nil
	for _, p := range o.Plans {
		plan := *p
		plan.Tasks = nil
		for _, t := range p.Tasks {
			task := *t
			plan.Tasks = append(plan.Tasks, &task)
		}
		out.Plans = append(out.Plans, &plan)
	}
	return &out
}

func (m *memory) Objectives(ctx context.Context, tenant string, f opt.ObjectiveFilter) ([]*opt.Objective, int, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer leave()
	var list []*opt.Objective
	total := 0
	for _, o := range m.objectives {
		if o.Tenant != tenant || f.Status != "" && f.Status != o.Status {
			continue
		}
		total++
		if f.After == (opt.Cursor{}) || later(f.After, opt.Cursor{At: o.CreatedAt, ID: o.ID}) {
			list = append(list, m.whole(o))
		}
	}
	slices.SortFunc(list, func(a, b *opt.Objective) int {
		return cmp.Or(cmp.Compare(b.CreatedAt.Millis(), a.CreatedAt.Millis()), strings.Compare(b.ID, a.ID))
	})
	return list[:min(len(list), f.Limit)], total, nil
}

func (m *memory) Plan(ctx context.Context, tenant, id string) (*opt.Plan, error) {
	ref, _ := opt.ParseID(id)
	o, err := m.Objective(ctx, tenant, ref.ObjectiveID)
	if err != nil {
		return nil, err
	}
	if p := o.Plan(id); p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("plan %s: %w", id, opt.ErrUnknown)
}

func (m *memory) Queue(ctx context.Context, tenant, contextID string) (q opt.Queue, err error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return q, err
	}
	defer leave()
	for _, o := range m.objectives {
		switch {
		case o.Tenant != tenant || o.ContextID != contextID || o.Status.Ended():
		case !o.QueuedAt.IsZero():
			q.Waiting++
			if o.QueuedAt.Millis() > q.Last.Millis() {
				q.Last = o.QueuedAt
			}
		case o.Status != opt.ObjectiveSubmitted || o.Attempt == 1 && o.MessageID != "":
			q.Busy = append(q.Busy, o.ID)
		}
	}
	slices.Sort(q.Busy)
	return q, nil
}

func (m *memory) Events(ctx context.Context, objectiveID string, after int64, limit int) ([]opt.Recorded, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	rest := m.log[objectiveID][min(int(after), len(m.log[objectiveID])):]
	return slices.Clone(rest[:min(len(rest), limit)]), nil
}

func (m *memory) Judgement(ctx context.Context, objectiveID, principal, messageID string) (opt.Judgement, bool, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return opt.Judgement{}, false, err
	}
	defer leave()
	j, ok := m.judgements[objectiveID+" "+principal+" "+messageID]
	return j, ok, nil
}

func (m *memory) Key(context.Context, string) ([]byte, error) { return make([]byte, 32), nil }

func (m *memory) Ping(context.Context) error { return m.down }
