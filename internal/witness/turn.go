package witness

import (
	"maps"
	"slices"
	"time"
)

// Arrive brings work into a context. Any result but nil says that it has arrived.
type Arrive struct{ Context, Work string }

// Run says that work began to run, at the time of the call. Its result is [Done].
type Run struct{ Context, Work string }

// Rest says that work stopped running, at the time of the call. The result is [Done], or
// unknown if its process was killed: then it stopped at any time since the call.
type Rest struct{ Context, Work string }

// Done is the result of calls that just happen.
type Done struct{}

func (Done) String() string { return "done" }

// On implements [Ask].
func (a Arrive) On() Subject { return Subject{Turns, a.Context} }

func (a Arrive) String() string { return a.Work + " arrives" }

// On implements [Ask].
func (r Run) On() Subject { return Subject{Turns, r.Context} }

func (r Run) String() string { return r.Work + " runs" }

// On implements [Ask].
func (r Rest) On() Subject { return Subject{Turns, r.Context} }

func (r Rest) String() string { return r.Work + " rests" }

// An arrival is when work arrived: between two times.
type arrival struct {
	from, to time.Duration
	sure     bool // a call says that it has
}

// turns reports whether an order explains calls about a context. Only the times of arrivals are
// open, so no search is needed: each is taken as early as those before it allow.
func turns(calls []Call) bool {
	arrived, moves := map[string]arrival{}, []Call{}
	for _, c := range calls {
		a, ok := c.Ask.(Arrive)
		if _, rest := c.Ask.(Rest); !ok && (rest || c.Result != nil) {
			moves = append(moves, c)
		}
		if !ok {
			continue
		}
		if known, again := arrived[a.Work]; again { // one of them brought it
			arrived[a.Work] = arrival{min(known.from, c.Begin), max(known.to, c.End), known.sure || c.Result != nil}
			continue
		}
		arrived[a.Work] = arrival{c.Begin, c.End, c.Result != nil}
	}
	maps.DeleteFunc(arrived, func(_ string, a arrival) bool { return !a.sure })
	slices.SortStableFunc(moves, func(a, b Call) int { return int(a.Begin - b.Begin) })
	q := queue{arrived: arrived, ran: map[string]bool{}}
	for _, c := range moves {
		if !q.move(c) {
			return false
		}
	}
	return q.inOrder()
}

// A queue is the state of a context.
type queue struct {
	arrived map[string]arrival
	ran     map[string]bool
	running string        // the work, "" for none
	loose   bool          // it may have stopped
	at      time.Duration // the earliest time at which the last one that ran may have arrived
}

// move takes a run or a rest, and reports whether it may happen.
func (q *queue) move(c Call) bool {
	if r, ok := c.Ask.(Rest); ok {
		switch {
		case q.running != r.Work:
		case c.Result == nil:
			q.loose = true
		default:
			q.running = ""
		}
		return true
	}
	work := c.Ask.(Run).Work
	if q.running != "" && q.running != work && !q.loose {
		return false
	}
	q.running, q.loose = work, false
	a, known := q.arrived[work]
	if q.ran[work] || !known {
		return true
	}
	q.ran[work], q.at = true, max(q.at, a.from)
	return q.at <= min(a.to, c.Begin)
}

// inOrder reports whether all that has not run may have arrived after all that has.
func (q *queue) inOrder() bool {
	for work, a := range q.arrived {
		if !q.ran[work] && a.to < q.at {
			return false
		}
	}
	return true
}
