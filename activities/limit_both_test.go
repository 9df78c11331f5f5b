package activities_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"longhaul/activities"
)

// A task that waits for its executor does not count as one of its tenant, and one that waits for
// its tenant does not keep others from the executor.
func TestRun_holdsNoPermitWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1, "running-tasks=2")
		s.send(t.Context(), "a", "slow", "s1", "s2", "s3", "s4")
		s.send(t.Context(), "a", "fast", "f1", "f2")
		s.want("behind the limit", "s1", "f1")
		s.end("f1")
		s.want("within the quota", "s1", "f1", "f2")
		s.send(t.Context(), "b", "slow", "b1")
		s.end("s1")
		s.want("in turns", "s1", "f1", "f2", "s2")
		s.end("s2")
		s.want("in turns", "s1", "f1", "f2", "s2", "b1")
		s.end("b1")
		s.send(t.Context(), "a", "fast", "f3")
		s.send(t.Context(), "b", "slow", "b2")
		s.want("above the quota", "s1", "f1", "f2", "s2", "b1", "s3")
		s.end("s3", "f2", "f3", "s4", "b2")
		s.want("at last", "s1", "f1", "f2", "s2", "b1", "s3", "s4", "f3", "b2")
		s.finish(9)
	})
}

// A task whose turn at its executor came while its tenant was at its quota gets the next one: the
// tenant begins no other task in its place. So neither other tenants at the executor nor other
// tasks of the tenant keep it waiting for ever.
func TestRun_limitAndQuotaStarveNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1, "a:running-tasks=2")
		s.send(t.Context(), "b", "slow", "b1", "b2", "b3")
		s.send(t.Context(), "a", "fast", "f1", "f2", "f3", "f4")
		s.send(t.Context(), "a", "slow", "s1", "s2")
		s.end("b1") // it is the turn of b, which came first
		s.want("the first turn", "b1", "f1", "f2", "b2")
		s.end("f1")
		s.want("no turn was missed", "b1", "f1", "f2", "b2", "f3")
		s.end("b2")
		s.want("a misses its turn", "b1", "f1", "f2", "b2", "f3", "b3")
		s.end("f2")
		s.want("one permit of a is kept", "b1", "f1", "f2", "b2", "f3", "b3")
		s.end("f3")
		s.want("but no other", "b1", "f1", "f2", "b2", "f3", "b3", "f4")
		s.send(t.Context(), "b", "slow", "b4")
		s.end("b3")
		s.want("the turn that was missed", "b1", "f1", "f2", "b2", "f3", "b3", "f4", "s1")
		s.send(t.Context(), "a", "fast", "f5")
		s.end("f4")
		s.want("none is kept any more", "b1", "f1", "f2", "b2", "f3", "b3", "f4", "s1", "f5")
		s.end("s1", "b4", "f5", "s2")
		s.want("at last", "b1", "f1", "f2", "b2", "f3", "b3", "f4", "s1", "f5", "b4", "s2")
		s.finish(11)
	})
}

