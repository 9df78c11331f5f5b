package shown

import (
	"fmt"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Workforce is how busy the workers of all tenants are, as far as Temporal knows.
type Workforce struct {
	Queues  []QueueLoad  // that of tasks first
	Workers []WorkerLoad // that run tasks
}

// Absent reports whether no worker takes tasks. One that has no room does not ask for any, and says so.
func (w Workforce) Absent() bool {
	busy := slices.ContainsFunc(w.Workers, func(l WorkerLoad) bool { return l.Used > 0 })
	return len(w.Queues) > 0 && w.Queues[0].Workers == 0 && !busy
}

// answerAge is how old answers about workers may be, in milliseconds, with what the clocks differ.
const answerAge = 5000

// Since returns since when tasks that may wait for a worker have done so; ok is false if none does. Without workers
// it is the zero time.
func (w Workforce) Since(now a2a.Time) (since a2a.Time, ok bool) {
	switch {
	case w.Absent():
		return since, true
	case len(w.Queues) == 0 || w.Queues[0].Waiting == 0:
		return since, false
	}
	return a2a.AtMillis(now.Millis() - w.Queues[0].Oldest.Milliseconds() - answerAge), true
}

// WaitOf says that a task that runs, with some spans, waits or may wait for a worker; "" if it does not. It may if it
// is not known that one has taken it, and others that began before it, or at that time, are waiting.
func (w Workforce) WaitOf(spans []Span, now a2a.Time) string {
	since, ok := w.Since(now)
	switch n := len(spans); {
	case !ok:
		return ""
	case w.Absent():
		return "Waits for a worker, and none runs tasks now"
	case n == 0 || spans[n-1].From.Millis() < since.Millis(), n > 1 && spans[n-2].Untaken && spans[n-2].Until == spans[n-1].From:
		return ""
	}
	q, wait := w.Queues[0], "tasks wait"
	if q.Waiting == 1 {
		wait = "task waits"
	}
	return fmt.Sprintf("Waits for a worker of the queue of %s, where %s %s for up to %s, or has just got one", q.Of, opt.Grouped(q.Waiting), wait, opt.InUnits(q.Oldest.Milliseconds(), 10))
}

// A QueueLoad is how much waits in a task queue.
type QueueLoad struct {
	Of      string // what it has, in a word
	Waiting int64  // about
	Oldest  time.Duration
	Workers int // that take from it
}

// A WorkerLoad is how many tasks a worker runs, and could run besides.
type WorkerLoad struct {
	Name       string
	Used, Free int
}
