package crash_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
)

// A runs is how the attempts at one round of a task went, by attempt.
type runs map[int]*attempt

type attempt struct {
	pid        int
	began      time.Time
	what       string // end or error, "" if it did neither
	beginnings int
}

// byKey sorts a tally by rounds of tasks.
func byKey(lines []harness.TallyLine) map[string]runs {
	all := map[string]runs{}
	for _, l := range lines {
		if all[l.Key] == nil {
			all[l.Key] = runs{}
		}
		a := all[l.Key][l.Attempt]
		if a == nil {
			a = &attempt{}
			all[l.Key][l.Attempt] = a
		}
		switch l.What {
		case "begin":
			a.pid, a.began = l.PID, l.At
			a.beginnings++
		default:
			a.what = l.What
		}
	}
	return all
}

// heartbeat is after how long without a sign of life Temporal takes a worker for
// dead.
const heartbeat = 5 * time.Second

// checkTally checks that every attempt ran once, and none without need: the one
// before it had failed, or its process was killed. Nothing ran after what the
// journal tells of as the end of its task.
func checkTally(t *testing.T, path string, j *journal) {
	t.Helper()
	lines, err := harness.ReadTally(path)
	if err != nil {
		t.Fatal(err)
	}
	again := 0
	for key, r := range byKey(lines) {
		task, round := splitKey(t, key)
		var last *attempt
		numbers := slices.Sorted(keys(r))
		for _, n := range numbers {
			a := r[n]
			if a.beginnings != 1 {
				t.Errorf("%s: attempt %d began %d times", key, n, a.beginnings)
			}
			if last != nil {
				again++
				checkAgain(t, key, n, last, a)
			}
			last = a
		}
		e := j.ended[task]
		if e == nil || last == nil || round != e.round {
			continue
		}
		if e.Attempt != 0 && e.Attempt != numbers[len(numbers)-1] {
			t.Errorf("%s: ended with attempt %d, and attempt %d ran", key, e.Attempt, numbers[len(numbers)-1])
		}
		if last.began.After(e.at()) {
			t.Errorf("%s: ran at %v, after its end was recorded at %v", key, last.began, e.at())
		}
	}
	t.Logf("Executed %d rounds of tasks, %d attempts beside the first", len(byKey(lines)), again)
}

// checkAgain checks that there was a reason to begin the n-th attempt after the
// one before.
func checkAgain(t *testing.T, key string, n int, last, a *attempt) {
	t.Helper()
	switch {
	case last.pid != a.pid: // it was killed
	case last.what == "error": // the attempt failed
	case last.what == "" && a.began.Sub(last.began) > heartbeat: // it hung
	default:
		t.Errorf("%s: attempt %d ran, though the one before it had come to %q in the same process", key, n, last.what)
	}
}

func splitKey(t *testing.T, key string) (task string, round int) {
	t.Helper()
	task, number, _ := strings.Cut(key, ":")
	round, err := strconv.Atoi(number)
	if err != nil {
		t.Fatalf("key %q: %v", key, err)
	}
	return task, round
}

func keys(r runs) func(func(int) bool) {
	return func(yield func(int) bool) {
		for n := range r {
			if !yield(n) {
				return
			}
		}
	}
}
