package push

import (
	"context"
	"errors"

	"longhaul/internal/journal/db"
	"longhaul/opt/outbox"
)

// NextNotice returns the earliest notice about a task that is due for a channel, and
// its delivery without attempts. ok is false if there is none.
func (j Store) NextNotice(ctx context.Context, taskID, channel string) (n outbox.Notice, d outbox.Delivery, ok bool, err error) {
	err = j.db.Read(ctx, func(c *db.Conn) error {
		return c.Each("SELECT "+deliveryColumns+`, t.context_id, t.name, o.name, o.principal, o.tenant, n.gate, n.decided, COALESCE((
				SELECT MAX(shown.card) FROM deliveries shown WHERE shown.objective_id = d.objective_id AND shown.task_id = d.task_id
					AND shown.config_id = d.config_id AND shown.gate_id = d.gate_id), '') FROM deliveries d
			JOIN notices n ON n.objective_id = d.objective_id AND n.n = d.n
			JOIN tasks t ON t.id = d.task_id JOIN objectives o ON o.id = d.objective_id
			WHERE d.objective_id = $1 AND d.task_id = $2 AND d.config_id = $3 AND d.status = 'due' ORDER BY d.n LIMIT 1`,
			db.Args{objectiveOf(taskID), taskID, outbox.Channel{Name: channel}.ConfigID()}, func(row db.Scanner) error {
				var r deliveryRow
				var gate, decided db.Content
				err := row.Scan(append(r.columns(), (*db.Content)(&n.TaskName), (*db.Content)(&n.Objective), &n.Principal, &n.Tenant, &gate, &decided, &r.Card)...)
				d, ok = r.delivery(), true
				n.Kind, n.Since, n.TaskID, n.ObjectiveID, n.ContextID = d.Notice, d.At, d.TaskID, d.ObjectiveID, d.ContextID
				return errors.Join(err, db.Decode(gate, &n.Gate), db.Decode(decided, &n.Decided))
			})
	})
	return n, d, ok && err == nil, err
}
