package journal

import (
	"context"
	"fmt"
	"time"

	"longhaul/a2a"
)

const (
	purgeTurn  = 10 * time.Millisecond // after which a purge lets writers in
	purgePause = 5 * time.Millisecond  // in which other processes get the lock
	atOnce     = 8                     // objectives that become unknown in one step
)

// Purge removes objectives that have ended, and did not change after before, with
// everything that belongs to them: at most limit of them, and those first whose
// last change is the longest ago. It returns how many it has removed, also with
// an error; fewer than limit say that no more are left.
//
// Each of them is there whole until it is unknown, in one moment. The rest of its
// rows goes in further transactions, which are short, so that writers do not wait
// for a large one; if that is cut off, the next Purge goes on with it. Several
// processes may purge at a time.
func (j *Journal) Purge(ctx context.Context, before time.Time, limit int) (n int, err error) {
	for {
		p, err := j.purgeSome(ctx, before, limit-n)
		if err != nil {
			return n, fmt.Errorf("purge the journal: %w", err)
		}
		n += len(p.removed)
		if p.done {
			return n, nil
		}
		select {
		case <-time.After(purgePause):
		case <-ctx.Done():
			return n, ctx.Err()
		}
	}
}

// purgeSome is one transaction of Purge.
func (j *Journal) purgeSome(ctx context.Context, before time.Time, most int) (*purge, error) {
	p := &purge{before: before.UnixMilli(), most: most, turn: purgeTurn}
	return p, j.writer.submit(ctx, p.run, func() { j.watches.gone(p.removed) })
}

// Keep has Purge take an objective for one that changed at a time: a new attempt
// at it is about to begin. A tenant's objective is unknown to others.
func (j *Journal) Keep(ctx context.Context, tenant, id string, at a2a.Time) error {
	return j.writer.submit(ctx, func(c *conn) error {
		n, err := c.exec("UPDATE objectives SET asked_at = $3 WHERE id = $1 AND tenant = $2", id, tenant, at.Millis())
		if err == nil && n == 0 {
			err = unknown("objective", id)
		}
		return err
	}, nil)
}

// A purge is one transaction of Purge.
type purge struct {
	before  int64
	most    int           // objectives to remove
	turn    time.Duration // after which it ends
	removed []string      // ids of objectives
	done    bool          // there is nothing left to do
}

// run takes steps until its turn is over, at least one.
func (p *purge) run(c *conn) error {
	deadline := time.Now().Add(p.turn)
	for steps := 0; ; steps++ {
		did, err := p.step(c)
		if err != nil || !did && steps == 0 {
			p.done = !did
			return err
		}
		if p.done = !did; p.done || time.Now().After(deadline) {
			_, err = c.exec("UPDATE purges SET n = n + 1")
			return err
		}
	}
}

// step removes some of what is left of objectives, or some objectives; did is
// false if there are neither.
func (p *purge) step(c *conn) (did bool, err error) {
	if did, err = sweep(c); did || err != nil {
		return did, err
	}
	var ids []string
	err = c.each(endedLongest, args{p.before, min(atOnce, p.most-len(p.removed))}, func(row scanner) error {
		var id string
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil || len(ids) == 0 {
		return false, err
	}
	p.removed = append(p.removed, ids...)
	return true, remove(c, ids)
}

// endedLongest is the query for the objectives that are to go next, at most $2 of
// those that did not change after $1.
var endedLongest = "SELECT id FROM objectives" + using("objectives_ended") + ` WHERE ended = 1
	AND updated_at < $1 AND asked_at < $1 ORDER BY updated_at, id` + atMost(2)

// removals make the objectives in leftovers unknown, with their plans, tasks and
// places.
var removals = []string{
	"DELETE FROM objectives WHERE id IN (SELECT objective_id FROM leftovers)",
	"DELETE FROM plans WHERE objective_id IN (SELECT objective_id FROM leftovers)",
	"DELETE FROM tasks WHERE objective_id IN (SELECT objective_id FROM leftovers)",
	"DELETE FROM places WHERE objective_id IN (SELECT objective_id FROM leftovers)",
}

// remove makes objectives unknown. Nothing is left of others.
func remove(c *conn, ids []string) error {
	for _, id := range ids {
		if _, err := c.exec("INSERT INTO leftovers (objective_id) VALUES ($1)", id); err != nil {
			return err
		}
	}
	for _, statement := range removals {
		if _, err := c.exec(statement); err != nil {
			return err
		}
	}
	return nil
}

// belongings are the tables of what is left of objectives, and how many rows are
// removed at once: few where they are large.
var belongings = []struct {
	table string
	most  int
}{{"events", 100}, {"messages", 100}, {"artifacts", 100}, {"answers", 100}, {"sources", 100}, {"blobs", 1}}

// sweep removes some rows of what is left of objectives; did is false if there is
// nothing left.
func sweep(c *conn) (did bool, err error) {
	for _, b := range belongings {
		if n, err := c.exec(removeSome(b.table), b.most); n > 0 || err != nil {
			return true, err
		}
	}
	n, err := c.exec("DELETE FROM leftovers")
	return n > 0, err
}

// sweepAll removes what is left of an objective, before another takes its id.
func sweepAll(c *conn, id string) error {
	for {
		found, err := c.get("SELECT objective_id FROM leftovers WHERE objective_id = $1", args{id}, &id)
		if err != nil || !found {
			return err
		}
		if _, err := sweep(c); err != nil {
			return err
		}
	}
}
