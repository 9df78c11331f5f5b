package read

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A Reader reads things by ids from callers. Unknown things and things of other
// tenants give the same fault.
type Reader struct{ Journal Journal }

// A Journal has what clients see. Things of other tenants and things that do not exist give
// the same error, which wraps opt.ErrUnknown.
type Journal interface {
	Task(ctx context.Context, tenant, id string, want shown.TaskWant) (shown.TaskView, error)
	Objective(ctx context.Context, tenant, id string) (*opt.Objective, error)
	ReadBlob(ctx context.Context, objectiveID, id string) ([]byte, error)
}

// Task reads a task that the caller names. An id that cannot be valid is unknown,
// and does not reach the journal.
func (r Reader) Task(ctx context.Context, c *call.Call, id string, want shown.TaskWant) (shown.TaskView, error) {
	if !call.IsValidID(id) {
		return shown.TaskView{}, call.TaskUnknown(id)
	}
	v, err := r.Journal.Task(ctx, c.Tenant, id, want)
	if errors.Is(err, opt.ErrUnknown) {
		return shown.TaskView{}, call.TaskUnknown(id)
	}
	if err == nil {
		c.SetIDs(v.ObjectiveID, id)
	}
	return v, err
}

// Objective reads an objective that the caller names.
func (r Reader) Objective(ctx context.Context, c *call.Call, id string) (*opt.Objective, error) {
	missing := call.Missing("OBJECTIVE_NOT_FOUND", "Objective", id)
	if !call.IsValidID(id) {
		return nil, missing
	}
	o, err := r.objective(ctx, c, id, missing)
	if err == nil {
		c.SetIDs(id, "")
	}
	return o, err
}

// objective reads an objective; missing is the fault if there is none.
func (r Reader) objective(ctx context.Context, c *call.Call, id string, missing *call.Fault) (*opt.Objective, error) {
	o, err := r.Journal.Objective(ctx, c.Tenant, id)
	if errors.Is(err, opt.ErrUnknown) {
		return nil, missing
	}
	return o, err
}

// Plan reads a plan that the caller names, within its objective.
func (r Reader) Plan(ctx context.Context, c *call.Call, id string) (*opt.Objective, *opt.Plan, error) {
	missing := call.Missing("PLAN_NOT_FOUND", "Plan", id)
	ref, ok := opt.ParseID(id)
	if !ok {
		return nil, nil, missing
	}
	o, err := r.objective(ctx, c, ref.ObjectiveID, missing)
	if err != nil {
		return nil, nil, err
	}
	p := o.Plan(id)
	if p == nil {
		return nil, nil, missing
	}
	c.SetIDs(o.ID, "")
	return o, p, nil
}

// PlanTask reads a plan task that the caller names, within its plan and
// objective.
func (r Reader) PlanTask(ctx context.Context, c *call.Call, id string) (ShownTask, error) {
	missing := call.PlanTaskUnknown(id)
	ref, ok := opt.ParseID(id)
	if !ok || ref.TaskID == "" {
		return ShownTask{}, missing
	}
	o, err := r.objective(ctx, c, ref.ObjectiveID, missing)
	if err != nil {
		return ShownTask{}, err
	}
	t, ok := TaskIn(o, ref.PlanID, id)
	if !ok {
		return ShownTask{}, missing
	}
	c.SetIDs(o.ID, t.Task.A2AID())
	return t, nil
}

func TaskIn(o *opt.Objective, planID, id string) (ShownTask, bool) {
	p := o.Plan(planID)
	if p == nil {
		return ShownTask{}, false
	}
	t := p.Task(id)
	return ShownTask{Task: t, Plan: p, Objective: o}, t != nil
}

// Show returns a task in the form for the caller.
func (r Reader) Show(ctx context.Context, c *call.Call, v shown.TaskView) (Task, error) {
	t := Task{Task: ToTask(v)}
	if err := r.attach(ctx, v.ObjectiveID, &t.Task); err != nil {
		return t, err
	}
	t.Metadata = t.Metadata.WithIf(c.Knows(a2a.ExtensionStream), a2a.ExtensionStream, Position{Sequence: v.Seq}).
		WithIf(c.Knows(a2a.ExtensionBudget) && v.IsRoot, a2a.ExtensionBudget, opt.BillFor(v.Used.Usage))
	if !c.KnowsOPT() || !v.IsRoot {
		return t, nil
	}
	var err error
	t.Objective, err = r.Journal.Objective(ctx, c.Tenant, v.ObjectiveID)
	return t, err
}

// A Position is the value of [a2a.ExtensionStream] in the metadata of a task or an event.
type Position struct {
	Sequence int64 `json:"sequence"`      // of the latest event that is in it; higher for each later one of the task
	Gap      bool  `json:"gap,omitempty"` // of a task with which a stream begins: events before it may be missing
}

// attach puts large contents back into the parts of a task.
func (r Reader) attach(ctx context.Context, objectiveID string, t *a2a.Task) (err error) {
	for i := range t.History {
		if t.History[i].Parts, err = r.Parts(ctx, objectiveID, t.History[i].Parts); err != nil {
			return err
		}
	}
	t.Artifacts = slices.Clone(t.Artifacts)
	for i := range t.Artifacts {
		if t.Artifacts[i].Parts, err = r.Parts(ctx, objectiveID, t.Artifacts[i].Parts); err != nil {
			return err
		}
	}
	if message := t.Status.Message; message != nil {
		message.Parts, err = r.Parts(ctx, objectiveID, message.Parts)
	}
	return err
}

// AttachEvent puts large contents back into the parts of an event.
func (r Reader) AttachEvent(ctx context.Context, objectiveID string, e a2a.Event) (err error) {
	if e.Status != nil && e.Status.Status.Message != nil {
		message := e.Status.Status.Message
		message.Parts, err = r.Parts(ctx, objectiveID, message.Parts)
	}
	if e.Artifact != nil {
		e.Artifact.Artifact.Parts, err = r.Parts(ctx, objectiveID, e.Artifact.Artifact.Parts)
	}
	return err
}

// Parts returns parts with their contents in the place of references. A content that is
// lost, since the journal was rebuilt without it, is replaced by a text that says so.
func (r Reader) Parts(ctx context.Context, objectiveID string, parts []a2a.Part) ([]a2a.Part, error) {
	read := r.content(ctx, objectiveID)
	out, err := a2a.Attach(parts, read)
	if !errors.Is(err, opt.ErrUnknown) {
		return out, err
	}
	out = slices.Clone(parts)
	for i, p := range out {
		if p.Ref == nil {
			continue
		}
		if _, err := read(p.Ref.ID); errors.Is(err, opt.ErrUnknown) {
			text := fmt.Sprintf("[%d bytes of content are lost: only the journal had them, and it was rebuilt without them]", p.Ref.Size)
			out[i] = a2a.Part{Text: &text, Filename: p.Filename, Metadata: p.Metadata}
		}
	}
	return a2a.Attach(out, read)
}

// content returns a function that reads the contents of an objective.
func (r Reader) content(ctx context.Context, objectiveID string) func(string) ([]byte, error) {
	return func(id string) ([]byte, error) { return r.Journal.ReadBlob(ctx, objectiveID, id) }
}
