package crash_test

import (
	"slices"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
)

// The only process is killed three times while ten objectives work through lists
// and one works on a task of 20 s. Nothing fails, since a lost worker is not a
// failed attempt. The test logs how soon objectives continue.
func TestCrash_recovery(t *testing.T) {
	w := newWorld(t)
	p := w.start(harness.AllInOne, "")
	for n := range 11 {
		scripts := slices.Repeat([]string{"work 1500ms"}, 9)
		if n == 0 {
			scripts = []string{"work 20s"}
		}
		plan := harness.NewPlan("list", append(scripts, say(n))...)
		if _, err := w.begin(w.ctx(), harness.Message{ID: id(n), Text: "x", Plan: plan}, completes(n)); err != nil {
			t.Fatal(err)
		}
	}
	var kills []time.Time
	for range 3 {
		p.AwaitEnd(4 * time.Second)
		kills = append(kills, time.Now())
		p.Kill()
		p = w.start(harness.AllInOne, "")
	}
	all := w.settle()
	p.Stop()
	w.checkStopped(all)
	j := openJournal(t, w.site)
	waits := j.waits(t, kills)
	if len(waits) == 0 {
		t.Fatal("no objective was at work at a kill")
	}
	t.Logf("From a kill to the next event of an objective of many tasks: p50 %v, max %v, of %d", waits[len(waits)/2], waits[len(waits)-1], len(waits))
}

// waits returns how long objectives of more than two tasks that had not ended took
// from each kill to their next event, shortest first.
func (j *journal) waits(t *testing.T, kills []time.Time) (all []time.Duration) {
	t.Helper()
	for id, events := range j.events {
		if j.ended[planTask(id, 1, 2)] == nil {
			continue
		}
		for _, kill := range kills {
			i := slices.IndexFunc(events, func(e event) bool { return e.at().After(kill) })
			if i > 0 {
				all = append(all, events[i].at().Sub(kill).Round(time.Millisecond))
			}
		}
	}
	slices.Sort(all)
	return all
}
