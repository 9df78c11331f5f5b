package activities_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"longhaul/a2a"
	"longhaul/activities"
)

// A heap has a number of objectives to remove.
type heap struct {
	left  int
	calls int
	last  int // calls before the one that fails; 0 for none that does
}

func (h *heap) Purge(_ context.Context, before time.Time, limit int) (int, error) {
	h.calls++
	if before.IsZero() || h.last > 0 && h.calls > h.last {
		return 1, errors.New("cut off")
	}
	n := min(limit, h.left)
	h.left -= n
	return n, nil
}

func purge(p activities.Purger) (activities.Purged, error) {
	w := newWorker(activities.Config{Purger: p})
	return result[activities.Purged](w.ExecuteActivity(w.acts.Purge, activities.PurgeRequest{Before: a2a.At(time.Unix(1, 0))}))
}

func TestPurge(t *testing.T) {
	for _, tt := range []struct {
		left, calls int
		want        activities.Purged
	}{
		{0, 1, activities.Purged{}},
		{99, 1, activities.Purged{Objectives: 99}},
		{100, 2, activities.Purged{Objectives: 100}},
		{9_999, 100, activities.Purged{Objectives: 9_999}},
		{10_000, 100, activities.Purged{Objectives: 10_000, More: true}},
		{70_000, 100, activities.Purged{Objectives: 10_000, More: true}},
	} {
		h := &heap{left: tt.left}
		if got, err := purge(h); got != tt.want || h.calls != tt.calls || err != nil {
			t.Errorf("of %d: %+v in %d calls, %v, want %+v in %d", tt.left, got, h.calls, err, tt.want, tt.calls)
		}
	}
}

func TestPurge_fails(t *testing.T) {
	if _, err := purge(&heap{left: 1000, last: 3}); err == nil {
		t.Error("an error was lost")
	}
	var failed *temporal.ApplicationError
	if _, err := purge(nil); !errors.As(err, &failed) || !failed.NonRetryable() {
		t.Errorf("without a journal: %v, want an error for good", err)
	}
}
