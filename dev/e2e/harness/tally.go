package harness

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"longhaul/internal/test"
)

// Unrecorded is what a line says of pieces that the journal has not taken.
const Unrecorded = "unrecorded"

// A TallyLine is one line of the file in which [Crashable] records runs of
// executors.
type TallyLine struct {
	Key     string // of a round of a task: <task>:<round>
	Attempt int
	PID     int
	At      time.Time
	What    string // begin, end, error or unrecorded
	Try     int    // 0 in lines of programs that do not note it
}

// ReadTally returns the lines in order. The last line of a killed process may be
// incomplete.
func ReadTally(path string) ([]TallyLine, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var lines []TallyLine
	for s := bufio.NewScanner(f); s.Scan(); {
		var l TallyLine
		var nanos int64
		if n, err := fmt.Sscan(s.Text(), &l.Key, &l.Attempt, &l.PID, &nanos, &l.What, &l.Try); n < 5 {
			return nil, fmt.Errorf("line %q: %w", s.Text(), err)
		}
		l.At = time.Unix(0, nanos)
		lines = append(lines, l)
	}
	return lines, nil
}

// Tally is ReadTally for a file that can be read.
func Tally(t testing.TB, path string) []TallyLine {
	t.Helper()
	lines, err := ReadTally(path)
	test.OK(t, err)
	return lines
}

// MostAtOnce returns how many of the runs in lines ran at the same time, at most.
func MostAtOnce(lines []TallyLine) (most int) {
	running := 0
	for _, l := range slices.SortedStableFunc(slices.Values(lines), func(a, b TallyLine) int { return a.At.Compare(b.At) }) {
		switch l.What {
		case "begin":
			running++
		case Unrecorded:
		default:
			running--
		}
		most = max(most, running)
	}
	return most
}

// A Round has the attempts at a task between two gates, in the order of their
// beginnings. An attempt whose worker was lost begins again under the same
// number.
type Round []*Attempt

// An Attempt is one beginning of an attempt at a round.
type Attempt struct {
	N     int
	PID   int
	Began time.Time
	Ended time.Time // zero without What
	What  string    // end or error, "" if it has neither
	Try   int       // 0 if it is not known

	Unrecorded bool // the journal did not take what it streamed, when it had ended
}

// Last returns the latest attempt, nil if there was none.
func (r Round) Last() *Attempt {
	if len(r) == 0 {
		return nil
	}
	return r[len(r)-1]
}

// Rounds sorts the lines of a tally by their keys.
func Rounds(lines []TallyLine) map[string]Round {
	all := map[string]Round{}
	for _, l := range lines {
		if l.What == "begin" {
			all[l.Key] = append(all[l.Key], &Attempt{N: l.Attempt, PID: l.PID, Try: l.Try, Began: l.At})
			continue
		}
		for _, a := range slices.Backward(all[l.Key]) {
			if a.N != l.Attempt || a.PID != l.PID || a.Try != l.Try {
				continue
			}
			switch {
			case l.What == Unrecorded:
				a.Unrecorded = a.What != ""
			case a.What == "":
				a.What, a.Ended = l.What, l.At
			default:
				continue
			}
			break
		}
	}
	return all
}

// SplitKey returns the A2A task and the number of a round.
func SplitKey(key string) (task string, round int, err error) {
	task, number, _ := strings.Cut(key, ":")
	if round, err = strconv.Atoi(number); err != nil {
		return "", 0, fmt.Errorf("key %q: %w", key, err)
	}
	return task, round, nil
}
