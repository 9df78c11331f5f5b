package witness

import "strings"

// Arrive brings work into a context. Any result but nil says that it has arrived.
type Arrive struct{ Context, Work string }

// Run says that work began to run, at the time of the call. Its result is [Done].
type Run struct{ Context, Work string }

// Rest says that work stopped running, at the time of the call. The result is [Done], or
// unknown if its process was killed.
type Rest struct{ Context, Work string }

// Done is the result of calls that just happen.
type Done struct{}

func (Done) String() string { return "done" }

// queue is the state of a context.
type queue struct {
	running string // the work, "" for none
	waiting string // work that has not run yet, each with a line end, in order
}

// On implements [Ask].
func (a Arrive) On() Subject { return Subject{Turns, a.Context} }

func (a Arrive) String() string { return a.Work + " arrives" }

func (a Arrive) step(before, _ any) (any, bool) {
	q, _ := before.(queue)
	q.waiting += a.Work + "\n"
	return q, true
}

// On implements [Ask].
func (r Run) On() Subject { return Subject{Turns, r.Context} }

func (r Run) String() string { return r.Work + " runs" }

func (r Run) step(before, result any) (any, bool) {
	q, _ := before.(queue)
	first, others, _ := strings.Cut(q.waiting, "\n")
	again := !strings.Contains("\n"+q.waiting, "\n"+r.Work+"\n")
	if q.running != "" && q.running != r.Work || first != r.Work && !again {
		return q, result == nil
	}
	if !again {
		q.waiting = others
	}
	q.running = r.Work
	return q, true
}

// On implements [Ask].
func (r Rest) On() Subject { return Subject{Turns, r.Context} }

func (r Rest) String() string { return r.Work + " rests" }

func (r Rest) step(before, _ any) (any, bool) {
	q, _ := before.(queue)
	if q.running == r.Work {
		q.running = ""
	}
	return q, true
}
