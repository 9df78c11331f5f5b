package record

import (
	"cmp"

	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// addObjective adds the objective and its first root task, unless the objective
// exists.
func addObjective(r *rows, e *entry) (kept bool) {
	if r.o.exists {
		return false
	}
	o := e.Objective
	r.Fail(RemoveAllRemaining(r.C, o.ID))
	attempt := max(o.Attempt, 1)
	updated := cmp.Or(o.UpdatedAt, e.At).Millis()
	var pushes int
	r.Get(`INSERT INTO objectives
		(id, tenant, context_id, principal, message_id, digest, created_at, given, doc,
			status, reason, failure, stopping, started, paused, queued_at, attempt, revision, begun, ended,
			name, description, metadata, seq, updated_at, asked_at, planner, pushes, bytes)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, 0, $24, 0, $25,
			(SELECT COUNT(*) FROM push_configs WHERE objective_id = $1 AND tenant = $2),
			COALESCE((SELECT SUM(octet_length(data)) FROM blobs WHERE objective_id = $1), 0))
		RETURNING pushes`, db.Args{
		o.ID, o.Tenant, o.ContextID, o.Principal, o.MessageID, o.Digest, o.CreatedAt.Millis(), e.givenPlans, e.added,
		string(o.Status), o.Reason, db.Content(o.Failure), o.Stopping, db.Flag(o.Started), db.Flag(o.Paused), o.QueuedAt.Millis(), attempt, o.Revision,
		db.Flag(o.MessageID != ""), db.Flag(o.Status.Ended()), e.text.name, e.text.description, e.text.metadata, updated, e.text.planner}, &pushes)
	r.o = openObjective{tenant: o.Tenant, contextID: o.ContextID, attempt: attempt, pushes: pushes, createdAt: o.CreatedAt.Millis(), updatedAt: updated, exists: true}
	addRoot(r, o.MessageID, o.Digest, e.At)
	deliverFirst(r, e, o.RootID())
	if e.Message != nil {
		insertMessage(r, e, openingMessage, opt.RootID(o.ID, attempt), cmp.Or(o.Digest, e.messageDigest))
	}
	return true
}

// writeObjectiveHead writes the head of the objective.
func writeObjectiveHead(r *rows, h *opt.ObjectiveHead) {
	r.Do(`UPDATE objectives SET seq = $2, updated_at = $3, status = $4, reason = $5, failure = $6, stopping = $7, started = $8,
			paused = $9, queued_at = $10, attempt = $11, revision = $12, begun = $13, ended = $14, shapers = $15, spent = $16, bytes = bytes + $17
		WHERE id = $1`,
		r.objectiveID, r.o.seq, r.o.updatedAt, string(h.Status), h.Reason, db.Content(h.Failure), h.Stopping, db.Flag(h.Started),
		db.Flag(h.Paused), h.QueuedAt.Millis(), h.Attempt, h.Revision, db.Flag(h.Started || h.Status.Ended()), db.Flag(h.Status.Ended()), r.Encode(len(h.Shapers) > 0, h.Shapers),
		r.Encode(h.Spent != opt.Usage{}, h.Spent), r.o.bytes)
}

// writeObjectiveText writes the name and description of the objective.
func writeObjectiveText(r *rows, e *entry) {
	r.Do("UPDATE objectives SET name = $2, description = $3, metadata = $4, planner = $5 WHERE id = $1",
		r.objectiveID, e.text.name, e.text.description, e.text.metadata, e.text.planner)
}

// retryObjective begins a new attempt, with its own root task.
func retryObjective(r *rows, e *entry) {
	var messageID, digest string
	r.Get("SELECT message_id, digest FROM objectives WHERE id = $1", db.Args{r.objectiveID}, &messageID, &digest)
	r.o.attempt = e.Head.Attempt
	addRoot(r, messageID, digest, e.At)
}
