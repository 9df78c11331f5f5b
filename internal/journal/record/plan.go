package record

import (
	"fmt"

	"longhaul/internal/journal/db"
)

// addPlan adds a plan after those that are there, and its tasks.
func addPlan(r *rows, e *entry) error {
	p := e.Plan
	err := r.c.Do(`INSERT INTO plans
		(id, objective_id, tenant, position, doc, status, reason, stopping, started, paused, run,
			name, description, metadata, dependencies, updated_at)
		VALUES ($1, $2, $3, (SELECT COUNT(*) FROM plans WHERE objective_id = $2), $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
		ON CONFLICT (id) DO NOTHING`,
		p.ID, r.objectiveID, r.o.tenant, e.added, string(p.Status), p.Reason, p.Stopping, db.Flag(p.Started), db.Flag(p.Paused), p.Run,
		e.text.name, e.text.description, e.text.metadata, e.text.dependencies, p.UpdatedAt.Millis())
	if err != nil {
		return err
	}
	r.o.updatedAt = e.At.Millis()
	return addTasks(r, e)
}

// writePlanHead writes the head of a plan.
func writePlanHead(r *rows, e *entry) error {
	h := e.PlanHead
	n, err := r.c.Exec(`UPDATE plans SET status = $3, reason = $4, stopping = $5, started = $6, paused = $7, run = $8, updated_at = $9
		WHERE id = $1 AND objective_id = $2`,
		e.PlanID, r.objectiveID, string(h.Status), h.Reason, h.Stopping, db.Flag(h.Started), db.Flag(h.Paused), h.Run, e.At.Millis())
	return requirePlanRow(r, e, n, err)
}

// writePlanText writes the name, description and dependencies of a plan.
func writePlanText(r *rows, e *entry) error {
	n, err := r.c.Exec(`UPDATE plans SET name = $3, description = $4, metadata = $5, dependencies = $6, updated_at = $7
		WHERE id = $1 AND objective_id = $2`,
		e.PlanID, r.objectiveID, e.text.name, e.text.description, e.text.metadata, e.text.dependencies, e.At.Millis())
	r.o.updatedAt = e.At.Millis()
	return requirePlanRow(r, e, n, err)
}

// requirePlanRow returns err, or an error if no row was changed.
func requirePlanRow(r *rows, e *entry, rows int64, err error) error {
	if err == nil && rows == 0 {
		err = fmt.Errorf("plan %s is not there: %w", e.PlanID, ErrEarly)
	}
	return err
}
