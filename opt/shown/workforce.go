package shown

import "time"

// A Workforce is how busy the workers of all tenants are, as far as Temporal knows.
type Workforce struct {
	Queues  []QueueLoad  // that of tasks first
	Workers []WorkerLoad // that run tasks
}

// Absent reports whether no worker takes tasks.
func (w Workforce) Absent() bool { return len(w.Queues) > 0 && w.Queues[0].Workers == 0 }

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
