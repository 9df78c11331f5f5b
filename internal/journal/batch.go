package journal

import (
	"fmt"

	"longhaul/opt"
)

// A batch is what one source has to record.
type batch struct {
	source  string
	entries []*entry
	under   int // as in [opt.Batch]
}

func newBatch(b opt.Batch) (batch, error) {
	out := batch{source: b.Source, under: max(b.Under, 1)}
	for i, e := range b.Events {
		n, err := newEntry(b.ObjectiveID, e)
		if err == nil && i > 0 && e.N != b.Events[i-1].N+1 {
			err = fmt.Errorf("the one before is event %d: %w", b.Events[i-1].N, ErrGap)
		}
		if err != nil {
			return out, fmt.Errorf("event %d of %s from %s: %w", e.N, b.ObjectiveID, b.Source, err)
		}
		out.entries = append(out.entries, n)
	}
	return out, nil
}
