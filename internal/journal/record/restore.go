package record

import (
	"fmt"
	"math"
	"slices"

	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// Restore is Run for events that were lost, and returns how many it has added. An added event
// gets a seq above after, unless it opens the objective.
func (r *Recording) Restore(c *db.Conn, after int64) (added int, err error) {
	r.begin(c)
	for _, b := range r.batches {
		parts := []batch{b}
		if first := b.entries[0]; first.Kind == opt.ObjectiveOpened && len(b.entries) > 1 {
			parts = []batch{{source: b.source, entries: b.entries[:1]}, {source: b.source, entries: b.entries[1:]}}
		}
		for _, part := range parts {
			n, err := r.restoreBatch(part, after)
			if err != nil {
				return 0, err
			}
			added += n
		}
	}
	if added == 0 || r.Err != nil {
		return 0, r.Err
	}
	c.Changes.Recorded(r.objectiveID, r.o.seq, false)
	r.close()
	return added, r.Err
}

// restoreBatch applies the events of b that are new, and returns how many readers see. Those that were about to be
// recorded when their workflow was reset or terminated are left out, as the journal would have refused them.
func (r *Recording) restoreBatch(b batch, after int64) (added int, err error) {
	latest := r.latestNumbers(b.source)
	before, existed := r.o.seq, r.o.exists
	if existed && isShut(r.rows, b.source) {
		b.entries = slices.DeleteFunc(slices.Clone(b.entries), func(e *entry) bool { return e.N > latest.last() })
		if len(b.entries) == 0 {
			return 0, nil
		}
	}
	if existed && b.entries[len(b.entries)-1].N > latest.last() {
		r.o.seq = max(before, after)
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

// A Difference says what the journal does not have of some batches, and would take.
type Difference struct {
	Missing int      // events
	Changed []string // events that it has with other content, with their sources
	Gaps    []string // sources whose batches begin after events that the journal lacks, too
	Known   []string // sources with events in the journal

	Last map[string]int64 // numbers of the last events of all sources that the journal has, also of others than those of the batches
}

// Compare compares the journal with the batches, without a change.
func (r *Recording) Compare(c *db.Conn) (d Difference, err error) {
	if d.Last, err = LastNumbers(c, r.objectiveID); err != nil {
		return d, err
	}
	r.begin(c)
	has := map[string]map[int64]string{} // digests
	for _, b := range r.batches {
		if has[b.source] == nil {
			if has[b.source], err = digests(c, r.objectiveID, b.source); err != nil {
				return d, err
			}
			if len(has[b.source]) > 0 {
				d.Known = append(d.Known, b.source)
			}
		}
		d.compare(b, has[b.source], isShut(r.rows, b.source))
	}
	return d, r.Err
}

// compare compares one batch with the digests that the journal has of its source, which may be shut, and
// adds to these what the batch brings.
func (d *Difference) compare(b batch, has map[int64]string, shut bool) {
	for _, e := range b.entries {
		digest, found := has[e.N]
		switch {
		case !found && shut:
			continue
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
