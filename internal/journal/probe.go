package journal

import (
	"context"
	"time"

	"longhaul/internal/journal/db"
	"longhaul/opt"
)

const (
	probeEvery = time.Second // at most one trial in this time
	probeSize  = 8 << 10     // bytes that must fit on the disk
)

// A probe is the part of a Journal that tries whether it can be read and written.
type probe struct {
	db    *db.Engine
	write func(*db.Conn) error
	last  trial
}

func newProbe(e *db.Engine) *probe { return &probe{db: e, write: writeProbe, last: newTrial()} }

// Ping reports whether the journal can be read, and whether it can be written: a
// small write is tried once a second at most.
func (p *probe) Ping(ctx context.Context) error {
	_, err := p.db.Get(ctx, "SELECT COUNT(*) FROM migrations", nil, new(int64))
	if err != nil {
		return err
	}
	return p.last.result(ctx, func() error { return p.db.Write(ctx, p.write, "probe") })
}

// writeProbe writes a row and then removes the former one, in this order so that
// it cannot reuse the room of the former row.
func writeProbe(c *db.Conn) error {
	id := time.Now().UnixNano()
	s := db.Steps{C: c}
	s.Do("INSERT INTO probes (id, room) VALUES ($1, $2) ON CONFLICT DO NOTHING", id, make([]byte, probeSize))
	s.Do("DELETE FROM probes WHERE id <> $1", id)
	return s.Err
}

// A Disk is the disk of a journal.
type Disk struct {
	db   *db.Engine
	last trial
}

// Ready reports whether there is room on the disk, where it may be full although [Journal.Ping] can
// write: a row of PostgreSQL may fit into the room of former ones. Reads work on a full disk.
func (d *Disk) Ready(ctx context.Context) error {
	return d.last.result(ctx, func() error { return d.db.Snapshot(ctx, db.TakeRoom) })
}

// A trial keeps the result of something that is tried for probeEvery.
type trial struct {
	busy chan struct{} // holds a value while a caller uses the members below
	at   time.Time     // of the last outcome
	err  error
}

func newTrial() trial { return trial{busy: make(chan struct{}, 1)} }

func (t *trial) result(ctx context.Context, try func() error) error {
	select {
	case t.busy <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-t.busy }()
	if !t.at.IsZero() && time.Since(t.at) < probeEvery {
		return t.err
	}
	err := try()
	if err == nil || err != ctx.Err() { // a caller that left before the end says nothing about the journal
		t.at, t.err = time.Now(), err
	}
	return err
}

// A Depth says how much work there is, in all tenants.
type Depth struct {
	Queued     int64            // objectives that wait for their turn in a context
	Stuck      int64            // objectives whose events are not taken
	Working    int64            // objectives that have begun, have not ended and do not wait for their turn
	Tasks      map[string]int64 // tasks of plans that have begun and not ended, by state
	Deliveries int64            // that are due
	Held       int64            // of Tasks, that wait for a quota
	Questions  int64            // of Tasks, that have waited for a person since before a time
}

// Depth counts the work that there is, and the questions from before since. Each count reads only
// rows of open work.
func (p *probe) Depth(ctx context.Context, since time.Time) (d Depth, err error) {
	d.Tasks = map[string]int64{}
	err = p.db.Read(ctx, func(c *db.Conn) error {
		s := db.Steps{C: c}
		for query, to := range map[string]*int64{
			"SELECT COUNT(*) FROM objectives WHERE queued_at <> 0":                               &d.Queued,
			"SELECT COUNT(*) FROM objectives WHERE begun = 1 AND ended = 0 AND queued_at = 0":    &d.Working,
			"SELECT COUNT(*) FROM objectives WHERE stuck <> ''":                                  &d.Stuck,
			"SELECT COUNT(*) FROM deliveries WHERE status = 'due'":                               &d.Deliveries,
			"SELECT COUNT(*) FROM tasks WHERE active = 1 AND reason = '" + opt.HeldByQuota + "'": &d.Held,
		} {
			s.Get(query, nil, to)
		}
		s.Get("SELECT COUNT(*) FROM tasks WHERE gate <> '' AND plan_id <> '' AND status_at < $1", db.Args{since.UnixMilli()}, &d.Questions)
		s.Each("SELECT state, COUNT(*) FROM tasks WHERE active = 1 GROUP BY state", nil, func(row db.Scanner) error {
			var state string
			var n int64
			err := row.Scan(&state, &n)
			d.Tasks[state] = n
			return err
		})
		return s.Err
	})
	return d, err
}
