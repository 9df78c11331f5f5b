package witness

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// patience is how long one check of one subject may take. It is rarely more than
// milliseconds: a check is long if many calls about one subject overlap.
const patience = 20 * time.Second

// A Verdict is the result of [History.Judge].
type Verdict struct {
	Operations int // calls and received events that were checked
	Subjects   int
	Anomalies  []Anomaly // by promise and subject
	Undecided  []Subject // whose check took too long
}

// Clean reports whether all promises were kept, as far as can be seen.
func (v Verdict) Clean() bool { return len(v.Anomalies)+len(v.Undecided) == 0 }

// String returns the result in one line.
func (v Verdict) String() string {
	return fmt.Sprintf("%d operations on %d subjects: %d anomalies, %d undecided", v.Operations, v.Subjects, len(v.Anomalies), len(v.Undecided))
}

// An Anomaly is a broken promise.
type Anomaly struct {
	Subject Subject
	Kind    Kind   // of a stream; "" of calls
	Seen    string // in one line
	Calls   []Call // the fewest that break it, by their begin
}

// Judge judges everything in the history. A promise that was broken several times for one
// subject, or one stream, is one anomaly.
func (h *History) Judge() Verdict {
	calls := h.Calls()
	h.mu.Lock()
	defer h.mu.Unlock()
	v := Verdict{Operations: len(calls)}
	by := map[Subject][]Call{}
	for _, c := range calls {
		by[c.Ask.On()] = append(by[c.Ask.On()], c)
	}
	v.Subjects = len(by) + len(h.whole)
	for subject, calls := range by {
		switch explains(calls) {
		case porcupine.Illegal:
			few := shrink(calls)
			v.Anomalies = append(v.Anomalies, Anomaly{Subject: subject, Seen: seen(few), Calls: few})
		case porcupine.Unknown:
			v.Undecided = append(v.Undecided, subject)
		}
	}
	for _, s := range h.traces {
		v.Operations += len(s.Events)
		if a := s.compare(h.whole[s.Subject]); a != nil {
			v.Anomalies = append(v.Anomalies, *a)
		}
	}
	slices.SortFunc(v.Anomalies, func(a, b Anomaly) int {
		return strings.Compare(string(a.Subject.Promise)+a.Subject.Name+a.Seen, string(b.Subject.Promise)+b.Subject.Name+b.Seen)
	})
	return v
}

// seen says what no order explains: the call that ended last.
func seen(calls []Call) string {
	last := slices.MaxFunc(calls, func(a, b Call) int { return int(a.ends() - b.ends()) })
	return fmt.Sprintf("no order of %d calls explains %s", len(calls), last)
}

// ends returns the latest time at which c may have happened.
func (c Call) ends() time.Duration {
	if c.Result == nil {
		return math.MaxInt64
	}
	return c.End
}

// model lets each call say what may follow it.
var model = porcupine.Model{
	Init: func() any { return nil },
	Step: func(state, input, output any) (bool, any) {
		after, may := input.(stepper).step(state, output)
		return may, after
	},
}

// explains decides whether an order of calls about one subject explains their results.
func explains(calls []Call) porcupine.CheckResult {
	if len(calls) > 0 && calls[0].Ask.On().Promise == Turns {
		return map[bool]porcupine.CheckResult{true: porcupine.Ok, false: porcupine.Illegal}[turns(calls)]
	}
	var ops []porcupine.Operation
	for _, c := range withoutRepeats(calls) {
		ops = append(ops, porcupine.Operation{Input: c.Ask, Output: c.Result, Call: int64(c.Begin), Return: int64(c.ends())})
	}
	return porcupine.CheckOperationsTimeout(model, ops, patience)
}

// withoutRepeats leaves out calls with unknown results that explain nothing, of which the
// clients of a server that is down make many: reads, and all but the first of repeats that
// have no further effect.
func withoutRepeats(calls []Call) []Call {
	first := map[Ask]bool{}
	return slices.DeleteFunc(slices.Clone(calls), func(c Call) bool {
		if c.Result != nil {
			return false
		}
		switch c.Ask.(type) {
		case Look, Find, Decisions, Read:
			return true
		case Make, Vote, Change:
			repeat := first[c.Ask]
			first[c.Ask] = true
			return repeat
		}
		return false
	})
}

// shrink returns the fewest calls, as a greedy search finds them, that nothing explains
// for any results of the other calls, which count as unknown.
// Calls that begin after the first contradiction are left out.
func shrink(calls []Call) []Call {
	ends := slices.SortedFunc(slices.Values(calls), func(a, b Call) int { return int(a.ends() - b.ends()) })
	for _, c := range ends {
		until := slices.DeleteFunc(slices.Clone(calls), func(x Call) bool { return x.Begin > c.ends() })
		for i := range until {
			if until[i].ends() > c.ends() {
				until[i].Result = nil
			}
		}
		if explains(until) == porcupine.Illegal {
			calls = until
			break
		}
	}
	calls = slices.Clone(calls)
	for i := range slices.Backward(calls) { // early calls are the better explanation
		was := calls[i].Result
		if calls[i].Result = nil; explains(calls) != porcupine.Illegal {
			calls[i].Result = was
		}
	}
	return slices.DeleteFunc(calls, func(c Call) bool { return c.Result == nil })
}
