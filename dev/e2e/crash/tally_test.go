package crash_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// heartbeat is the time without a heartbeat after which Temporal treats a worker
// as dead.
const heartbeat = 25 * time.Second

// checkTally checks that every attempt ran once, and again only if the run before
// had failed, its process was killed or the journal lacked what it had streamed. Nothing ran after the end of its task in
// the journal, whose clock may be behind by so much.
func checkTally(t *testing.T, path string, j *journal, behind time.Duration) {
	t.Helper()
	lines := harness.Tally(t, path)
	checkAlone(t, lines)
	rounds := harness.Rounds(lines)
	again, unrecorded := 0, 0
	for key, r := range rounds {
		task, round, err := harness.SplitKey(key)
		test.OK(t, err)
		var last *harness.Attempt
		for _, a := range r {
			if last != nil {
				again++
				if last.Unrecorded {
					unrecorded++
				}
				test.Is(t, key, "", needless(last, a))
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
	t.Logf("Executed %d rounds of tasks, %d attempts beside the first, %d of them since the journal lacked pieces of one that had ended", len(rounds), again, unrecorded)
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

// needless returns why there was no reason to begin an attempt after the one before, "" if there was one.
func needless(last, a *harness.Attempt) string {
	after := a.Began.Sub(last.Began)
	switch {
	case last.PID != a.PID: // it was killed
	case last.What == "error": // the attempt failed
	case last.What == "" && after > heartbeat: // it hung
	case last.Unrecorded: // what it had streamed was not in the journal
	case a.Try > last.Try+1: // a try between them went elsewhere, so that this process cannot know whether its outcome still holds
	case a.Try == 0 && after > 2*heartbeat: // the same, of a program that does not note tries
	default:
		return fmt.Sprintf("attempt %d (try %d) ran %v after attempt %d (try %d), which had come to %q in the same process", a.N, a.Try, after, last.N, last.Try, last.What)
	}
	return ""
}

func TestNeedless(t *testing.T) {
	begin := "task-1-0:1 1 7 1000000000 begin 1\ntask-1-0:1 1 7 2000000000 end 1\n"
	for name, tt := range map[string]struct {
		lines string
		ok    bool
	}{
		"the next try, in the same process":      {begin + "task-1-0:1 1 7 3000000000 begin 2\n", false},
		"much later":                             {begin + "task-1-0:1 1 7 99000000000 begin 2\n", false},
		"pieces were late, and recorded":         {strings.Replace(begin, "task-1-0:1 1 7 2", "task-1-0:1 1 7 1500000000 unrecorded 1\ntask-1-0:1 1 7 2", 1) + "task-1-0:1 1 7 3000000000 begin 2\n", false},
		"pieces were not recorded":               {begin + "task-1-0:1 1 7 2000000001 unrecorded 1\ntask-1-0:1 1 7 3000000000 begin 2\n", true},
		"pieces of another try were not":         {begin + "task-1-0:1 1 7 2000000001 unrecorded 3\ntask-1-0:1 1 7 3000000000 begin 2\n", false},
		"a try went elsewhere":                   {begin + "task-1-0:1 1 7 3000000000 begin 3\n", true},
		"in another process":                     {begin + "task-1-0:1 1 8 3000000000 begin 2\n", true},
		"it had failed":                          {strings.Replace(begin, "end", "error", 1) + "task-1-0:1 1 7 3000000000 begin 2\n", true},
		"by programs without tries":              {strings.ReplaceAll(begin, " 1\n", "\n") + "task-1-0:1 1 7 3000000000 begin\n", false},
		"by programs without tries, after hours": {strings.ReplaceAll(begin, " 1\n", "\n") + "task-1-0:1 1 7 99000000000000 begin\n", true},
	} {
		r := harness.Rounds(harness.Tally(t, test.File(t, "tally", tt.lines)))["task-1-0:1"]
		if len(r) != 2 {
			t.Fatalf("%s: %d attempts", name, len(r))
		}
		if got := needless(r[0], r[1]); (got == "") != tt.ok {
			t.Errorf("%s: %q", name, got)
		}
	}
}
