package record

import (
	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

// noticeMove makes notices about the gate of a plan task if e opens it or takes one of
// its steps, before e is applied.
func noticeMove(r *rows, e *entry) {
	if len(r.channels) == 0 || e.PlanID == "" || e.Gate == nil && e.Step == "" {
		return
	}
	var doc, shapers db.Content
	var before opt.Gate
	n := outbox.Notice{Kind: outbox.NoticeKind(e.Step), Tenant: r.o.tenant}
	r.Get("SELECT t.gate, o.principal, o.shapers FROM tasks t JOIN objectives o ON o.id = t.objective_id WHERE t.id = $1",
		db.Args{e.TaskID}, &doc, &n.Principal, &shapers)
	r.Decode(doc, &before)
	r.Decode(shapers, &n.Shapers)
	switch {
	case e.Step != "" && e.Gate == nil: // it has closed the gate
		n.Gate = before
	case e.Step != "":
		n.Gate = *e.Gate
	case e.Gate.ID == before.ID: // a vote or an exchange
		return
	default:
		n.Gate, n.Kind = *e.Gate, outbox.Opened
	}
	addNotice(r, e, n)
}

// addNotice makes a delivery of n to each channel that takes it.
func addNotice(r *rows, e *entry, n outbox.Notice) {
	some := false
	for _, c := range r.channels {
		if !c.Takes(n) {
			continue
		}
		some = true
		r.Do(`INSERT INTO deliveries
			(objective_id, task_id, config_id, n, state, at, gate_kind, gate_id, notice, status, since, tries, handed_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'due', $6, 0, 0)`,
			r.objectiveID, e.TaskID, c.ConfigID(), r.seq(), string(opt.TaskState(e.To).A2A()), e.At.Millis(), string(n.Gate.Kind), n.Gate.ID, string(n.Kind))
	}
	if some {
		r.C.Changes.Due = true
		r.Do("INSERT INTO notices (objective_id, n, gate) VALUES ($1, $2, $3)", r.objectiveID, r.seq(), r.Encode(true, n.Gate.Shown()))
	}
}
