package record

import (
	"longhaul/opt"
)

// addDecision adds the decision in e, if it has one, and shows it at its task and at the root task
// if it has closed the gate.
func addDecision(r *rows, e *entry) {
	d := e.Decision
	if d == nil {
		return
	}
	r.Do("INSERT INTO decisions (objective_id, seq, plan_id, attempt, n, doc, epoch) VALUES ($1, $2, $3, $4, $5, $6, $7)",
		r.objectiveID, r.seq(), d.PlanID, d.Attempt, d.N, e.decision, d.Epoch)
	if e.decided != "" {
		r.Do("UPDATE tasks SET decided = $3 WHERE objective_id = $4 AND id IN ($1, $2)",
			d.TaskID, opt.RootID(r.objectiveID, r.o.attempt), e.decided, r.objectiveID)
	}
}
