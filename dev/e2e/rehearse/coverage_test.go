package rehearse_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"longhaul/opt"
	"longhaul/opt/rehearse"
)

// spread is a playbook, for some NAME, whose tasks take another time in each run, and cost something else.
const spread = `
name: NAME
match: {keywords: [NAME]}
plans:
  - name: Ship
    tasks:
      - {name: Build, executor: assumed, input: {takes: 700, cost: 2, ends: completed, varies: 0.5}, dependencies: []}
      - {name: Test, executor: assumed, input: {takes: 1500, cost: 3, ends: completed, varies: 0.5}, dependencies: [Build]}
      - {name: Scan, executor: assumed, input: {takes: 1200, cost: 1, ends: completed, varies: 0.5}, dependencies: [Build]}
      - {name: Release, dependencies: [Test, Scan], human: {approve: "Release it?"}}
      - {name: Publish, executor: assumed, input: {takes: 500, ends: completed, varies: 0.5}, dependencies: [Release]}
`

// The ranges that come from past runs hold for about 80% of others, which run beside them under another name. How busy
// the machine is changes the times of all tasks of a run.
func TestCoverage(t *testing.T) {
	const runs = 40
	named := func(name string) *sample { return &sample{name: name, yaml: strings.ReplaceAll(spread, "NAME", name)} }
	o := newOffice(t, []*sample{named("past"), named("held")})
	held := o.spread(t, rand.New(rand.NewPCG(*seed, 0)), 2*runs)
	var got rehearse.Report
	text := o.site.Run("rehearse", o.books, "past", "--past", fmt.Sprint(runs), "--json", "--url", o.site.URL(), "--token", o.keys[requester])
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.Past != runs {
		t.Fatalf("from %d past runs, %v: %.300s", got.Past, err, text)
	}
	inTime, inCost := 0, 0
	for _, one := range held {
		if one.took >= got.Took.Low && one.took <= got.Took.High {
			inTime++
		}
		if one.cost >= got.Cost.Low && one.cost <= got.Cost.High {
			inCost++
		}
	}
	t.Logf("of %d other runs, %d took %v to %v and %d cost %v to %v", len(held), inTime, got.Took.Low, got.Took.High, inCost, got.Cost.Low, got.Cost.High)
	if min(inTime, inCost) < runs/2 || max(inTime, inCost) == runs {
		t.Errorf("the ranges hold for %d times and %d costs of %d, want about 80%%", inTime, inCost, runs)
	}
}

// A spent is what one run has taken.
type spent struct {
	took time.Duration
	cost opt.Money
}

// spread runs both playbooks in turn, n times in all, each time with ann answering after another time. It
// returns the runs of the second one.
func (o *office) spread(t *testing.T, r *rand.Rand, n int) (held []spent) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	turn := make(chan bool, atOnce/2)
	for i := range n {
		ann := people[0]
		ann.After = rehearse.SpreadOf(time.Duration(float64(time.Second) * math.Exp(r.NormFloat64()/2)))
		s := &sample{name: fmt.Sprint([]string{"past ", "held "}[i%2], i), a: rehearse.Assumptions{Requester: requester, People: []rehearse.Person{ann}}}
		turn <- true
		wg.Go(func() {
			defer func() { <-turn }()
			events, err := o.run(t.Context(), s, false)
			if err != nil {
				t.Errorf("%s: %v", s.name, err)
				return
			}
			if end := events[len(events)-1]; i%2 == 1 {
				mu.Lock()
				defer mu.Unlock()
				held = append(held, spent{end.At.Time().Sub(events[0].At.Time()), end.Usage.Cost})
			}
		})
	}
	wg.Wait()
	return held
}
