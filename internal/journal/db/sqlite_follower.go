package db

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"
)

// How often a journal in a file looks for commits of other processes while there is a watch.
const (
	hearEvery = 25 * time.Millisecond // whether one has rung
	lookEvery = time.Second           // at the journal, also if none has: it may have been killed, or be an older program
	mostRows  = 10_000                // of new events that one look reads; after more, all watches are signaled
)

// signalCommits implements [database]. It looks while there is a watch: if this process is alone, not before
// another one has rung, such as a command that restores objectives.
func (d *SqliteFile) signalCommits(ctx context.Context, ws *watches) {
	if d.path == "" {
		return // no other process can have it open
	}
	for ws.await(ctx) {
		if !d.alone || d.hearWhileWatched(ctx, ws) {
			d.pollWhileWatched(ctx, ws)
		}
	}
}

// hearWhileWatched waits until another process rings, without a look at the journal. It returns false when there
// is no watch any more.
func (d *SqliteFile) hearWhileWatched(ctx context.Context, ws *watches) bool {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ; !ws.idle() && ctx.Err() == nil; pause(ctx, tick.C) {
		if d.bell.hear() {
			return true
		}
	}
	return false
}

// pollWhileWatched polls until there is no watch. A process that makes all commits itself hears
// none, and polls rarely.
func (d *SqliteFile) pollWhileWatched(ctx context.Context, ws *watches) {
	tick := time.NewTicker(hearEvery)
	defer tick.Stop()
	var f *follower
	var polled time.Time
	defer func() {
		if f != nil {
			_ = f.c.Close()
		}
	}()
	for ; !ws.idle() && ctx.Err() == nil; pause(ctx, tick.C) {
		heard := d.bell.hear()
		if !heard && f != nil && time.Since(polled) < lookEvery {
			continue
		}
		polled = time.Now()
		var err error
		missed := false
		if f == nil {
			f, err = newFollower(ctx, d)
			ws.notifyAll() // of commits before f began
		} else if err = f.poll(func(id string, seq int64) {
			missed = missed || !heard && ws.isBehind(id, seq)
			ws.notify(id, seq, false)
		}, ws.notifyAll); err != nil {
			_ = f.c.Close()
			f = nil
		}
		if err != nil {
			d.log.Warn("Looking for commits of other processes failed", zap.Error(d.explain(err)))
			continue
		}
		d.to.Looked(missed)
	}
}

// pause waits for c or the end of ctx.
func pause(ctx context.Context, c <-chan time.Time) {
	select {
	case <-ctx.Done():
	case <-c:
	}
}

// EventsAfter selects the events after a row. It does not group them by objective: for that SQLite goes
// through the index of all events.
const EventsAfter = "SELECT objective_id, seq FROM events WHERE rowid > $1"

// A follower finds the objectives that other processes have changed.
type follower struct {
	c       *Conn
	version int64 // of the data, as this connection counts
	row     int64 // the last row of events that was looked at
	purges  int64 // how many there have been
}

// newFollower returns a follower that has seen everything up to now.
func newFollower(ctx context.Context, d *SqliteFile) (*follower, error) {
	c, err := d.open(ctx, reading)
	if err != nil {
		return nil, err
	}
	f := &follower{c: c}
	if err := f.poll(func(string, int64) {}, func() {}); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return f, nil
}

// poll calls found with each objective that has new events since the last poll and with
// its last seq, or foundAll if it does not know which.
func (f *follower) poll(found func(objectiveID string, seq int64), foundAll func()) error {
	var version, last, purges int64
	if _, err := f.c.Get("PRAGMA data_version", nil, &version); err != nil || version == f.version {
		return err
	}
	// In one statement: a purge makes the numbers of rows mean something else.
	if _, err := f.c.Get("SELECT (SELECT COALESCE(MAX(rowid), 0) FROM events), n FROM purges", nil, &last, &purges); err != nil {
		return err
	}
	switch {
	case f.version == 0: // the first time
	case purges != f.purges: // rows were removed, and their numbers may have been used again
		foundAll()
	case last > f.row+mostRows:
		foundAll()
	default:
		latest := map[string]int64{}
		err := f.c.Each(EventsAfter, Args{f.row}, func(row Scanner) error {
			var id string
			var seq int64
			err := row.Scan(&id, &seq)
			latest[id] = max(latest[id], seq)
			return err
		})
		if err != nil {
			return err
		}
		for id, seq := range latest {
			found(id, seq)
		}
	}
	f.version, f.row, f.purges = version, last, purges
	return nil
}
