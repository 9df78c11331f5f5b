package sim_test

import (
	"flag"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"longhaul/opt"
	"longhaul/opt/machine/sim"
)

var (
	schedules = flag.Int("schedules", 0, "how many random schedules to play; 0 for the usual number")
	seed      = flag.Uint64("seed", 1, "the seed of the first of them")
	steps     = flag.Int("steps", 90, "how many steps a schedule has")
	shrink    = flag.Bool("shrink", true, "cut a schedule that fails down to a short one")
	only      = flag.Bool("only", false, "play the schedule of -seed alone, and show its script")
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // worlds are many and small
	m.Run()
}

// The machines keep the invariants under random schedules. A failure prints a
// short schedule with its script, for defects_test.go.
func TestSchedules(t *testing.T) {
	n := *schedules
	if n == 0 {
		n = usual
	}
	if *only {
		result := sim.Run(sim.Random(*seed, *steps), true)
		t.Logf("%s\n%s", strings.Join(result.Script, "\n"), result.Problem)
		n = 1
	}
	ends := map[opt.ObjectiveStatus]int{}
	began := time.Now()
	for i := range n {
		schedule := sim.Random(*seed+uint64(i), *steps)
		result := sim.Run(schedule, false)
		if result.Problem == "" {
			for status, n := range result.Ends {
				ends[status] += n
			}
			continue
		}
		if !*shrink {
			t.Fatalf("seed %d: %s", *seed+uint64(i), result.Problem)
		}
		short := sim.Shrink(schedule, 3000)
		again := sim.Run(short, true)
		t.Fatalf("seed %d: %s\n\n%s\n\n%s\n%s", *seed+uint64(i), result.Problem, short, strings.Join(again.Script, "\n"), again.Problem)
	}
	t.Logf("%d schedules in %v: %v", n, time.Since(began).Round(time.Millisecond), ends)
	for _, status := range []opt.ObjectiveStatus{opt.ObjectiveCompleted, opt.ObjectiveFailed, opt.ObjectiveCanceled} {
		if n >= 1000 && ends[status] < n/20 {
			t.Errorf("only %d objectives ended %s, which tests little", ends[status], status)
		}
	}
}
