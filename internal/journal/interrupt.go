package journal

import (
	"context"
	"errors"
	"fmt"

	"longhaul/a2a"
	"longhaul/opt"
)

// Interrupts lists the open gates of a tenant, the longest wait first. total counts
// all that f selects. One that is opened while a client pages is on a later page,
// and none is missed because of it.
func (j taskReader) Interrupts(ctx context.Context, tenant string, f opt.InterruptFilter) (list []opt.Interrupt, total int, err error) {
	where, a := whichInterrupts(tenant, f)
	const from = " FROM tasks t JOIN objectives o ON o.id = t.objective_id"
	err = j.snapshot(ctx, func(c *conn) error {
		if _, err := c.get("SELECT COUNT(*)"+from+where, a, &total); err != nil {
			return err
		}
		if f.After != (opt.Cursor{}) {
			a = append(a, f.After.At.Millis(), f.After.ID)
			where += fmt.Sprintf(" AND (t.status_at, t.id) > ($%d, $%d)", len(a)-1, len(a))
		}
		order := " ORDER BY t.status_at, t.id"
		if f.Limit > 0 {
			a = append(a, f.Limit)
			order += atMost(len(a))
		}
		return c.each("SELECT t.id, t.name, t.status_at, t.context_id, t.gate, o.id, o.name, o.principal"+from+where+order, a, func(row scanner) error {
			var i opt.Interrupt
			var at int64
			var gate []byte
			err := row.Scan(&i.TaskID, &i.TaskName, &at, &i.ContextID, &gate, &i.ObjectiveID, &i.Objective, &i.Principal)
			i.Since = a2a.AtMillis(at)
			list = append(list, i)
			return errors.Join(err, decode(gate, &list[len(list)-1].Gate))
		})
	})
	return list, total, err
}

// whichInterrupts returns the condition for the tasks that f selects. The kind of a
// gate is the first member of its document.
func whichInterrupts(tenant string, f opt.InterruptFilter) (where string, a args) {
	where, a = " WHERE t.tenant = $1 AND t.gate <> '' AND t.plan_id <> ''", args{tenant}
	add := func(column, value string) {
		a = append(a, value)
		where += fmt.Sprintf(" AND %s = $%d", column, len(a))
	}
	if f.Kind != "" {
		begin := `{"kind":"` + string(f.Kind) + `"`
		add(fmt.Sprintf("substr(t.gate, 1, %d)", len(begin)), begin)
	}
	if f.ObjectiveID != "" {
		add("t.objective_id", f.ObjectiveID)
	}
	if f.ContextID != "" {
		add("t.context_id", f.ContextID)
	}
	return where, a
}
