package read

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// Receipt returns the result of a change of work for a caller who may not read that: ids and states,
// and what became of the call, also what waits for what. Other results stay as they are.
func Receipt(result any) any {
	switch whole := result.(type) {
	case Task:
		return receiptOfTask(whole)
	case ShownObjective:
		return ShownObjective{Objective: stateOfObjective(whole.Objective), Unconfirmed: whole.Unconfirmed}
	case ShownPlan:
		return ShownPlan{Plan: stateOfPlan(whole.Plan), Tasks: whole.Tasks, Unconfirmed: whole.Unconfirmed}
	case ShownTask:
		return ShownTask{Task: stateOfTask(whole.Task), Plan: stateOfPlan(whole.Plan), Objective: stateOfObjective(whole.Objective)}
	}
	return result
}

func receiptOfTask(whole Task) Task {
	t := Task{Task: a2a.Task{ID: whole.ID, ContextID: whole.ContextID, Status: a2a.TaskStatus{State: whole.Status.State, At: whole.Status.At}}}
	for _, key := range []string{opt.KeyReplyPending, a2a.ExtensionCancel} {
		t.Metadata = t.Metadata.WithIf(whole.Metadata.Has(key), key, whole.Metadata[key])
	}
	return t
}

func stateOfObjective(o *opt.Objective) *opt.Objective {
	return &opt.Objective{
		ID: o.ID, ContextID: o.ContextID, Status: o.Status, Paused: o.Paused, Stopping: o.Stopping, Attempt: o.Attempt, Revision: o.Revision,
		CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt,
	}
}

func stateOfPlan(p *opt.Plan) *opt.Plan {
	out := &opt.Plan{
		ID: p.ID, ObjectiveID: p.ObjectiveID, Status: p.Status, Paused: p.Paused, Dependencies: p.Dependencies, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
	}
	for _, t := range p.Tasks {
		out.Tasks = append(out.Tasks, stateOfTask(t))
	}
	return out
}

func stateOfTask(t *opt.Task) *opt.Task {
	return &opt.Task{ID: t.ID, Index: t.Index, State: t.State, Run: t.Run, Link: t.Link, Follow: t.Follow, Dependencies: t.Dependencies}
}
