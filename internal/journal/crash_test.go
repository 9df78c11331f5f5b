package journal_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
)

// childEnv makes the test binary a process that records until it is killed. It
// holds the path of the journal, the objective and a name; with the path alone the
// process purges.
const childEnv = "JOURNAL_TEST_CHILD"

func TestMain(m *testing.M) {
	switch child := strings.Fields(os.Getenv(childEnv)); len(child) {
	case 3:
		recordForEver(child[0], child[1], child[2])
	case 1:
		purgeForEver(child[0])
	}
	code := m.Run()
	if serverUsed.Load() {
		if s, err := server(); s != nil {
			if err := errors.Join(err, s.Close()); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	}
	os.Exit(code)
}

// recordForEver prints a line for everything that was acknowledged.
func recordForEver(path, objectiveID, name string) {
	j, err := journal.Open(context.Background(), configAt(path))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		source := fmt.Sprint(name, "-", i)
		wg.Go(func() {
			for n := int64(1); ; n++ {
				mark := fmt.Sprint(source, "/", n)
				e := opt.Event{N: n, Kind: opt.TaskMoved, TaskID: objectiveID, To: "working", Reason: mark, Status: agentMessage(mark, strings.Repeat("x", int(n*97%3000)))}
				if err := j.Record(context.Background(), opt.Batch{ObjectiveID: objectiveID, Source: source, Events: []opt.Event{e}}); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				os.Stdout.WriteString(mark + "\n")
			}
		})
	}
	wg.Wait()
}

// TestKill kills a process that records, again and again, every other time
// while this one records too. Everything acknowledged must be there after that.
func TestKill(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); kill(t, file(t)) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); kill(t, database(t)) })
}

// configAt returns the config for a journal in a file or at a URL.
func configAt(place string) journal.Config {
	if strings.HasPrefix(place, "postgres:") {
		return journal.Config{URL: place, Migrate: true}
	}
	return journal.Config{Path: place}
}

func kill(t *testing.T, path string) {
	s := begin(t, openWith(t, configAt(path)), newObjective())
	var marks []string
	for round := range 6 {
		alone := round%2 == 0
		if alone {
			test.OK(t, s.j.Close())
		} else {
			s.j = openWith(t, configAt(path))
		}
		marks = append(marks, killed(t, path, s, round, alone)...)
		if alone {
			s.j = openWith(t, configAt(path))
		}
		checkAll(t, s, marks)
		test.OK(t, s.j.Close())
	}
}

// killed runs a child, kills it after some acknowledgements, and returns these.
func killed(t *testing.T, path string, s *scribe, round int, alone bool) (marks []string) {
	child, lines := startChild(t, fmt.Sprintf("%s %s round%d", path, s.objective.ID, round))
	enough := 1 + rand.IntN(150)
	n := 0
	for lines.Scan() {
		marks = append(marks, lines.Text())
		if n++; n == enough {
			_ = child.Process.Kill() // what it said until then counts as well
		}
		if !alone && n%10 == 0 {
			mine := s.rootMoved(opt.TaskWorking)
			mine.Reason = fmt.Sprint("mine/", s.n)
			s.record(mine)
			marks = append(marks, mine.Reason)
		}
	}
	if err := child.Wait(); err == nil || n < enough {
		t.Fatalf("the child ended by itself after %d lines: %v", n, err)
	}
	return marks
}

// startChild starts the test binary with args in childEnv. lines is what it prints.
func startChild(t *testing.T, args string) (child *exec.Cmd, lines *bufio.Scanner) {
	t.Helper()
	child = exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+args)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	test.OK(t, err)
	return child, bufio.NewScanner(out)
}

// checkAll looks for each mark, and for what a crash could have broken.
func checkAll(t *testing.T, s *scribe, marks []string) {
	t.Helper()
	var there []string
	for i, e := range s.events() {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has seq %d", i, e.Seq)
		}
		there = append(there, e.Event.Reason)
	}
	slices.Sort(there)
	for _, mark := range marks {
		if _, ok := slices.BinarySearch(there, mark); !ok {
			t.Errorf("%s was acknowledged and is not there", mark)
		}
	}
	if _, seq, err := s.j.Peek(t.Context(), tenant, s.objective.ID); err != nil || seq != int64(len(there)) {
		t.Errorf("the task is at seq %d, %v, the events at %d", seq, err, len(there))
	}
	sound(t, s.j)
}
