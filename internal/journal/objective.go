package journal

import (
	"cmp"
	"context"
	"errors"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// An objectiveTable is the part of a recording that writes the objective.
type objectiveTable struct{ *recording }

// add adds the objective and its first root task, unless the objective
// exists.
func (r objectiveTable) add(e *entry) (bool, error) {
	if r.o.exists {
		return false, nil
	}
	o := e.Objective
	if err := removeAllRemaining(r.c, o.ID); err != nil {
		return false, err
	}
	attempt := max(o.Attempt, 1)
	updated := cmp.Or(o.UpdatedAt, e.At).Millis()
	var pushes int
	_, err := r.c.Get(`INSERT INTO objectives
		(id, tenant, context_id, principal, message_id, digest, created_at, given, doc,
			status, reason, failure, stopping, started, paused, queued_at, attempt, revision, begun, ended,
			name, description, metadata, seq, updated_at, asked_at, planner, pushes, bytes)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, 0, $24, 0, $25,
			(SELECT COUNT(*) FROM push_configs WHERE objective_id = $1 AND tenant = $2),
			COALESCE((SELECT SUM(octet_length(data)) FROM blobs WHERE objective_id = $1), 0))
		RETURNING pushes`, db.Args{
		o.ID, o.Tenant, o.ContextID, o.Principal, o.MessageID, o.Digest, o.CreatedAt.Millis(), e.givenPlans, e.added,
		string(o.Status), o.Reason, db.Content(o.Failure), o.Stopping, boolNumber(o.Started), boolNumber(o.Paused), o.QueuedAt.Millis(), attempt, o.Revision,
		boolNumber(o.MessageID != ""), boolNumber(o.Status.Ended()), e.text.name, e.text.description, e.text.metadata, updated, e.text.planner}, &pushes)
	if err != nil {
		return false, err
	}
	r.o = openObjective{tenant: o.Tenant, contextID: o.ContextID, attempt: attempt, pushes: pushes, createdAt: o.CreatedAt.Millis(), updatedAt: updated, exists: true}
	if err := r.tasks().addRoot(o.MessageID, o.Digest, e.At); err != nil {
		return true, err
	}
	if err := r.deliveries().begin(e, o.RootID()); err != nil || e.Message == nil {
		return true, err
	}
	return true, r.messages().insert(e, openingMessage, opt.RootID(o.ID, attempt), cmp.Or(o.Digest, e.messageDigest))
}

// writeHead writes the head of the objective.
func (r objectiveTable) writeHead(h *opt.ObjectiveHead) error {
	var shapers db.Content
	var err error
	if len(h.Shapers) > 0 {
		shapers, err = encode(h.Shapers)
	}
	if err != nil {
		return err
	}
	_, err = r.c.Exec(`UPDATE objectives SET seq = $2, updated_at = $3, status = $4, reason = $5, failure = $6, stopping = $7, started = $8,
			paused = $9, queued_at = $10, attempt = $11, revision = $12, begun = $13, ended = $14, shapers = $15, bytes = bytes + $16
		WHERE id = $1`,
		r.objectiveID, r.o.seq, r.o.updatedAt, string(h.Status), h.Reason, db.Content(h.Failure), h.Stopping, boolNumber(h.Started),
		boolNumber(h.Paused), h.QueuedAt.Millis(), h.Attempt, h.Revision, boolNumber(h.Started || h.Status.Ended()), boolNumber(h.Status.Ended()), shapers, r.o.bytes)
	return err
}

// writeText writes the name and description of the objective.
func (r objectiveTable) writeText(e *entry) error {
	_, err := r.c.Exec("UPDATE objectives SET name = $2, description = $3, metadata = $4, planner = $5 WHERE id = $1",
		r.objectiveID, e.text.name, e.text.description, e.text.metadata, e.text.planner)
	return err
}

// retry begins a new attempt, with its own root task.
func (r objectiveTable) retry(e *entry) error {
	var messageID, digest string
	if _, err := r.c.Get("SELECT message_id, digest FROM objectives WHERE id = $1", db.Args{r.objectiveID}, &messageID, &digest); err != nil {
		return err
	}
	r.o.attempt = e.Head.Attempt
	return r.tasks().addRoot(messageID, digest, e.At)
}

// An objectiveReader is the part of a Journal that shows objectives and their
// plans.
type objectiveReader struct{ db *db.Engine }

// Objective returns one state of an objective, with its plans and their tasks in
// order. The objectives of other tenants are unknown.
func (j objectiveReader) Objective(ctx context.Context, tenant, id string) (o *opt.Objective, err error) {
	err = j.db.Snapshot(ctx, func(c *db.Conn) error {
		o, err = objective(c, tenant, id)
		return err
	})
	return o, err
}

func objective(c *db.Conn, tenant, id string) (*opt.Objective, error) {
	found, err := objectives(c, "objectives o", " WHERE o.id = $1 AND o.tenant = $2", db.Args{id, tenant})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, unknown("objective", id)
	}
	return found[0], addPlans(c, found[0])
}

