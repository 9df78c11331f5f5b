package record

import (
	"longhaul/internal/journal/db"
)

// addPlan adds a plan after those that are there, and its tasks.
func addPlan(r *rows, e *entry) {
	p := e.Plan
	r.Do(`INSERT INTO plans
		(id, objective_id, tenant, position, doc, status, reason, stopping, started, paused, run,
			name, description, metadata, dependencies, updated_at)
		VALUES ($1, $2, $3, (SELECT COUNT(*) FROM plans WHERE objective_id = $2), $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
		ON CONFLICT (id) DO NOTHING`,
		p.ID, r.objectiveID, r.o.tenant, e.added, string(p.Status), p.Reason, p.Stopping, db.Flag(p.Started), db.Flag(p.Paused), p.Run,
		e.text.name, e.text.description, e.text.metadata, e.text.dependencies, p.UpdatedAt.Millis())
	r.o.updatedAt = e.At.Millis()
	addTasks(r, e)
	for _, t := range e.tasks {
		for _, a := range t.Artifacts { // of a task that was taken over
			setArtifact(r, t.A2AID(), a)
		}
	}
}

// writePlanHead writes the head of a plan.
func writePlanHead(r *rows, e *entry) {
	h := e.PlanHead
	n := r.Do(`UPDATE plans SET status = $3, reason = $4, stopping = $5, started = $6, paused = $7, run = $8, updated_at = $9
		WHERE id = $1 AND objective_id = $2`,
		e.PlanID, r.objectiveID, string(h.Status), h.Reason, h.Stopping, db.Flag(h.Started), db.Flag(h.Paused), h.Run, e.At.Millis())
	requireRow(r, n, "plan", e.PlanID)
}

// writePlanText writes the name, description and dependencies of a plan.
func writePlanText(r *rows, e *entry) {
	n := r.Do(`UPDATE plans SET name = $3, description = $4, metadata = $5, dependencies = $6, updated_at = $7
		WHERE id = $1 AND objective_id = $2`,
		e.PlanID, r.objectiveID, e.text.name, e.text.description, e.text.metadata, e.text.dependencies, e.At.Millis())
	r.o.updatedAt = e.At.Millis()
	requireRow(r, n, "plan", e.PlanID)
}
