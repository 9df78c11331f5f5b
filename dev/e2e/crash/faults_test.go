package crash_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand" // as upstream draws
	mathrand "math/rand/v2"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/persistence"

	"longhaul/dev/temporald"
)

// Kinds of faults.
const (
	timeout   = "timeout"   // the call does nothing, and the caller does not know that
	refusing  = "refusing"  // the call does nothing
	exhausted = "exhausted" // the call does nothing: too many for the database
	disowned  = "disowned"  // the call does nothing: another server seems to have the shard
	down      = "down"      // no call does anything
	slow      = "slow"      // the call takes long, sometimes longer than its caller waits
	lost      = "lost"      // the call is done, and its answer is lost
	mixed     = "mixed"     // any of them, in any call
)

// A fault is what goes wrong in the database of Temporal: calls of one method, at random. Its methods
// are safe for concurrent use.
type fault struct {
	store  config.DataStoreName // or visibility; "" for all
	method string               // "" for all; of visibility the first word of the statement
	kind   string
	share  float64 // of the calls that fail
	seed   int64

	mu       sync.Mutex
	random   *rand.Rand
	on       bool
	calls    map[string]int // by store and method, while the fault was on
	injected int
}

// visibility is the store that has no fault injection of upstream.
const visibility config.DataStoreName = "Visibility"

// String names f, as a test and as a file.
func (f *fault) String() string {
	return fmt.Sprintf("%s.%s.%s", cmp.Or(f.store, "any"), cmp.Or(f.method, "any"), f.kind)
}

// turn turns the fault on or off.
func (f *fault) turn(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on = on
}

// faults returns f as the server takes it. Upstream decides by itself whose answers are lost.
func (f *fault) faults() temporald.Faults {
	f.random, f.calls = rand.New(rand.NewSource(f.seed)), map[string]int{}
	stores := &config.FaultInjection{Injector: func(at config.FaultInjectionTarget) error { return f.before(at.Store, at.Method) }}
	switch {
	case f.kind == mixed:
		for _, method := range []string{"CreateWorkflowExecution", "UpdateWorkflowExecution"} {
			stores.WithError(config.ExecutionStoreName, method, "ExecuteAndTimeout", f.share)
		}
		stores.WithError(config.TaskStoreName, "CreateTasks", "ExecuteAndTimeout", f.share)
		stores.WithError(config.ShardStoreName, "UpdateShard", "ExecuteAndTimeout", f.share)
	case f.kind == lost && f.store != visibility:
		stores.WithError(f.store, f.method, "ExecuteAndTimeout", f.share).WithMethodSeed(f.store, f.method, f.seed)
	}
	return temporald.Faults{Stores: stores, Visibility: f.statement}
}

// strikes counts a call, and reports whether it fails.
func (f *fault) strikes(store config.DataStoreName, method string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.on {
		return false
	}
	f.calls[string(store)+"."+method]++
	if f.store == config.ShardStoreName && method == "UpdateWorkflowExecution" { // after which the shard is read again
		return f.random.Float64() < 0.05
	}
	if f.store != "" && store != f.store || f.method != "" && method != f.method {
		return false
	}
	// As upstream does it, so that this counts the lost answers.
	strikes := f.random.Float64() < f.share
	if strikes {
		f.injected++
	}
	return strikes
}

// before is a fault before a call of a store.
func (f *fault) before(store config.DataStoreName, method string) error {
	if !f.strikes(store, method) {
		return nil
	}
	kind := f.kind
	switch {
	case store != f.store && f.store != "":
		kind = timeout
	case kind == mixed:
		kind = []string{timeout, refusing, exhausted, disowned, slow}[mathrand.IntN(5)]
	}
	switch kind {
	case timeout, down:
		return &persistence.TimeoutError{Msg: "injected"}
	case refusing:
		return serviceerror.NewUnavailable("injected")
	case exhausted:
		return &serviceerror.ResourceExhausted{
			Cause: enumspb.RESOURCE_EXHAUSTED_CAUSE_SYSTEM_OVERLOADED, Scope: enumspb.RESOURCE_EXHAUSTED_SCOPE_SYSTEM, Message: "injected",
		}
	case disowned:
		return &persistence.ShardOwnershipLostError{ShardID: 1, Msg: "injected"}
	case slow:
		f.dawdle()
	}
	return nil
}

// dawdle takes time: every fifth time longer than the services wait for their database.
func (f *fault) dawdle() {
	f.mu.Lock()
	d := time.Duration(100+f.random.Intn(900)) * time.Millisecond
	if f.random.Intn(5) == 0 {
		d = 6 * time.Second
	}
	f.mu.Unlock()
	time.Sleep(d)
}

// errInjected is what the driver of visibility answers.
var errInjected = errors.New("injected")

// statement is a fault in a statement on visibility.
func (f *fault) statement(text string, run func() error) error {
	var word string
	fmt.Sscan(text, &word)
	if !f.strikes(visibility, word) {
		return run()
	}
	switch f.kind {
	case slow:
		f.dawdle()
		return run()
	case lost, mixed:
		return errors.Join(run(), errInjected)
	default:
		return errInjected
	}
}

// enough returns nil when f has struck some times.
func (f *fault) enough() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.injected < 10 {
		return fmt.Errorf("%v has struck %d times", f, f.injected)
	}
	return nil
}

// report says what f did, and to which work.
func (f *fault) report(w *world) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := 0
	for _, n := range f.calls {
		all += n
	}
	return fmt.Sprintf("%v: %d faults in %d calls of all methods; %d objectives, %d streams, opened again %d times",
		f, f.injected, all, len(w.tasks), len(w.followers), w.resumes())
}
