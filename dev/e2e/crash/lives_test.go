package crash_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

var (
	livesFor  = flag.Duration("lives", 0, "how long new installations live with faults, one after another; 0 is a short life of each kind")
	livesMost = flag.Int("lives-most", 1000, "installations at the most, with -lives")
	livesLog  = flag.String("lives-log", "", "file to which each installation that has ended well adds a line; the sums are of all its lines")
	livesSeed = flag.Uint64("lives-seed", rand.Uint64N(1_000_000), "the seed of the faults of the first one; the others have the next ones")
)

// A life is one installation with faults.
type life struct {
	Kind       string
	Seed       uint64
	Cuts       int
	Faults     int   `json:",omitempty"` // times that a disk or a link failed for some seconds, or a clock jumped
	Objectives int   // that began
	Confirmed  int64 // calls that change something and were acknowledged
	Operations int   `json:",omitempty"` // that the checker has judged
	Checked    int   // times a task that was acknowledged was looked for after a cut
	Writes     int   // that were lost
	Torn       int
	Seconds    float64

	long bool
}

// pick returns the first number for a short life, the second for a long one.
func (l *life) pick(short, long int) int {
	if l.long {
		return long
	}
	return short
}

// live gives lives of some kinds to new installations: one of each, or, with -lives, as many as there
// is time for.
func live(t *testing.T, kinds map[string]func(*life, *testing.T)) {
	t.Helper()
	if *livesFor == 0 {
		t.Parallel()
	}
	began := time.Now()
	more := func(n int) bool { return time.Since(began) < *livesFor && n < *livesMost }
	for n := 0; n == 0 || more(n); {
		for kind, run := range kinds {
			if *livesFor > 0 && n > 0 && !more(n) {
				continue
			}
			l := &life{Kind: kind, Seed: *livesSeed + uint64(n), long: *livesFor > 0}
			n++
			t.Run(fmt.Sprintf("%s/%d", kind, l.Seed), func(t *testing.T) {
				if !l.long {
					t.Parallel()
				}
				began := time.Now()
				run(l, t)
				l.Seconds = time.Since(began).Seconds()
				t.Logf("%+v", *l)
				if !t.Failed() {
					l.log(t)
				}
			})
		}
	}
	logSums(t)
}

// log adds l to the file of results.
func (l *life) log(t *testing.T) {
	if *livesLog == "" {
		return
	}
	line := test.Value(json.Marshal(l))(t)
	appendLine(t, *livesLog, line)
}

// logSums logs the sums of the file of results, for each kind.
func logSums(t *testing.T) {
	if *livesLog == "" {
		return
	}
	sums := map[string]*life{}
	for line := range strings.Lines(string(harness.ReadFile(t, *livesLog))) {
		var l life
		test.OK(t, json.Unmarshal([]byte(line), &l))
		sum := sums[l.Kind]
		if sum == nil {
			sum = &life{Kind: l.Kind}
			sums[l.Kind] = sum
		}
		sum.Seed++ // how many
		sum.Cuts, sum.Faults, sum.Objectives, sum.Confirmed = sum.Cuts+l.Cuts, sum.Faults+l.Faults, sum.Objectives+l.Objectives, sum.Confirmed+l.Confirmed
		sum.Operations += l.Operations
		sum.Checked, sum.Writes, sum.Torn, sum.Seconds = sum.Checked+l.Checked, sum.Writes+l.Writes, sum.Torn+l.Torn, sum.Seconds+l.Seconds
	}
	for kind, s := range sums {
		t.Logf("%s: %d installations in %.0f s; %d cuts, %d faults; %d objectives, %d calls acknowledged, %d operations judged, %d looks for tasks after a cut; %d writes lost, %d torn",
			kind, s.Seed, s.Seconds, s.Cuts, s.Faults, s.Objectives, s.Confirmed, s.Operations, s.Checked, s.Writes, s.Torn)
	}
}
