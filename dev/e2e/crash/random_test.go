package crash_test

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
)

// points are the points at which a process may kill itself, with the largest
// count for each.
var points = map[string]int{
	"engine-started": 6, "accepted": 6, "told": 2, "outcome-before-record": 6, "mid-record": 6, "recorded": 6, "streamed": 4,
}

// 200 objectives begin, most of them early, and are kept in every state. Every
// round ends with a kill of the only process, at a random moment or at a named
// point. Clients repeat unacknowledged calls, and readers resume.
//
// LONGHAUL_E2E_ROUNDS sets the number of rounds for a long run.
func TestCrash_everythingSurvivesRandomKills(t *testing.T) {
	rounds, objectives := 10, 200
	if n, err := strconv.Atoi(os.Getenv("LONGHAUL_E2E_ROUNDS")); err == nil {
		rounds, objectives = n, 20*n
	}
	w := newWorld(t)
	var group sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rounds)*20*time.Second+within)
	defer cancel()
	killed, most := map[string]int{}, map[string]int{}
	for round := range rounds + 1 {
		last := round == rounds
		point := ""
		if round%2 == 1 && !last {
			point = choose(points)
		}
		p := w.launch(harness.AllInOne, point)
		if point == "" {
			p.WaitReady() // a process that kills itself may never be ready
		}
		for n := begin(round, rounds, objectives); n < begin(round+1, rounds, objectives); n++ {
			group.Go(w.scenario(ctx, scenarios, n))
		}
		if last {
			w.nextRound(true)
			break
		}
		p.AwaitEnd(time.Duration(1500+rand.IntN(2500)) * time.Millisecond)
		w.count(most)
		if !p.Killed() {
			select {
			case <-p.Ended():
				t.Fatalf("%v ended by itself", p)
			default:
			}
			point = "a random moment"
		}
		p.Kill()
		killed[point]++
		w.nextRound(false)
	}
	group.Wait()
	all := w.settle()
	t.Logf("%d objectives, of which there were at a kill at the most %v; killed at %v; %d streams, opened again %d times",
		len(w.tasks), most, killed, len(w.followers), w.resumes())

	processes := w.site.Started()
	processes[len(processes)-1].Stop()
	w.checkStopped(all)
}

// scenario returns what drives the n-th objective, with the kinds in turn.
func (w *world) scenario(ctx context.Context, kinds []scenario, n int) func() {
	return func() {
		s := kinds[n%len(kinds)]
		if err := s.run(w, ctx, n); err != nil {
			w.t.Errorf("objective %d, %s: %v", n, s.name, err)
		}
	}
}

// begin returns how many objectives to begin before a round: a quarter in each of
// the first rounds if there are only a few rounds.
func begin(round, rounds, objectives int) int {
	return min(round*max(objectives/rounds, objectives/4), objectives)
}

// count notes the most objectives of each status, if the process answers.
func (w *world) count(most map[string]int) {
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
	defer cancel()
	list, err := w.c.Objectives(ctx)
	if err != nil {
		return // the process has killed itself
	}
	now := map[string]int{}
	for _, o := range list {
		now[o.Status]++
	}
	for status, n := range now {
		most[status] = max(most[status], n)
	}
}

// choose returns a random point with a count.
func choose(points map[string]int) string {
	skip := rand.IntN(len(points))
	for name, most := range points { // in any order
		if skip--; skip < 0 {
			return name + ":" + strconv.Itoa(1+rand.IntN(most))
		}
	}
	return ""
}
