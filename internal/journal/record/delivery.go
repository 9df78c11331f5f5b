package record

import (
	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

// deliverFirst makes deliveries of the first state of a task to the configs that have
// waited for it.
func deliverFirst(r *rows, e *entry, taskID string) {
	if r.o.pushes > 0 {
		r.Do("UPDATE push_configs SET pending = 0 WHERE objective_id = $1 AND tenant = $2", r.objectiveID, r.o.tenant)
		deliver(r, e, taskID, opt.TaskSubmitted)
	}
}

// deliverMove makes deliveries of the state to which e moves a task, unless it is in
// that state, at the same gate, before e is applied.
func deliverMove(r *rows, e *entry) {
	if r.o.pushes == 0 {
		return
	}
	var shown a2a.TaskState
	var doc db.Content
	var before, after opt.Gate
	r.Get("SELECT shown, gate FROM tasks WHERE id = $1", db.Args{e.TaskID}, &shown, &doc)
	r.Decode(doc, &before)
	if e.Gate != nil {
		after = *e.Gate
	}
	if to := opt.TaskState(e.To); shown != to.A2A() || before.ID != after.ID {
		deliver(r, e, e.TaskID, to)
	}
}

// deliver makes deliveries of a state to the configs of a task that want it.
func deliver(r *rows, e *entry, taskID string, to opt.TaskState) {
	var kind, gate string
	if e.Gate != nil {
		kind, gate = string(e.Gate.Kind), e.Gate.ID
	}
	var always outbox.PushSet
	n := r.Do(`INSERT INTO deliveries (objective_id, task_id, config_id, n, state, at, gate_kind, gate_id, status, since, tries, handed_at)
		SELECT c.objective_id, c.task_id, c.id, $3, $4, $5, $6, $7, 'due', $5, 0, 0 FROM push_configs c
		WHERE c.objective_id = $1 AND c.task_id = $2 AND (c.states = 'all' OR $8 = 1)
		ON CONFLICT (objective_id, task_id, config_id, n) DO NOTHING`,
		r.objectiveID, taskID, r.seq(), string(to.A2A()), e.At.Millis(), kind, gate, db.Flag(always.Delivers(to.A2A())))
	r.C.Changes.Due = r.C.Changes.Due || n > 0
}
