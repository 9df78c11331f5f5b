package journal

import (
	"context"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// queues is the part of a Journal that puts the objectives of a context in order.
type queues struct{ db *db.Engine }

// Queue returns the open objectives of a context. An objective that waits to be
// started is not open: no other waits for it. An objective that a message began
// is open from its creation.
func (j queues) Queue(ctx context.Context, tenant, contextID string) (q opt.Queue, err error) {
	err = j.db.Snapshot(ctx, func(c *db.Conn) error {
		q, err = queue(c, tenant, contextID)
		return err
	})
	return q, err
}

// queue reads the open objectives of a context from their rows.
func queue(c *db.Conn, tenant, contextID string) (q opt.Queue, err error) {
	var last int64
	_, err = c.Get(`SELECT COUNT(*), COALESCE(MAX(queued_at), 0) FROM objectives
		WHERE tenant = $1 AND context_id = $2 AND queued_at <> 0`, db.Args{tenant, contextID}, &q.Waiting, &last)
	if err != nil {
		return q, err
	}
	q.Last = a2a.AtMillis(last)
	err = c.Each("SELECT id, attempt FROM objectives"+c.Dialect.IndexedBy("objectives_busy")+`
		WHERE tenant = $1 AND context_id = $2 AND begun = 1 AND ended = 0 AND queued_at = 0 ORDER BY created_at, id`,
		db.Args{tenant, contextID}, func(row db.Scanner) error {
			var id string
			var attempt int
			err := row.Scan(&id, &attempt)
			q.Busy = append(q.Busy, opt.RootID(id, attempt))
			return err
		})
	return q, err
}

// addQueuePosition adds to the view of a root task its position in the queue of its
// context.
func (v *viewRow) addQueuePosition(c *db.Conn) error {
	if v.QueuedAt.IsZero() {
		return nil
	}
	_, err := c.Get(`SELECT COUNT(*) FROM objectives o JOIN objectives mine ON mine.id = $1
		WHERE o.tenant = mine.tenant AND o.context_id = mine.context_id AND o.queued_at <> 0 AND (o.queued_at, o.id) <= (mine.queued_at, mine.id)`,
		db.Args{v.ObjectiveID}, &v.Position)
	return err
}
