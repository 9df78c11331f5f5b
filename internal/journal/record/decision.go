package record

import (
	"longhaul/internal/journal/db"
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
	addAnswerAt(r, d)
	if e.decided != "" {
		r.Do("UPDATE tasks SET decided = $3 WHERE objective_id = $4 AND id IN ($1, $2)",
			d.TaskID, opt.RootID(r.objectiveID, r.o.attempt), e.decided, r.objectiveID)
	}
}

// addAnswerAt notes the answer of a person to an open gate about which standing decisions may decide.
func addAnswerAt(r *rows, d *opt.Decision) {
	if d.MessageID == "" || d.Verdict != opt.Accepted || d.Action != opt.Accept && d.Action != opt.Reject {
		return
	}
	var doc db.Content
	var g opt.Gate
	r.Get("SELECT gate FROM tasks WHERE id = $1", db.Args{d.TaskID}, &doc)
	if r.Decode(doc, &g); g.ID == d.GateID && g.Standing != "" {
		r.Do("INSERT INTO standing_answers (tenant, principal, gates, at, gate_id, objective_id, action) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
			r.o.tenant, d.DecidedBy, g.Standing, d.DecidedAt.Millis(), d.GateID, r.objectiveID, string(d.Action))
	}
}
