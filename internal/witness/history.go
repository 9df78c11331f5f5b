package witness

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// A Promise is a rule for the calls about one subject.
type Promise string

// The promises. [Whole] is that of streams.
const (
	Once    Promise = "it is made once and kept"
	Decided Promise = "it is decided once"
	Revised Promise = "a change applies to the revision that it expects"
	Turns   Promise = "one runs at a time, in the order of arrival"
	Whole   Promise = "every subscriber gets each event once, in order"
)

// A Subject is what calls are about, such as one gate. Subjects do not depend on each
// other.
type Subject struct {
	Promise Promise
	Name    string
}

// An Ask is what a client asks of a server about a subject. The types that implement it
// are in this package.
type Ask interface {
	// On returns the subject.
	On() Subject
	// String describes the call, without its subject.
	String() string
}

// A stepper is an Ask that Porcupine finds an order for.
type stepper interface {
	// step returns the state of the subject after the call, and whether a server in the
	// state before it, nil at first, may give this result. A nil result is an unknown one.
	step(before, result any) (after any, may bool)
}

// A Call is one call of a client. A Result of nil is unknown: the call may have happened
// at any time after Begin, or never.
type Call struct {
	Client     string
	Ask        Ask
	Begin, End time.Duration // since the history began; End is no bound if Result is nil
	Result     any
}

// String describes the call with its result.
func (c Call) String() string {
	if c.Result == nil {
		return c.Ask.String() + ": unknown"
	}
	return fmt.Sprintf("%s: %v", c.Ask, c.Result)
}

// A History has what clients saw. Its methods may be called from any goroutine.
type History struct {
	began time.Time

	mu     sync.Mutex
	calls  []Call
	whole  map[string][]Event // by the subject of streams
	traces []Stream
}

// NewHistory returns an empty history that begins now.
func NewHistory() *History {
	return &History{began: time.Now(), whole: map[string][]Event{}}
}

// Begin records that a client makes a call now. The caller calls end with its result, nil
// for an unknown one. A call whose end was not called has an unknown result.
func (h *History) Begin(client string, ask Ask) (end func(result any)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := len(h.calls)
	h.calls = append(h.calls, Call{Client: client, Ask: ask, Begin: time.Since(h.began)})
	return func(result any) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.calls[i].End, h.calls[i].Result = time.Since(h.began), result
	}
}

// Note records a call that was made from begin to end.
func (h *History) Note(client string, ask Ask, begin, end time.Time, result any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, Call{Client: client, Ask: ask, Begin: begin.Sub(h.began), End: end.Sub(h.began), Result: result})
}

// Saw records what a subscriber has received.
func (h *History) Saw(s Stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.traces = append(h.traces, s)
}

// Has records the whole sequence of a subject of streams, as it was read at the end.
func (h *History) Has(subject string, events []Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.whole[subject] = events
}

// Calls returns the calls so far, by their begin.
func (h *History) Calls() []Call {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.SortedStableFunc(slices.Values(h.calls), func(a, b Call) int { return int(a.Begin - b.Begin) })
}
