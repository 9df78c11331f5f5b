package journal

import (
	"context"
	"fmt"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// placeFor is how long a place counts while its objective does not show that it
// has begun or waits. After that its start has failed.
const placeFor = time.Minute

// Place takes a place in the queue of a context, in one transaction, so that
// places have an order across processes. If nothing else is open in the context,
// the objective may begin at once and others wait for it. A repeat for the same
// attempt returns the same place within a minute, and as long as the objective
// shows it. The error wraps [opt.ErrQueueFull] if too many wait.
func (j queues) Place(ctx context.Context, p opt.Place) (placed opt.Placed, err error) {
	err = j.db.Write(ctx, func(c *db.Conn) (err error) {
		placed, err = takePlace(c, p)
		return err
	}, contextLock(p.Tenant, p.ContextID))
	if err != nil {
		return opt.Placed{}, fmt.Errorf("take a place in context %s: %w", p.ContextID, err)
	}
	return placed, nil
}

func takePlace(c *db.Conn, p opt.Place) (placed opt.Placed, err error) {
	now := p.At.Millis()
	if err := c.Do("DELETE FROM places WHERE taken_at <= $1", now-placeFor.Milliseconds()); err != nil {
		return placed, err
	}
	queued, shown, err := shownPlace(c, p)
	if err != nil || shown && queued == 0 {
		return placed, err
	}
	q, err := otherOpen(c, p)
	if err != nil {
		return placed, err
	}
	if !shown {
		if queued, err = ownPlace(c, p, q); err == nil {
			err = c.Do(`INSERT INTO places (objective_id, attempt, tenant, context_id, taken_at, queued_at) VALUES ($1, $2, $3, $4, $5, $6)
				ON CONFLICT (objective_id, attempt) DO UPDATE SET taken_at = excluded.taken_at`,
				p.ObjectiveID, p.Attempt, p.Tenant, p.ContextID, now, queued)
		}
	}
	if err == nil && queued != 0 {
		placed = opt.Placed{QueuedAt: a2a.AtMillis(queued), Behind: q.Busy, Starting: q.Starts}
	}
	return placed, err
}

// shownPlace returns the place that the objective shows; shown is false if it
// shows none for the attempt. A begun or older attempt has place 0.
func shownPlace(c *db.Conn, p opt.Place) (queued int64, shown bool, err error) {
	shown, err = c.Get(`SELECT queued_at FROM objectives WHERE id = $1 AND tenant = $2 AND attempt = $3 AND (begun = 1 OR queued_at <> 0)
		UNION ALL SELECT 0 FROM objectives WHERE id = $1 AND tenant = $2 AND attempt > $3`,
		db.Args{p.ObjectiveID, p.Tenant, p.Attempt}, &queued)
	return queued, shown, err
}

// ownPlace returns the place that was taken for an attempt, or the next one
// behind the others that are open in the context.
func ownPlace(c *db.Conn, p opt.Place, q opt.Queue) (queued int64, err error) {
	taken, err := c.Get("SELECT queued_at FROM places WHERE objective_id = $1 AND tenant = $2 AND attempt = $3",
		db.Args{p.ObjectiveID, p.Tenant, p.Attempt}, &queued)
	switch {
	case err != nil, taken, q.Idle():
		return queued, err
	case q.Waiting >= p.Limit:
		return 0, fmt.Errorf("%d objectives wait: %w", q.Waiting, opt.ErrQueueFull)
	}
	return max(p.At.Millis(), q.Last.Millis()+1), nil
}

// otherOpen returns the other open objectives in the context of p: those that show
// it, and those that have only taken a place. The places are read first: one whose
// objective is recorded in between is then counted twice, but never missed.
func otherOpen(c *db.Conn, p opt.Place) (q opt.Queue, err error) {
	only, err := otherPlaces(c, p)
	if err != nil {
		return q, err
	}
	if q, err = queue(c, p.Tenant, p.ContextID); err != nil {
		return q, err
	}
	q.Busy = slices.DeleteFunc(q.Busy, func(root string) bool {
		id, _ := opt.SplitRoot(root)
		return id == p.ObjectiveID
	})
	q.Waiting += only.Waiting
	q.Last = a2a.AtMillis(max(q.Last.Millis(), only.Last.Millis()))
	for _, root := range only.Starts {
		if !slices.Contains(q.Busy, root) {
			q.Starts = append(q.Starts, root)
		}
	}
	return q, nil
}

// otherPlaces returns the places that others have taken in the context of p, as far as
// their objectives do not show them yet.
func otherPlaces(c *db.Conn, p opt.Place) (q opt.Queue, err error) {
	err = c.Each(`SELECT p.objective_id, p.attempt, p.queued_at FROM places p LEFT JOIN objectives o ON o.id = p.objective_id AND o.attempt >= p.attempt
		WHERE p.tenant = $1 AND p.context_id = $2 AND p.objective_id <> $3
			AND (o.id IS NULL OR o.attempt = p.attempt AND o.begun = 0 AND o.queued_at = 0)
		ORDER BY p.taken_at, p.objective_id`,
		db.Args{p.Tenant, p.ContextID, p.ObjectiveID}, func(row db.Scanner) error {
			var id string
			var attempt int
			var queued int64
			err := row.Scan(&id, &attempt, &queued)
			if queued == 0 {
				q.Starts = append(q.Starts, opt.RootID(id, attempt))
				return err
			}
			q.Waiting++
			q.Last = a2a.AtMillis(max(q.Last.Millis(), queued))
			return err
		})
	return q, err
}

// queues is the part of a Journal that puts the objectives of a context in order.
type queues struct{ db *db.Engine }

// Queue returns the open objectives of a context. An objective that waits to be
// started is not open: no other waits for it. An objective that a message began
// is open from its creation.
func (j queues) Queue(ctx context.Context, tenant, contextID string) (opt.Queue, error) {
	return db.InSnapshot(ctx, j.db, func(c *db.Conn) (opt.Queue, error) { return queue(c, tenant, contextID) })
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

// contextLock is the lock of writes to the places in a context.
func contextLock(tenant, contextID string) string {
	return fmt.Sprintf("context %q %q", tenant, contextID)
}