// In any order of tasks that come, end and are canceled, neither limits nor quotas are exceeded, and
// no task waits that could run, but for one permit of a tenant that has missed a turn.
func TestRun_limitAndQuotaInAnyOrder(t *testing.T) {
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, 2, "running-tasks=3", "c:running-tasks=1", "d:running-tasks=0")
			limit, quota := map[string]int{"slow": 2, "fast": 99}, map[string]int{"a": 3, "b": 3, "c": 1, "d": 99}
			random := rand.New(rand.NewPCG(seed, 1))
			type sent struct {
				tenant, kind, id string
				cancel           func()
			}
			var open []sent
			for n := range 80 {
				if random.IntN(3) > 0 && n < 60 || len(open) == 0 {
					ctx, cancel := context.WithCancel(t.Context())
					w := sent{[]string{"a", "b", "c", "d"}[random.IntN(4)], []string{"slow", "fast"}[random.IntN(2)], fmt.Sprint(n), cancel}
					open = append(open, w)
					s.send(ctx, w.tenant, w.kind, w.id)
				} else {
					i := random.IntN(len(open))
					if w := open[i]; slices.Contains(s.began, w.id) && random.IntN(4) > 0 {
						s.end(w.id)
					} else {
						w.cancel()
						synctest.Wait()
					}
					open = slices.Delete(open, i, i+1)
				}
				used := map[string]int{}
				for _, w := range open {
					if slices.Contains(s.began, w.id) {
						used[w.kind]++
						used[w.tenant]++
					}
				}
				for _, w := range open {
					room := used[w.kind] < limit[w.kind] && used[w.tenant] < quota[w.tenant]-1
					if used[w.kind] > limit[w.kind] || used[w.tenant] > quota[w.tenant] || room && !slices.Contains(s.began, w.id) {
						t.Fatalf("seed %d, step %d: %v run, and %s of %s at %s has begun: %t", seed, n, used, w.id, w.tenant, w.kind, slices.Contains(s.began, w.id))
					}
				}
			}
			for len(open) > 0 { // none waits for ever
				i := slices.IndexFunc(open, func(w sent) bool { return slices.Contains(s.began, w.id) })
				if i < 0 {
					t.Fatalf("seed %d: %d tasks wait, and none runs", seed, len(open))
				}
				s.end(open[i].id)
				open = slices.Delete(open, i, i+1)
			}
		})
	}
}

// A task that waits for both can be canceled. What it was waiting with is for the others.
func TestRun_limitAndQuotaCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1, "a:running-tasks=1")
		gone, cancel := context.WithCancel(t.Context())
		s.send(t.Context(), "b", "slow", "b1", "b2")
		s.send(t.Context(), "a", "fast", "f1")
		s.send(gone, "a", "slow", "gone")
		s.send(t.Context(), "a", "fast", "f2")
		s.end("b1", "b2") // no other task waits for the executor, so no turn is missed
		s.send(t.Context(), "b", "slow", "b3", "b4")
		s.end("b3") // now one is
		s.end("f1")
		s.want("one permit of a is kept", "b1", "f1", "b2", "b3", "b4")
		cancel()
		if err := <-s.ended; err != nil && err != context.Canceled {
			t.Error(err)
		}
		synctest.Wait()
		s.want("and given up", "b1", "f1", "b2", "b3", "b4", "f2")
		s.end("f2", "b4")
	})
}

// A task within the quota of its tenant waits for its executor as long as its attempt may take: it
// is not sent back.
func TestRun_limitSendsNoneBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1, "running-tasks=2")
		s.send(t.Context(), "a", "slow", "s1", "s2")
		<-time.After(10 * time.Minute) // of the clock of the bubble
		synctest.Wait()
		if s.lent(1); len(s.ended) > 0 || len(s.seen.quotas) > 0 {
			t.Errorf("%d tasks have ended, exceeded %v", len(s.ended), s.seen.quotas)
		}
		s.end("s1", "s2")
		s.want("at last", "s1", "s2")
		s.finish(2)
	})
}

// A leg that cancels work elsewhere does not wait for the quota of its tenant, but for the limit
// of its executor.
func TestRun_limitOfCancelingLegs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1, "running-tasks=1")
		s.send(t.Context(), "a", "slow", "s1", "s2")
		for id, kind := range map[string]string{"c1": "slow", "c2": "fast", "c3": "fast"} {
			w := work
			w.Tenant, w.Executor, w.TaskID, w.Cancel = "a", kind, id, true
			s.next[w.TaskID] = make(chan struct{})
			go func() {
				_, err := s.acts.Run(t.Context(), activities.RunInput{Work: w})
				s.ended <- err
			}()
			synctest.Wait()
		}
		if slices.Sort(s.began); !slices.Equal(s.began, []string{"c2", "c3", "s1"}) {
			t.Errorf("%v have begun, though the quota is used up", s.began)
		}
		s.end("c2", "c3", "s1", "s2", "c1")
		s.finish(5)
	})
}
