package rehearse_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"longhaul/opt"
	"longhaul/opt/rehearse"
)

// spread is a playbook whose tasks take another time in each run, and cost something else.
const spread = `
name: spread
match: {keywords: [spread]}
plans:
  - name: Ship
    tasks:
      - {name: Build, executor: assumed, input: {takes: 700, cost: 2, ends: completed, varies: 0.5}, dependencies: []}
      - {name: Test, executor: assumed, input: {takes: 1500, cost: 3, ends: completed, varies: 0.5}, dependencies: [Build]}
      - {name: Scan, executor: assumed, input: {takes: 1200, cost: 1, ends: completed, varies: 0.5}, dependencies: [Build]}
      - {name: Release, dependencies: [Test, Scan], human: {approve: Release it?}}
      - {name: Publish, executor: assumed, input: {takes: 500, ends: completed, varies: 0.5}, dependencies: [Release]}
`

// The ranges that come from past runs hold for about 80% of the runs after them.
func TestCoverage(t *testing.T) {
	const runs = 40
	r := rand.New(rand.NewPCG(*seed, 0))
	o := newOffice(t, []*sample{{name: "spread", yaml: spread}})
	o.spread(t, r, runs)
	var got rehearse.Report
	text := o.site.Run("rehearse", o.books, "spread", "--past", fmt.Sprint(runs), "--json", "--url", o.site.URL(), "--token", o.keys[requester])
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.Past != runs {
		t.Fatalf("from %d past runs, %v: %.300s", got.Past, err, text)
	}
	inTime, inCost := 0, 0
	held := o.spread(t, r, runs)
	for _, one := range held {
		if one.took >= got.Took.Low && one.took <= got.Took.High {
			inTime++
		}
		if one.cost >= got.Cost.Low && one.cost <= got.Cost.High {
			inCost++
		}
	}
	t.Logf("of %d runs after them, %d took %v to %v and %d cost %v to %v", len(held), inTime, got.Took.Low, got.Took.High, inCost, got.Cost.Low, got.Cost.High)
	for of, n := range map[string]int{"times": inTime, "costs": inCost} {
		if n < runs/2 || n == runs {
			t.Errorf("the range holds for %d of %d %s, want about 80%%", n, runs, of)
		}
	}
}

// A spent is what one run has taken.
type spent struct {
	took time.Duration
	cost opt.Money
}

// spread runs the playbook several times, each time with ann answering after another time.
func (o *office) spread(t *testing.T, r *rand.Rand, n int) (list []spent) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	turn := make(chan bool, atOnce)
	for range n {
		o.runs++
		ann := people[0]
		ann.After = rehearse.SpreadOf(time.Duration(float64(time.Second) * math.Exp(r.NormFloat64()/2)))
		s := &sample{name: fmt.Sprint("spread ", o.runs), a: rehearse.Assumptions{Requester: requester, People: []rehearse.Person{ann}}}
		wg.Go(func() {
			turn <- true
			defer func() { <-turn }()
			events, err := o.run(t.Context(), s)
			if err != nil {
				t.Errorf("%s: %v", s.name, err)
				return
			}
			end := events[len(events)-1]
			mu.Lock()
			defer mu.Unlock()
			list = append(list, spent{end.At.Time().Sub(events[0].At.Time()), end.Usage.Cost})
		})
	}
	wg.Wait()
	return list
}
