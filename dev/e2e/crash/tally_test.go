package crash_test

import (
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
)

// heartbeat is the time without a heartbeat after which Temporal treats a worker
// as dead.
const heartbeat = 25 * time.Second

// checkTally checks that every attempt ran once, and again only if the run before
// had failed or its process was killed. Nothing ran after the end of its task in
// the journal, whose clock may be behind by so much.
func checkTally(t *testing.T, path string, j *journal, behind time.Duration) {
	t.Helper()
	lines := harness.Tally(t, path)
	checkAlone(t, lines)
	rounds := harness.Rounds(lines)
	again := 0
	for key, r := range rounds {
		task, round, err := harness.SplitKey(key)
		if err != nil {
			t.Fatal(err)
		}
		var last *harness.Attempt
		for _, a := range r {
			if last != nil {
				again++
				checkAgain(t, key, last, a)
			}
			last = a
		}
		e := j.ended[task]
		if e == nil || last == nil || round != e.round {
			continue
		}
		if e.Attempt != 0 && e.Attempt != last.N {
			t.Errorf("%s: ended with attempt %d, and attempt %d ran", key, e.Attempt, last.N)
		}
		if last.Began.After(e.at().Add(behind)) {
			t.Errorf("%s: ran at %v, after its end was recorded at %v", key, last.Began, e.at())
		}
	}
	t.Logf("Executed %d rounds of tasks, %d attempts beside the first", len(rounds), again)
}

// checkAlone checks that no process ran a round twice at a time.
func checkAlone(t *testing.T, lines []harness.TallyLine) {
	t.Helper()
	type run struct {
		key string
		pid int
	}
	runs := map[run][]harness.TallyLine{}
	for _, l := range lines {
		at := run{l.Key, l.PID}
		runs[at] = append(runs[at], l)
	}
	for at, lines := range runs {
		if n := harness.MostAtOnce(lines); n > 1 {
			t.Errorf("%s: ran %d times at once", at.key, n)
		}
	}
}

// checkAgain checks that there was a reason to begin an attempt after the one
// before.
func checkAgain(t *testing.T, key string, last, a *harness.Attempt) {
	t.Helper()
	switch {
	case last.PID != a.PID: // it was killed
	case last.What == "error": // the attempt failed
	case last.What == "" && a.Began.Sub(last.Began) > heartbeat: // it hung
	case a.Began.Sub(last.Began) > 2*heartbeat: // Temporal lost its outcome and the next run, which may have been elsewhere
	default:
		t.Errorf("%s: attempt %d ran %v after attempt %d, which had come to %q in the same process", key, a.N, a.Began.Sub(last.Began), last.N, last.What)
	}
}