// Objectives lists objectives without plans unless f wants them, the newest
// first. total counts all that f selects.
func (j objectiveReader) Objectives(ctx context.Context, tenant string, f opt.ObjectiveFilter) (list []*opt.Objective, total int, err error) {
	from, where, a := objectiveCondition(j.db.Dialect, tenant, f)
	err = j.db.Snapshot(ctx, func(c *db.Conn) error {
		var err error
		if total, err = objectiveSubject.count(c, tenant, string(f.Status), f.Status.Ended()); err != nil {
			return err
		}
		page, a := pageAfter(where, a, [2]string{"o.created_at", "o.id"}, f.After, f.Limit)
		if list, err = objectives(c, from, page, a); err != nil || !f.Plans {
			return err
		}
		for _, o := range list {
			if err := addPlans(c, o); err != nil {
				return err
			}
		}
		return nil
	})
	return list, total, err
}

func objectiveCondition(d db.Dialect, tenant string, f opt.ObjectiveFilter) (from, where string, a db.Args) {
	if f.Status == "" {
		return "objectives o" + d.IndexedBy("objectives_by_time"), " WHERE o.tenant = $1", db.Args{tenant}
	}
	return "objectives o" + d.IndexedBy("objectives_by_status"), " WHERE o.tenant = $1 AND o.status = $2", db.Args{tenant, string(f.Status)}
}

// selectObjectives returns the query for objectives from the table, which
// scanObjective reads.
func selectObjectives(from, rest string) string {
	return `SELECT o.doc, o.status, o.reason, o.failure, o.stopping, o.started, o.paused, o.queued_at, o.attempt, o.revision,
			o.name, o.description, o.metadata, o.updated_at, t.state, t.gate, o.epochs, o.stuck, o.shapers
		FROM ` + from + ` JOIN tasks t ON t.objective_id = o.id AND t.plan_id = '' AND t.idx = o.attempt` + rest
}

// objectives reads the objectives that the rest of the query selects, without
// plans.
func objectives(c *db.Conn, from, rest string, a db.Args) (list []*opt.Objective, err error) {
	return db.All(c, selectObjectives(from, rest), a, scanObjective)
}

func scanObjective(row db.Scanner) (*opt.Objective, error) {
	var doc, metadata, gate, epochs, stuck, shapers db.Content
	var h opt.ObjectiveHead
	var t opt.Text
	var queued, updated int64
	var root opt.TaskState
	err := row.Scan(&doc, &h.Status, &h.Reason, (*db.Content)(&h.Failure), &h.Stopping, &h.Started, &h.Paused, &queued, &h.Attempt, &h.Revision,
		(*db.Content)(&t.Name), (*db.Content)(&t.Description), &metadata, &updated, &root, &gate, &epochs, &stuck, &shapers)
	if err != nil {
		return nil, err
	}
	o := new(opt.Objective)
	var g opt.Gate
	if err := errors.Join(decode(doc, o), decode(metadata, &t.Metadata), decode(gate, &g), decode(stuck, &o.Stuck), decode(shapers, &o.Shapers)); err != nil {
		return nil, err
	}
	o.Status, o.Reason, o.Failure, o.Stopping, o.Started, o.Paused = h.Status, h.Reason, h.Failure, h.Stopping, h.Started, h.Paused
	o.QueuedAt, o.Attempt, o.Revision, o.UpdatedAt = a2a.AtMillis(queued), h.Attempt, h.Revision, a2a.AtMillis(updated)
	o.Name, o.Description, o.Metadata = t.Name, t.Description, t.Metadata
	o.Root, o.RootGate = root, g.ID
	o.Rewound, err = wasRewound(epochs)
	return o, err
}
