package rehearse

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"longhaul/opt"
	"longhaul/opt/access"
)

// A Spread is what a figure may be: its values in past runs, or two or three for the least, the middle
// and the most. It is sorted. An empty one says nothing.
type Spread[T ~int64] []T

// SpreadOf returns the spread of values.
func SpreadOf[T ~int64](values ...T) Spread[T] { return slices.Sorted(slices.Values(values)) }

// At returns the value that a share q of all is below, between two values in proportion.
func (s Spread[T]) At(q float64) T {
	if len(s) == 0 {
		return 0
	}
	place := q * float64(len(s)-1)
	i := min(int(place), max(0, len(s)-2))
	low, high := s[i], s[min(i+1, len(s)-1)]
	return low + T((place-float64(i))*float64(high-low))
}

// A Work says how tasks go. Members without a value are assumed as in the next source: of the task,
// the same task in past runs, its executor, the defaults.
type Work struct {
	Takes   Spread[time.Duration] // of one attempt
	Tokens  Spread[int64]
	Cost    Spread[opt.Money]
	Fails   int           // so many attempts fail before one ends
	Ends    opt.TaskState // "" for completed
	Verdict opt.Action    // of a check; "" for accept
	Stands  bool          // a standing decision accepts at its approval, if those who may answer could have made it

	whole bool // Takes has all attempts
}

// or returns w with the members of other where it has none.
func (w Work) or(other Work) Work {
	if w.Takes == nil {
		w.Takes, w.whole = other.Takes, other.whole
	}
	if w.Tokens == nil && w.Cost == nil {
		w.Tokens, w.Cost = other.Tokens, other.Cost
	}
	w.Fails, w.Ends, w.Verdict = cmp.Or(w.Fails, other.Fails), cmp.Or(w.Ends, other.Ends), cmp.Or(w.Verdict, other.Verdict)
	w.Stands = w.Stands || other.Stands
	return w
}

// A Person answers at gates.
type Person struct {
	Name   string
	Groups []string
	After  Spread[time.Duration] // since the person could answer; empty for as in past runs, or an hour
	Action opt.Action            // at approvals that offer it; "" for accept. Nothing is sent back twice
	Silent bool                  // never answers
	For    []string              // names of absent people, whose deputy the person is
}

// Assumptions are what a rehearsal does not know. The zero value has tasks that take a second and are
// completed, and people for all that gates ask, who accept within an hour.
type Assumptions struct {
	Requester string            // who asks for the work; "" for "requester"
	At        time.Time         // when it begins; zero for the first second of 2000
	Tasks     map[string]Work   // by the name of the task
	Executors map[string]Work   // by their names
	People    []Person          // nil: for each gate as many as it asks, none of whom is the requester
	Past      []map[string]Work // how past runs went, each with its tasks by [PlaceOf]; "" is from the end of the last one to that of all
	Within    time.Duration     // all has to end by then; 0 for no limit
	Budget    opt.Budget        // of the message
	Limits    opt.Limits        // of the server
	Quotas    access.Quotas     // of the tenant; tasks wait for that of running tasks
	Used      []access.Use      // of what work uses, before it begins; nothing of those of Quotas that it lacks
	Samples   int               // random rehearsals; 0 for 200
	Steps     int               // that one rehearsal takes at most, and all before the last begins; 0 for 50,000, and no limit
	Tenant    string            // "" for the default one
	Unnamed   bool              // the report names groups, and no people
	Stopped   func() error      // why it ends early, as a context has it; nil for never

	past map[string]Work // of the run that a rehearsal takes, or of all
}

// PlaceOf names a plan task with an id by the number of its plan, from 1, and its own in that, from 0:
// the same in all runs of a playbook.
func PlaceOf(taskID string) string {
	ref, _ := opt.ParseID(taskID)
	_, place, _ := strings.Cut(strings.TrimPrefix(ref.TaskID, "task-"), "-")
	return place
}

// The defaults.
const (
	usualTask   = time.Second
	usualAnswer = time.Hour
	usualRuns   = 200
	usualShare  = 0.8 // of a range
)

func (a Assumptions) withDefaults() Assumptions {
	a.Requester, a.Tenant, a.Samples = cmp.Or(a.Requester, "requester"), cmp.Or(a.Tenant, opt.DefaultTenant), cmp.Or(a.Samples, usualRuns)
	if a.At.IsZero() {
		a.At = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return a
}

// of returns the assumptions about a task.
func (a Assumptions) of(t *opt.Task) Work {
	return a.Tasks[t.Name].or(a.past[PlaceOf(t.ID)]).or(a.Executors[t.Executor]).or(Work{Takes: SpreadOf(usualTask), Ends: opt.TaskCompleted, Verdict: opt.Accept})
}
