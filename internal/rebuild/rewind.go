package rebuild

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"longhaul/opt"
)

// A position is how far a source has come.
type position struct {
	epoch int
	n     int64
}

func (p position) before(q position) bool {
	return p.epoch < q.epoch || p.epoch == q.epoch && p.n < q.n
}

// positions returns the latest positions of sources, by their names, from the numbers of
// their last events.
func positions(last map[string]int64) map[string]position {
	out := map[string]position{}
	for source, n := range last {
		name, epoch := opt.SplitEpoch(source)
		if p := (position{epoch, n}); out[name].before(p) {
			out[name] = p
		}
	}
	return out
}

// known returns how far the workflows have come, by their ids, each in its latest attempt.
func (o *objective) known() map[string]position {
	last := map[string]int64{}
	for _, e := range o.Entries {
		last[e.Source] = max(last[e.Source], e.Last())
	}
	return latestAttempts(last)
}

// latestAttempts returns the latest positions by the ids of workflows.
func latestAttempts(last map[string]int64) map[string]position {
	out, attempts := map[string]position{}, map[string]int{}
	for name, p := range positions(last) {
		id, attempt := opt.SplitRoot(name)
		if attempt >= attempts[id] {
			out[id], attempts[id] = p, attempt
		}
	}
	return out
}

// lagging lists the workflows that run and know less than the journal has of them, with their
// positions in the journal: Temporal was restored from an older copy.
func (o *objective) lagging() map[string]position {
	out := map[string]position{}
	have := latestAttempts(o.recordedDiff.Last)
	for id, at := range o.known() {
		if runs := o.Plans[id] || id == o.ObjectiveID && o.Open; runs && at.before(have[id]) {
			out[id] = have[id]
		}
	}
	return out
}

// behind lists the workflows of an objective that lag behind the journal. Since work continues,
// it compares what the journal has with what they know a moment later.
func (w *comparison) behind(ctx context.Context, o *objective) (ids []string, err error) {
	have := o.lagging()
	if len(have) == 0 {
		return nil, nil
	}
	select {
	case <-time.After(w.Settle):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	later, err := w.read(ctx, o.ObjectiveID)
	if errors.Is(err, opt.ErrEnded) {
		return nil, nil // Temporal has removed it meanwhile
	}
	if err != nil {
		return nil, err
	}
	still := later.lagging()
	for _, id := range slices.Sorted(maps.Keys(have)) {
		if known := later.known()[id]; still[id] != (position{}) && known.before(have[id]) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// rewind has the workflows of an objective that lag behind the journal set it to what they
// know.
func (w *comparison) rewind(ctx context.Context, o *objective) (rewound int, err error) {
	if w.Rewind == nil {
		return 0, nil
	}
	ids, err := w.behind(ctx, o)
	if slices.Contains(ids, o.ObjectiveID) { // its plans follow it
		ids = []string{o.ObjectiveID}
	}
	for _, id := range ids {
		if err == nil {
			err = w.Rewind(ctx, id)
		}
	}
	return len(ids), err
}
