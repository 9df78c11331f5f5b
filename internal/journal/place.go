package journal

import (
	"context"
	"fmt"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// placeFor is how long a place counts while its objective does not show that it
// has begun or waits. After that its start has failed. The clock is that of the
// database: those of processes may differ by more.
const placeFor = time.Minute

// Place takes a place in the queue of a context, in one transaction, so that
// places have an order across processes. If nothing else is open in the context,
// the objective may begin at once and others wait for it. A repeat for the same
// attempt returns the same place within a minute, and as long as the objective
// shows it. The error wraps [opt.ErrQueueFull] if too many wait.
func (j queues) Place(ctx context.Context, p shown.Place) (placed shown.Placed, err error) {
	err = j.db.Write(ctx, func(c *db.Conn) error {
		s := db.Steps{C: c}
		placed = takePlace(&s, p)
		return s.Err
	}, contextLock(p.Tenant, p.ContextID))
	if err != nil {
		return shown.Placed{}, fmt.Errorf("take a place in context %s: %w", p.ContextID, err)
	}
	return placed, nil
}

func takePlace(s *db.Steps, p shown.Place) (placed shown.Placed) {
	now := s.C.Dialect.Now()
	s.Do("DELETE FROM places WHERE taken_at <= "+now+" - $1", placeFor.Milliseconds())
	queued, known := shownPlace(s, p)
	if known && queued == 0 {
		return placed
	}
	q := otherOpen(s, p)
	if !known {
		queued = ownPlace(s, p, q)
		s.Do(`INSERT INTO places (objective_id, attempt, tenant, context_id, queued_at, taken_at) VALUES ($1, $2, $3, $4, $5, `+now+`)
			ON CONFLICT (objective_id, attempt) DO UPDATE SET taken_at = excluded.taken_at`,
			p.ObjectiveID, p.Attempt, p.Tenant, p.ContextID, queued)
	}
	if queued != 0 {
		placed = shown.Placed{QueuedAt: a2a.AtMillis(queued), Behind: q.Busy, Starting: q.Starts, Waiting: q.Waiting - q.Places}
	}
	return placed
}

// shownPlace returns the place that the objective shows; known is false if it
// shows none for the attempt. A begun or older attempt has place 0.
func shownPlace(s *db.Steps, p shown.Place) (queued int64, known bool) {
	known = s.Get(`SELECT queued_at FROM objectives WHERE id = $1 AND tenant = $2 AND attempt = $3 AND (begun = 1 OR queued_at <> 0)
		UNION ALL SELECT 0 FROM objectives WHERE id = $1 AND tenant = $2 AND attempt > $3`,
		db.Args{p.ObjectiveID, p.Tenant, p.Attempt}, &queued)
	return queued, known
}

// ownPlace returns the place that was taken for an attempt, or the next one
// behind the others that are open in the context.
func ownPlace(s *db.Steps, p shown.Place, q shown.Queue) (queued int64) {
	taken := s.Get("SELECT queued_at FROM places WHERE objective_id = $1 AND tenant = $2 AND attempt = $3",
		db.Args{p.ObjectiveID, p.Tenant, p.Attempt}, &queued)
	switch {
	case taken, q.Idle():
		return queued
	case q.Waiting >= p.Limit:
		s.Fail(fmt.Errorf("%d objectives wait: %w", q.Waiting, opt.ErrQueueFull))
	}
	return max(p.At.Millis(), q.Last.Millis()+1)
}

// otherOpen returns the other open objectives in the context of p: those that show
// it, and those that have only taken a place. The places are read first: one whose
// objective is recorded in between is then counted twice, but never missed.
func otherOpen(s *db.Steps, p shown.Place) shown.Queue {
	only := otherPlaces(s, p)
	q := queue(s, p)
	q.Busy = slices.DeleteFunc(q.Busy, func(root string) bool {
		id, _ := opt.SplitRoot(root)
		return id == p.ObjectiveID
	})
	q.Waiting, q.Places = q.Waiting+only.Waiting, only.Waiting
	q.Last = a2a.AtMillis(max(q.Last.Millis(), only.Last.Millis()))
	for _, root := range only.Starts {
		if !slices.Contains(q.Busy, root) {
			q.Starts = append(q.Starts, root)
		}
	}
	return q
}

// otherPlaces returns the places that others have taken in the context of p, as far as
// their objectives do not show them yet.
func otherPlaces(s *db.Steps, p shown.Place) (q shown.Queue) {
	s.Each(`SELECT p.objective_id, p.attempt, p.queued_at FROM places p LEFT JOIN objectives o ON o.id = p.objective_id AND o.attempt >= p.attempt
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
	return q
}

// queues is the part of a Journal that puts the objectives of a context in order.
type queues struct{ db *db.Engine }

// queue reads the open objectives in the context of p from their rows: of those that wait, the others. An objective that waits to be
// started is not open: no other waits for it. An objective that a message began is open from its
// creation.
func queue(s *db.Steps, p shown.Place) (q shown.Queue) {
	var last int64
	s.Get(`SELECT COUNT(*), COALESCE(MAX(queued_at), 0) FROM objectives
		WHERE tenant = $1 AND context_id = $2 AND queued_at <> 0 AND id <> $3`, db.Args{p.Tenant, p.ContextID, p.ObjectiveID}, &q.Waiting, &last)
	q.Last = a2a.AtMillis(last)
	q.Busy = db.Rows(s, "SELECT id, attempt FROM objectives"+s.C.Dialect.IndexedBy("objectives_busy")+`
		WHERE tenant = $1 AND context_id = $2 AND begun = 1 AND ended = 0 AND queued_at = 0 ORDER BY created_at, id`,
		db.Args{p.Tenant, p.ContextID}, readRoot)
	return q
}

// mostOnFloor is how many objectives that wait Floor lists.
const mostOnFloor = 1000

// Floors reads the floors of contexts.
type Floors struct{ db *db.Engine }

// FloorsOf returns the reader of the floors in a journal.
func FloorsOf(j *Journal) Floors { return Floors{j.db} }

// Floor lists the root tasks of the objectives that are open in a context: those that have begun, and the first
// of those that wait for their first turn.
func (j Floors) Floor(ctx context.Context, tenant, contextID string) (begun, waiting []string, err error) {
	type floor struct{ begun, waiting []string }
	f, err := db.InSnapshot(ctx, j.db, func(c *db.Conn) (f floor, err error) {
		s, args := db.Steps{C: c}, db.Args{tenant, contextID, mostOnFloor}
		f.begun = db.Rows(&s, "SELECT id, attempt FROM objectives"+c.Dialect.IndexedBy("objectives_busy")+`
			WHERE tenant = $1 AND context_id = $2 AND begun = 1 AND ended = 0 AND queued_at = 0 ORDER BY created_at, id`, args[:2], readRoot)
		f.waiting = db.Rows(&s, `SELECT id, attempt FROM objectives
			WHERE tenant = $1 AND context_id = $2 AND queued_at <> 0 ORDER BY queued_at, id`+db.LimitParam(3), args, readRoot)
		return f, s.Err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read the objectives in context %s: %w", contextID, err)
	}
	return f.begun, f.waiting, nil
}

// readRoot reads the root task of an objective from its id and its attempt.
func readRoot(row db.Scanner) (string, error) {
	var id string
	var attempt int
	err := row.Scan(&id, &attempt)
	return opt.RootID(id, attempt), err
}

// addQueuePosition adds to the view of a root task its position in the queue of its
// context.
func (v *viewRow) addQueuePosition(s *db.Steps) {
	if v.QueuedAt.IsZero() {
		return
	}
	s.Get(`SELECT COUNT(*) FROM objectives o JOIN objectives mine ON mine.id = $1
		WHERE o.tenant = mine.tenant AND o.context_id = mine.context_id AND o.queued_at <> 0 AND (o.queued_at, o.id) <= (mine.queued_at, mine.id)`,
		db.Args{v.ObjectiveID}, &v.Position)
}

// contextLock is the lock of writes to the places in a context.
func contextLock(tenant, contextID string) string {
	return fmt.Sprintf("context %q %q", tenant, contextID)
}
