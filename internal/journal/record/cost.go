package record

import "longhaul/opt"

// addUsage adds what a leg or a planner has used, or the question of a gate that opens. The end of a root task
// has a sum of these.
func addUsage(r *rows, e *entry) {
	u := e.Usage
	if e.Kind != opt.UsageAdded && (e.Usage == nil || e.Gate == nil) {
		return
	}
	r.Do(`INSERT INTO costs (objective_id, seq, tenant, context_id, plan_id, task_id, model, at, input_tokens, cached_tokens, output_tokens, cost, questions, calls, seconds)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		r.objectiveID, r.seq(), r.o.tenant, r.o.contextID, e.PlanID, e.TaskID, u.Model, e.At.Millis(), u.Input, u.Cached, u.Output, int64(u.Cost), u.Questions, u.Calls, u.Ran)
	if e.Budgets != nil {
		r.Do("UPDATE tasks SET budgets = $3 WHERE id = $1 AND objective_id = $2 AND budgets <> $3", e.TaskID, r.objectiveID, r.Encode(true, e.Budgets))
	}
}
