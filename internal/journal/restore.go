package journal

import (
	"context"
	"fmt"
	"math"
	"slices"

	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// Maintenance is the part of a Journal that restores lost events, and checks, corrects and
// compacts the database.
type Maintenance struct {
	db     *db.Engine
	record recorder
}

// Size returns the size of the journal.
func (j Maintenance) Size(ctx context.Context) (Size, error) { return j.db.Size(ctx) }

// Damage describes damage of the database, nothing if all is well.
func (j Maintenance) Damage(ctx context.Context) ([]string, error) { return j.db.Damage(ctx) }

// Compact gives the room of removed data back, see [db.Engine.Compact].
func (j Maintenance) Compact(ctx context.Context) error { return j.db.Compact(ctx) }

// Restore records events that the journal has lost, like [Journal.Record], and returns
// how many it has added. Their places are not known to be those that they had: an
// added event gets a seq above after, unless it opens the objective, so that no client
// takes it for another one that had the seq before.
func (j Maintenance) Restore(ctx context.Context, after int64, batches ...opt.Batch) (added int, err error) {
	r, err := newRecording(batches)
	if err != nil || len(r.batches) == 0 {
		return 0, err
	}
	r.channels = *j.record.channels.Load()
	err = j.db.Write(ctx, func(c *db.Conn) (err error) {
		added, err = restoration{r, after}.run(c)
		return err
	}, objectiveLock(r.objectiveID))
	if err != nil {
		return 0, fmt.Errorf("restore events of %s: %w", r.objectiveID, err)
	}
	return added, nil
}

// A restoration is a recording of events that were lost.
type restoration struct {
	*recording
	after int64
}

// run applies the batches within a transaction.
func (r restoration) run(c *db.Conn) (added int, err error) {
	if err := r.begin(c); err != nil {
		return 0, err
	}
	for _, b := range r.batches {
		if first := b.entries[0]; first.Kind == opt.ObjectiveOpened && len(b.entries) > 1 {
			n, err := r.restoreBatch(batch{source: b.source, entries: b.entries[:1]})
			if err != nil {
				return 0, err
			}
			added += n
			b.entries = b.entries[1:]
		}
		n, err := r.restoreBatch(b)
		if err != nil {
			return 0, err
		}
		added += n
	}
	if added == 0 {
		return 0, nil
	}
	c.Changes.Recorded(r.objectiveID, r.o.seq)
	return added, r.close()
}

// restoreBatch applies the events of b that are new, and returns how many readers see.
func (r restoration) restoreBatch(b batch) (added int, err error) {
	latest, err := r.latestNumbers(b.source)
	if err != nil {
		return 0, err
	}
	before, existed := r.o.seq, r.o.exists
	if existed && b.entries[len(b.entries)-1].N > latest.last() {
		r.o.seq = max(before, r.after)
	}
	from := r.o.seq
	b.under = math.MaxInt // what it is about may be restored later
	if err := r.recordBatch(b); err != nil {
		return 0, fmt.Errorf("from %s: %w", b.source, err)
	}
	if !existed {
		return int(r.o.seq), nil
	}
	if added = int(r.o.seq - from); added == 0 {
		r.o.seq = before
	}
	return added, nil
}

// A Difference says what the journal does not have of some batches.
type Difference struct {
	Missing int      // events
	Changed []string // events that it has with other content, with their sources
	Gaps    []string // sources whose batches begin after events that the journal lacks, too
	Known   []string // sources with events in the journal

	Last map[string]int64 // numbers of the last events of all sources that the journal has, also of others than those of the batches
}

// Compare compares the journal with batches of one objective, without a change.
func (j Maintenance) Compare(ctx context.Context, batches ...opt.Batch) (d Difference, err error) {
	r, err := newRecording(batches)
	if err != nil || len(r.batches) == 0 {
		return d, err
	}
	err = j.db.Snapshot(ctx, func(c *db.Conn) error {
		d, r.c = Difference{}, c
		if d.Last, err = lastNumbers(c, r.objectiveID); err != nil {
			return err
		}
		has := map[string]map[int64]string{} // digests
		for _, b := range r.batches {
			if has[b.source] == nil {
				if has[b.source], err = digests(c, r.objectiveID, b.source); err != nil {
					return err
				}
				if len(has[b.source]) > 0 {
					d.Known = append(d.Known, b.source)
				}
			}
			d.compare(b, has[b.source])
		}
		return nil
	})
	return d, err
}

// compare compares one batch with the digests that the journal has of its source, and
// adds to these what the batch brings.
func (d *Difference) compare(b batch, has map[int64]string) {
	for _, e := range b.entries {
		digest, found := has[e.N]
		switch {
		case !found:
			d.Missing++
			if _, before := has[e.N-1]; !before && e.N > 1 && e.Kind != opt.SourceRewound && !slices.Contains(d.Gaps, b.source) {
				d.Gaps = append(d.Gaps, b.source)
			}
		case digest != string(e.digest):
			d.Changed = append(d.Changed, fmt.Sprintf("event %d of %s, %s", e.N, b.source, e.Kind))
		}
		has[e.N] = string(e.digest)
	}
}

// digests returns the digests of the events of a source, by number, for those that the
// journal has. Without the objective, it has none.
func digests(c *db.Conn, objectiveID, source string) (map[int64]string, error) {
	out := map[int64]string{}
	err := c.Each(`SELECT s.first, s.digests FROM sources s JOIN objectives o ON o.id = s.objective_id
		WHERE s.objective_id = $1 AND s.source = $2`, db.Args{objectiveID, source}, func(row db.Scanner) error {
		var n numbers
		err := row.Scan(&n.first, &n.digests)
		for digest := range slices.Chunk(n.digests, digestSize) {
			out[n.first] = string(digest)
			n.first++
		}
		return err
	})
	return out, err
}

// HasBlob reports whether there is a blob.
func (j Maintenance) HasBlob(ctx context.Context, objectiveID, id string) (found bool, err error) {
	err = j.db.Read(ctx, func(c *db.Conn) (err error) {
		var n int
		found, err = c.Get("SELECT 1 FROM blobs WHERE objective_id = $1 AND id = $2", db.Args{objectiveID, id}, &n)
		return err
	})
	return found, err
}
