package reconcile_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"longhaul/internal/reconcile"
	"longhaul/internal/test"
	"longhaul/opt"
)

// The end of an objective is recorded once the journal takes it, if that is soon.
func TestLate(t *testing.T) {
	away := errors.New("away")
	for name, tt := range map[string]struct {
		err         error
		fails, want int
		stops       bool
	}{
		"at the first try":  {want: 1},
		"at the fourth":     {err: away, fails: 3, want: 4},
		"never":             {err: away, fails: 100, want: 8},
		"it is refused":     {err: &opt.RewoundError{}, fails: 100, want: 1},
		"the process stops": {err: away, fails: 100, stops: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				l := reconcile.NewLate(func(context.Context, ...opt.Batch) error {
					if tries++; tries <= tt.fails {
						return tt.err
					}
					return nil
				})
				l.Take([]opt.Batch{{Source: "obj"}})
				if !tt.stops {
					time.Sleep(time.Hour)
				}
				l.Stop()
				test.Is(t, "tries", tt.want, tries)
			})
		})
	}
}
