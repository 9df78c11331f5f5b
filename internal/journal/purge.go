package journal

import (
	"context"
	"fmt"
	"time"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/internal/journal/record"
)

const (
	purgeTime    = 10 * time.Millisecond // after which a purge lets writers continue
	purgePause   = 5 * time.Millisecond  // during which other processes get the lock
	blockedPause = time.Second           // at most, while others change the next objectives
	atOnce       = 8                     // objectives that become unknown in one step
)

// A purger is the part of a Journal that removes objectives.
type purger struct {
	db  *db.Engine
	now func() time.Time // for sessions
}

// Purge removes objectives that have ended and did not change after before, with
// all their data: at most limit of them, the longest unchanged first. It returns
// how many it has removed, also with an error; fewer than limit mean that no more
// are left. It also removes the sessions that have expired, and the standing decisions
// and absences that ended before that time.
//
// Each objective becomes unknown in one step and is complete before that. Its
// other rows are removed in further short transactions, so that writers do not
// wait long; if that is interrupted, the next Purge continues it. Several
// processes may purge at a time.
func (j purger) Purge(ctx context.Context, before time.Time, limit int) (n int, err error) {
	for _, old := range []struct {
		sql string
		at  time.Time
	}{
		{removeExpired, j.now()},
		{"DELETE FROM standings WHERE expires_at < $1", before},
		{"DELETE FROM absences WHERE until_at < $1", before},
	} {
		if _, err := j.db.Exec(ctx, old.sql, db.Args{old.at.UnixMilli()}); err != nil {
			return 0, fmt.Errorf("purge expired rows: %w", err)
		}
	}
	for pause := purgePause; ; {
		p, err := j.purgeSome(ctx, before, limit-n)
		if err != nil {
			return n, fmt.Errorf("purge the journal: %w", err)
		}
		n += len(p.removed)
		if p.done {
			return n, nil
		}
		pause = pauseAfter(pause, p.blocked)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return n, ctx.Err()
		}
	}
}

// pauseAfter returns the pause after a transaction. last is that before it: pauses grow while
// others change the next objectives.
func pauseAfter(last time.Duration, blocked bool) time.Duration {
	if blocked {
		return min(2*last, blockedPause)
	}
	return purgePause
}

// purgeSome is one transaction of Purge.
func (j purger) purgeSome(ctx context.Context, before time.Time, most int) (*purge, error) {
	p := &purge{before: before.UnixMilli(), most: most, maxTime: purgeTime}
	return p, j.db.Write(ctx, p.run, record.PurgeLock)
}

// Keep makes Purge treat an objective as changed at a time, since a new attempt
// at it is about to begin. The objectives of other tenants are unknown.
func (j purger) Keep(ctx context.Context, tenant, id string, at a2a.Time) error {
	n, err := j.db.Exec(ctx, "UPDATE objectives SET asked_at = $3 WHERE id = $1 AND tenant = $2", db.Args{id, tenant, at.Millis()}, db.ObjectiveLock(id))
	if err == nil && n == 0 {
		err = db.Unknown("objective", id)
	}
	return err
}

// A purge is one transaction of Purge.
type purge struct {
	before  int64
	most    int           // objectives to remove
	maxTime time.Duration // of one run
	removed []string      // ids of objectives
	blocked bool          // others change the next ones now
	done    bool          // there is nothing left to do
}

// run takes steps for maxTime, at least one.
func (p *purge) run(c *db.Conn) error {
	p.removed, p.blocked, p.done = nil, false, false
	deadline := time.Now().Add(p.maxTime)
	for steps := 0; ; steps++ {
		did, err := p.step(c)
		if err != nil || !did && steps == 0 {
			p.done = !did && !p.blocked
			return err
		}
		if p.done = !did && !p.blocked; !did || time.Now().After(deadline) {
			return c.Do("UPDATE purges SET n = n + 1")
		}
	}
}

// step removes some remaining rows of removed objectives, or some objectives; did
// is false if there are neither.
func (p *purge) step(c *db.Conn) (did bool, err error) {
	if did, err = record.RemoveRemaining(c); did || err != nil {
		return did, err
	}
	ids, err := db.All(c, "SELECT id FROM objectives"+c.Dialect.IndexedBy("objectives_ended")+` WHERE ended = 1
		AND updated_at < $1 AND asked_at < $1 ORDER BY updated_at, id`+db.LimitParam(2), db.Args{p.before, min(atOnce, p.most-len(p.removed))}, db.ScanID)
	if err == nil {
		found := len(ids)
		ids, err = p.reserve(c, ids)
		p.blocked = found > 0 && len(ids) == 0
	}
	if err != nil || len(ids) == 0 {
		return false, err
	}
	p.removed = append(p.removed, ids...)
	c.Changes.Gone = p.removed
	return true, remove(c, ids)
}

// reserve returns those objectives that no other transaction changes now or has changed
// since they were read.
func (p *purge) reserve(c *db.Conn, ids []string) (free []string, err error) {
	for _, id := range ids {
		ok, err := c.TryLock(db.ObjectiveLock(id))
		if err == nil && ok {
			ok, err = c.Get("SELECT id FROM objectives WHERE id = $1 AND ended = 1 AND updated_at < $2 AND asked_at < $2", db.Args{id, p.before}, &id)
		}
		if err != nil {
			return nil, err
		}
		if ok {
			free = append(free, id)
		}
	}
	return free, nil
}

// remove makes objectives unknown, with their plans, tasks, places and push configs. It may be
// called only if no rows of others remain.
func remove(c *db.Conn, ids []string) error {
	s := db.Steps{C: c}
	for _, id := range ids {
		s.Do("INSERT INTO leftovers (objective_id) VALUES ($1)", id)
	}
	s.Do("DELETE FROM objectives WHERE id " + c.Dialect.In(record.Leftovers))
	for _, table := range []string{"plans", "tasks", "places", "push_configs"} {
		s.Do("DELETE FROM " + table + " WHERE objective_id " + c.Dialect.In(record.Leftovers))
	}
	return s.Err
}
