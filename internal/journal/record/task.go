package record

import (
	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

const insertTask = `INSERT INTO tasks
	(id, objective_id, plan_id, idx, tenant, context_id, name, message_id, digest, dependencies, metadata, doc, link, follow,
		state, shown, active, ended, reason, attempt, fence, status_at, status_seq, status_id, said, gate)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, 0, 0, $20, 0, '', '', '')
	ON CONFLICT (id) DO NOTHING`

// addRoot adds the root task of the current attempt, which a message has begun.
func addRoot(r *rows, messageID, digest string, at a2a.Time) {
	state := opt.TaskSubmitted
	r.Do(insertTask, opt.RootID(r.objectiveID, r.o.attempt), r.objectiveID, "", r.o.attempt, r.o.tenant, r.o.contextID,
		"", messageID, digest, "", "", "", "", 0, string(state), string(state.A2A()), 0, 0, "", at.Millis())
}

// addTasks adds the tasks in e to its plan.
func addTasks(r *rows, e *entry) {
	for _, t := range e.tasks {
		r.Do(insertTask, t.A2AID(), r.objectiveID, e.PlanID, t.Index, r.o.tenant, r.o.contextID,
			db.Content(t.Name), "", "", t.dependencies, t.metadata, t.doc, t.Link, db.Flag(t.Follow),
			string(t.State), string(t.State.A2A()), db.Flag(isActive(t.State)), db.Flag(t.State.Ended()), t.Reason, e.At.Millis())
	}
}

// orderTasks notes what tasks wait for.
func orderTasks(r *rows, e *entry) {
	for _, o := range e.Order {
		n := r.Do("UPDATE tasks SET dependencies = $3 WHERE id = $1 AND objective_id = $2", o.ID, r.objectiveID, r.Encode(true, o.Dependencies))
		requireRow(r, n, "task", o.ID)
	}
}

// linkTask notes which task stands in for another.
func linkTask(r *rows, e *entry) {
	n := r.Do("UPDATE tasks SET link = $3, follow = $4 WHERE id = $1 AND objective_id = $2", e.TaskID, r.objectiveID, e.Link, db.Flag(e.Follow))
	requireRow(r, n, "task", e.TaskID)
}

// isActive reports whether a plan task in state s is being worked on.
func isActive(s opt.TaskState) bool { return s != opt.TaskPending && !s.Ended() }

// A taskRow is the data of a task that recording needs.
type taskRow struct {
	planID    string
	state     opt.TaskState
	ended     bool
	statusAt  int64
	statusSeq int64
	statusID  string
	fence     int64
}

// readTask reads a task, which has to be there.
func readTask(r *rows, id string) (t taskRow) {
	found := r.Get(`SELECT plan_id, state, ended, status_at, status_seq, status_id, fence FROM tasks WHERE id = $1 AND objective_id = $2`,
		db.Args{id, r.objectiveID}, &t.planID, &t.state, &t.ended, &t.statusAt, &t.statusSeq, &t.statusID, &t.fence)
	requireRow(r, int64(db.Flag(found)), "task", id)
	return t
}

// isLate reports whether e, from an attempt at t, comes too late: the task has
// ended, or a later attempt has recorded something. An event that comes from no
// attempt has no fence.
func (t taskRow) isLate(e *entry) bool { return t.ended || e.Fence() != 0 && e.Fence() < t.fence }

// moveTask moves a plan task or a root task.
func moveTask(r *rows, e *entry) {
	t := readTask(r, e.TaskID)
	deliverMove(r, e)
	noticeMove(r, e)
	to := opt.TaskState(e.To)
	statusID, statusSeq := replaceStatus(r, e, t)
	at := t.statusAt
	if e.From != e.To {
		at = max(at, e.At.Millis()) // a clock may go back
	}
	r.Do(`UPDATE tasks SET state = $2, shown = $3, active = $4, ended = $5, reason = $6, attempt = $7, fence = $8,
			status_at = $9, status_seq = $10, status_id = $11, said = $12, gate = $13
		WHERE id = $1`,
		e.TaskID, e.To, string(to.A2A()), db.Flag(t.planID != "" && isActive(to)), db.Flag(to.Ended()), e.Reason, e.Attempt, max(t.fence, e.Fence()),
		at, statusSeq, statusID, e.status, e.gate)
}

// replaceStatus returns the id and the seq of the status message of a task after e. The message that
// it replaces becomes part of the history, at its own seq.
func replaceStatus(r *rows, e *entry, t taskRow) (id string, seq int64) {
	if e.Status != nil {
		id = e.Status.MessageID
	}
	if id == t.statusID {
		return id, t.statusSeq
	}
	if t.statusID != "" {
		insertStatus(r, e.TaskID)
	}
	return id, r.seq()
}

// showProgress shows what an attempt says about its work, unless that comes too late: the task has
// ended, waits at a gate, or has a later attempt.
func showProgress(r *rows, e *entry) (kept bool) {
	t := readTask(r, e.TaskID)
	if t.isLate(e) || t.state != opt.TaskWorking {
		return false
	}
	id, seq := replaceStatus(r, e, t)
	r.Do("UPDATE tasks SET status_seq = $2, status_id = $3, said = $4, reason = CASE WHEN reason = $5 THEN '' ELSE reason END WHERE id = $1",
		e.TaskID, seq, id, e.status, opt.HeldByQuota)
	showAttempt(r, e)
	return true
}

// extendGate adds an exchange to the gate at which a task waits. A gate that an operator has
// closed with the workflow stays closed.
func extendGate(r *rows, e *entry) {
	readTask(r, e.TaskID)
	var doc db.Content
	var g *opt.Gate
	r.Get("SELECT gate FROM tasks WHERE id = $1", db.Args{e.TaskID}, &doc)
	if r.Decode(doc, &g); g != nil && g.ID == e.Gate.ID {
		g = g.Extended(*e.Gate)
		n := outbox.Notice{Kind: outbox.Changed, Tenant: r.o.tenant}
		n.Gate = *g
		addNotice(r, e, n)
		r.Do("UPDATE tasks SET gate = $2, said = $3 WHERE id = $1", e.TaskID, r.Encode(true, g), r.Encode(true, g.Message(r.o.contextID, e.TaskID)))
	}
}

// addTry notes a new try at a task, or that a worker took it, unless the event comes too late.
func addTry(r *rows, e *entry) (kept bool) {
	if readTask(r, e.TaskID).isLate(e) {
		return false
	}
	showAttempt(r, e)
	return true
}

// showAttempt notes the latest attempt at a task.
func showAttempt(r *rows, e *entry) {
	r.Do("UPDATE tasks SET attempt = $2, fence = $3 WHERE id = $1", e.TaskID, e.Attempt, e.Fence())
}
