package journal

import (
	"context"
	"errors"

	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// A noticeTable is the part of a recording that makes notices about gates.
type noticeTable struct{ *recording }

// move makes notices about the gate of a plan task if e opens it or takes one of
// its steps, before e is applied.
func (r noticeTable) move(e *entry) error {
	if len(r.channels) == 0 || e.PlanID == "" || e.Gate == nil && e.Step == "" {
		return nil
	}
	var doc, shapers db.Content
	var before opt.Gate
	n := opt.Notice{Kind: opt.NoticeKind(e.Step), Tenant: r.o.tenant}
	_, err := r.c.Get("SELECT t.gate, o.principal, o.shapers FROM tasks t JOIN objectives o ON o.id = t.objective_id WHERE t.id = $1",
		db.Args{e.TaskID}, &doc, &n.Principal, &shapers)
	if err = errors.Join(err, decode(doc, &before), decode(shapers, &n.Shapers)); err != nil {
		return err
	}
	switch {
	case e.Step != "" && e.Gate == nil: // it has closed the gate
		n.Gate = before
	case e.Step != "":
		n.Gate = *e.Gate
	case e.Gate.ID == before.ID: // a vote or an exchange
		return nil
	default:
		n.Gate, n.Kind = *e.Gate, opt.Opened
	}
	return r.add(e, n)
}

// add makes a delivery of n to each channel that takes it.
func (r noticeTable) add(e *entry, n opt.Notice) error {
	some := false
	for _, c := range r.channels {
		if !c.Takes(n) {
			continue
		}
		some = true
		_, err := r.c.Exec(`INSERT INTO deliveries
			(objective_id, task_id, config_id, n, state, at, gate_kind, gate_id, notice, status, since, tries, handed_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'due', $6, 0, 0)`,
			r.objectiveID, e.TaskID, c.ConfigID(), r.seq(), string(opt.TaskState(e.To).A2A()), e.At.Millis(), string(n.Gate.Kind), n.Gate.ID, string(n.Kind))
		if err != nil {
			return err
		}
	}
	if !some {
		return nil
	}
	r.c.Changes.Due = true
	doc, err := encode(n.Gate.Shown())
	if err == nil {
		_, err = r.c.Exec("INSERT INTO notices (objective_id, n, gate) VALUES ($1, $2, $3)", r.objectiveID, r.seq(), doc)
	}
	return err
}

// NextNotice returns the earliest notice about a task that is due for a channel, and
// its delivery without attempts. ok is false if there is none.
func (j Pushes) NextNotice(ctx context.Context, taskID, channel string) (n opt.Notice, d opt.Delivery, ok bool, err error) {
	err = j.db.Read(ctx, func(c *db.Conn) error {
		return c.Each("SELECT "+deliveryColumns+`, t.context_id, t.name, o.name, o.principal, o.tenant, n.gate FROM deliveries d
			JOIN notices n ON n.objective_id = d.objective_id AND n.n = d.n
			JOIN tasks t ON t.id = d.task_id JOIN objectives o ON o.id = d.objective_id
			WHERE d.objective_id = $1 AND d.task_id = $2 AND d.config_id = $3 AND d.status = 'due' ORDER BY d.n LIMIT 1`,
			db.Args{objectiveOf(taskID), taskID, opt.Channel{Name: channel}.ConfigID()}, func(row db.Scanner) error {
				var r deliveryRow
				var gate db.Content
				err := row.Scan(append(r.columns(), (*db.Content)(&n.TaskName), (*db.Content)(&n.Objective), &n.Principal, &n.Tenant, &gate)...)
				d, ok = r.delivery(), true
				n.Kind, n.Since, n.TaskID, n.ObjectiveID, n.ContextID = d.Notice, d.At, d.TaskID, d.ObjectiveID, d.ContextID
				return errors.Join(err, decode(gate, &n.Gate))
			})
	})
	return n, d, ok && err == nil, err
}
