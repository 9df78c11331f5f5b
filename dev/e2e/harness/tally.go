package harness

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// A TallyLine is one line of the tally that [Victim] keeps of what executors did.
type TallyLine struct {
	Key     string // of a round of a task: <task>:<round>
	Attempt int
	PID     int
	At      time.Time
	What    string // begin, end or error
}

// ReadTally returns what was noted, in order. A process may have died within the
// last line it wrote.
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
		if _, err := fmt.Sscanf(s.Text(), "%s %d %d %d %s", &l.Key, &l.Attempt, &l.PID, &nanos, &l.What); err != nil {
			return nil, fmt.Errorf("line %q: %w", s.Text(), err)
		}
		l.At = time.Unix(0, nanos)
		lines = append(lines, l)
	}
	return lines, nil
}
