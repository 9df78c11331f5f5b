package call_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"longhaul/api/call"
	"longhaul/internal/test"
)

// Who comes first is served first: a small share does not pass a large one of its user that waits, nor one of another
// user if there is not enough for all. What waits for its own user holds up no other.
func TestShare_Await_inTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := call.NewShares(10, 16)
		var mu sync.Mutex
		var served []string
		ask := func(name, user string, n int) *call.Share {
			h := s.Of(user, n)
			go func() {
				test.Error(t, name, nil, h.Await(t.Context(), n))
				mu.Lock()
				defer mu.Unlock()
				served = append(served, name)
			}()
			synctest.Wait()
			return h
		}
		first := ask("first", "ann", 8)
		ask("large", "ann", 9)
		ask("small", "ann", 1)
		second := ask("of another", "bob", 4)
		third := ask("too large for all", "eve", 7)
		ask("small of another", "bob", 1)
		test.Equal(t, "served at first", []string{"first", "of another"}, served)
		second.Release()
		synctest.Wait()
		test.Equal(t, "served then", []string{"small of another", "too large for all"}, slices.Sorted(slices.Values(served[2:])))
		first.Release()
		synctest.Wait()
		test.Is(t, "served while 8 of 9 are there", 4, len(served))
		third.Release()
		synctest.Wait()
		test.Equal(t, "served in the end", []string{"large", "small"}, slices.Sorted(slices.Values(served[4:])))
	})
}

// Of shares that grow, one can always have all that it may need, and then the next: they do not wait for each other.
func TestShare_Await_growing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := call.NewShares(32, 64)
		var done atomic.Int64
		for i := range 40 {
			h := s.Of([]string{"ann", "bob", "eve"}[i%3], 16)
			go func() {
				for size := 1; size <= 16; size *= 2 {
					time.Sleep(time.Second)
					if err := h.Await(t.Context(), size); err != nil {
						t.Errorf("share %d: %v", i, err)
					}
				}
				time.Sleep(time.Second)
				h.Release()
				done.Add(1)
			}()
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		test.Is(t, "shares that were served", int64(40), done.Load())
	})
}

// One that waits without success is not in the way of others.
func TestShare_Await_late(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := call.NewShares(4, 4)
		test.OK(t, s.Of("ann", 3).Await(t.Context(), 3))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		late, small := s.Of("bob", 4), s.Of("eve", 1)
		go func() {
			test.Error(t, "without success", context.DeadlineExceeded, late.Await(ctx, 4))
		}()
		synctest.Wait()
		test.OK(t, small.Await(t.Context(), 1))
		test.Is(t, "held by the small one", 1, small.Held())
	})
}
