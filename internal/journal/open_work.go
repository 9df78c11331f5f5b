package journal

import (
	"context"
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// OpenObjectives lists at most limit objectives of all tenants that have not ended, by their ids,
// after one.
func (j objectiveFinder) OpenObjectives(ctx context.Context, after string, limit int) ([]opt.Objective, error) {
	return db.List(ctx, j.db, "SELECT id, tenant, context_id, status, attempt, queued_at, updated_at FROM objectives WHERE ended = 0 AND id > $1 ORDER BY id"+db.LimitParam(2), db.Args{after, limit},
		func(row db.Scanner) (o opt.Objective, err error) {
			var queued, updated int64
			err = row.Scan(&o.ID, &o.Tenant, &o.ContextID, &o.Status, &o.Attempt, &queued, &updated)
			o.QueuedAt, o.UpdatedAt = a2a.AtMillis(queued), a2a.AtMillis(updated)
			return o, err
		})
}

// OpenPlans lists the plans that have started and not ended of open objectives of all tenants,
// whose ids come after one, up to another.
func (j objectiveFinder) OpenPlans(ctx context.Context, after, last string) ([]opt.Plan, error) {
	list, err := db.List(ctx, j.db, `SELECT p.id, p.objective_id, p.status FROM objectives o JOIN plans p ON p.objective_id = o.id
			WHERE o.ended = 0 AND o.id > $1 AND o.id <= $2 AND p.started = 1 ORDER BY p.id`, db.Args{after, last},
		func(row db.Scanner) (p opt.Plan, err error) {
			err = row.Scan(&p.ID, &p.ObjectiveID, &p.Status)
			return p, err
		})
	return slices.DeleteFunc(list, func(p opt.Plan) bool { return p.Status.Ended() }), err
}

// openPlan selects plans that have started and not ended, in the words of their index.
const openPlan = "p.started = 1 AND p.status NOT IN ('completed', 'failed', 'skipped')"

// EndedWork lists the objectives of all tenants that have ended and have plans that have not, since an
// operator has reset these; each with such plans alone, without their tasks.
func (j objectiveFinder) EndedWork(ctx context.Context) ([]*opt.Objective, error) {
	return db.InSnapshot(ctx, j.db, func(c *db.Conn) ([]*opt.Objective, error) {
		found, err := objectives(c, "objectives o", where("o.ended = 1 AND o.id IN (SELECT p.objective_id FROM plans p WHERE "+openPlan+")"))
		for _, o := range found {
			if err == nil {
				o.Plans, err = plans(c, "p.objective_id = $1 AND "+openPlan, o.ID)
			}
		}
		return found, err
	})
}

// OpenWork returns an objective of any tenant with its plans, without their tasks; nil if it
// has ended. The error wraps opt.ErrUnknown if it is not there.
func (j objectiveFinder) OpenWork(ctx context.Context, objectiveID string) (*opt.Objective, error) {
	return db.InSnapshot(ctx, j.db, func(c *db.Conn) (*opt.Objective, error) {
		found, err := objectives(c, "objectives o", where("o.id = ?", objectiveID))
		switch {
		case err != nil:
			return nil, err
		case len(found) == 0:
			return nil, fmt.Errorf("objective %s: %w", objectiveID, opt.ErrUnknown)
		case found[0].Status.Ended():
			return nil, nil
		}
		found[0].Plans, err = plans(c, "p.objective_id = $1", objectiveID)
		return found[0], err
	})
}
