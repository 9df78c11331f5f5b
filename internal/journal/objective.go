package journal

import (
	"context"
	"errors"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/internal/journal/record"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// An objectiveReader is the part of a Journal that shows objectives and their
// plans.
type objectiveReader struct{ db *db.Engine }

// Objective returns one state of an objective, with its plans and their tasks in
// order. The objectives of other tenants are unknown.
func (j objectiveReader) Objective(ctx context.Context, tenant, id string) (*opt.Objective, error) {
	return db.InSnapshot(ctx, j.db, func(c *db.Conn) (*opt.Objective, error) { return objective(c, tenant, id) })
}

func objective(c *db.Conn, tenant, id string) (*opt.Objective, error) {
	o, err := db.One(objectives(c, "objectives o", where("o.id = ? AND o.tenant = ?", id, tenant)))("objective", id)
	if err != nil {
		return nil, err
	}
	return o, addPlans(c, o)
}

// Objectives lists objectives without plans unless f wants them, the newest
// first. total counts all that f selects.
func (j objectiveReader) Objectives(ctx context.Context, tenant string, f shown.ObjectiveFilter) (list []*opt.Objective, total int, err error) {
	s := newObjectiveSearch(j.db.Dialect, tenant, shown.ObjectiveSearch{ObjectiveFilter: f})
	err = j.db.Snapshot(ctx, func(c *db.Conn) (err error) {
		if total, err = objectiveSubject.count(c, tenant, string(f.Status), f.Status.Ended()); err == nil {
			list, err = s.page(c, shown.Cursor{})
		}
		return err
	})
	return list, total, err
}

// objectives reads the objectives that a filter selects from a table, without plans.
func objectives(c *db.Conn, from string, f filter) (list []*opt.Objective, err error) {
	return db.All(c, `SELECT o.doc, o.status, o.reason, o.failure, o.stopping, o.started, o.paused, o.queued_at, o.attempt, o.revision,
			o.name, o.description, o.metadata, o.updated_at, t.state, t.gate, o.epochs, o.stuck, o.shapers
		FROM `+from+` JOIN tasks t ON t.objective_id = o.id AND t.plan_id = '' AND t.idx = o.attempt`+f.tail, f.a, scanObjective)
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
