package journal

import (
	"context"
	"errors"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/internal/journal/record"
	"longhaul/opt"
)

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
		return nil, db.Unknown("objective", id)
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
	if err := errors.Join(db.Decode(doc, o), db.Decode(metadata, &t.Metadata), db.Decode(gate, &g), db.Decode(stuck, &o.Stuck), db.Decode(shapers, &o.Shapers)); err != nil {
		return nil, err
	}
	o.Status, o.Reason, o.Failure, o.Stopping, o.Started, o.Paused = h.Status, h.Reason, h.Failure, h.Stopping, h.Started, h.Paused
	o.QueuedAt, o.Attempt, o.Revision, o.UpdatedAt = a2a.AtMillis(queued), h.Attempt, h.Revision, a2a.AtMillis(updated)
	o.Name, o.Description, o.Metadata = t.Name, t.Description, t.Metadata
	o.Root, o.RootGate = root, g.ID
	o.Rewound, err = record.WasRewound(epochs)
	return o, err
}
