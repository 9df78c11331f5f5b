package journal

import (
	"cmp"
	"context"
	"errors"

	"longhaul/a2a"
	"longhaul/opt"
)

// openObjective adds the objective, or a new attempt at it, and the root task
// of the attempt.
func (r *recording) openObjective(e *entry) (bool, error) {
	o := e.Objective
	attempt := max(o.Attempt, 1)
	if r.o.exists && attempt <= r.o.attempt {
		return false, nil
	}
	if !r.o.exists {
		if err := sweepAll(r.c, o.ID); err != nil {
			return false, err
		}
	}
	_, err := r.c.exec(`INSERT INTO objectives
		(id, tenant, context_id, status, created_at, updated_at, queued_at, seq, attempt, started, reason, stopping, failure, principal, name, message_id, digest, doc)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
		ON CONFLICT (id) DO UPDATE SET
			status = excluded.status, updated_at = excluded.updated_at, queued_at = excluded.queued_at, attempt = excluded.attempt, started = excluded.started,
			reason = excluded.reason, stopping = excluded.stopping, failure = excluded.failure, name = excluded.name,
			message_id = excluded.message_id, digest = excluded.digest, doc = excluded.doc`,
		o.ID, o.Tenant, o.ContextID, string(o.Status), o.CreatedAt.Millis(), cmp.Or(o.UpdatedAt, e.At).Millis(), o.QueuedAt.Millis(), attempt, number(o.Started),
		o.Reason, o.Stopping, o.Failure, o.Principal, o.Name, o.MessageID, o.Digest, e.thing)
	if err != nil {
		return false, err
	}
	if !r.o.exists {
		r.o.exists, r.o.tenant, r.o.contextID = true, o.Tenant, o.ContextID
	}
	r.o.attempt = attempt
	if err := r.addRoot(e); err != nil || e.Message == nil {
		return true, err
	}
	return true, r.keepMessage(e, opening, opt.RootID(o.ID, attempt), cmp.Or(o.Digest, e.digest))
}

func (r *recording) moveObjective(e *entry) error {
	failure := ""
	if e.Status != nil {
		failure = e.Status.Text()
	}
	if e.Kind == opt.ObjectiveStopping {
		_, err := r.c.exec(`UPDATE objectives SET stopping = $2, failure = $3, updated_at = $4 WHERE id = $1`,
			r.objectiveID, e.Reason, failure, e.At.Millis())
		return err
	}
	_, err := r.c.exec(`UPDATE objectives SET status = $2, reason = $3, updated_at = $4,
			failure = CASE WHEN $5 = '' THEN failure ELSE $5 END,
			started = CASE WHEN $2 = 'submitted' OR $3 = 'by-hand' OR $2 = 'blocked' AND $3 <> 'operator' THEN started ELSE 1 END,
			queued_at = CASE WHEN $2 = 'submitted' THEN queued_at ELSE 0 END
		WHERE id = $1`,
		r.objectiveID, e.To, e.Reason, e.At.Millis(), failure)
	return err
}

// Objective returns an objective with its plans in order, each with its tasks
// in order, as they are in one moment. A tenant's objective is unknown to
// others.
func (j *Journal) Objective(ctx context.Context, tenant, id string) (o *opt.Objective, err error) {
	err = j.snapshot(ctx, func(c *conn) error {
		o, err = objective(c, tenant, id)
		return err
	})
	return o, err
}

func objective(c *conn, tenant, id string) (*opt.Objective, error) {
	found, err := objectives(c, "objectives o", " WHERE o.id = $1 AND o.tenant = $2", args{id, tenant})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, unknown("objective", id)
	}
	return found[0], addPlans(c, found[0])
}

// Whole returns an objective like Objective, with the artifacts of its tasks.
func (j *Journal) Whole(ctx context.Context, tenant, id string) (o *opt.Objective, err error) {
	err = j.snapshot(ctx, func(c *conn) error {
		if o, err = objective(c, tenant, id); err != nil {
			return err
		}
		for _, p := range o.Plans {
			for _, t := range p.Tasks {
				if t.Artifacts, err = artifacts(c, o.ID, t.A2AID()); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return o, err
}

// Objectives lists objectives without plans unless f wants them, the newest
// first. total counts all that f selects.
func (j *Journal) Objectives(ctx context.Context, tenant string, f opt.ObjectiveFilter) (list []*opt.Objective, total int, err error) {
	from, where, a := whichObjectives(tenant, f)
	err = j.snapshot(ctx, func(c *conn) error {
		if _, err := c.get("SELECT COUNT(*) FROM "+from+where, a, &total); err != nil {
			return err
		}
		page, a := after(where, a, "o.created_at", "o.id", f.After, f.Limit)
		var err error
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

func whichObjectives(tenant string, f opt.ObjectiveFilter) (from, where string, a args) {
	if f.Status == "" {
		return "objectives o" + using("objectives_by_time"), " WHERE o.tenant = $1", args{tenant}
	}
	return "objectives o" + using("objectives_by_status"), " WHERE o.tenant = $1 AND o.status = $2", args{tenant, string(f.Status)}
}

// selectObjectives returns the query for objectives from the table, which
// scanObjective reads.
func selectObjectives(from, rest string) string {
	return `SELECT o.doc, o.status, o.created_at, o.updated_at, o.queued_at, o.attempt, o.started, o.reason, o.stopping, o.failure, t.state, t.gate
		FROM ` + from + ` JOIN tasks t ON t.objective_id = o.id AND t.plan_id = '' AND t.idx = o.attempt` + rest
}

// objectives reads the objectives that the rest of the query selects, without
// plans.
func objectives(c *conn, from, rest string, a args) (list []*opt.Objective, err error) {
	err = c.each(selectObjectives(from, rest), a, func(row scanner) error {
		o, err := scanObjective(row)
		list = append(list, o)
		return err
	})
	return list, err
}

func scanObjective(row scanner) (*opt.Objective, error) {
	var doc, gate []byte
	var created, updated, queued int64
	var now opt.Objective
	if err := row.Scan(&doc, &now.Status, &created, &updated, &queued, &now.Attempt, &now.Started, &now.Reason, &now.Stopping, &now.Failure, &now.Root, &gate); err != nil {
		return nil, err
	}
	o := new(opt.Objective)
	var g opt.Gate
	if err := errors.Join(decode(doc, o), decode(gate, &g)); err != nil {
		return nil, err
	}
	o.Status, o.Reason, o.Failure, o.CreatedAt, o.UpdatedAt = now.Status, now.Reason, now.Failure, a2a.AtMillis(created), a2a.AtMillis(updated)
	o.QueuedAt = a2a.AtMillis(queued)
	o.Attempt, o.Started, o.Stopping, o.Root, o.RootGate = now.Attempt, now.Started, now.Stopping, now.Root, g.ID
	return o, nil
}
