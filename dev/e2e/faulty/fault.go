// Package faulty runs a Temporal in the process of a test, whose database fails as the test says. A
// [Fault] is what goes wrong; [Start] starts the server with it
// for a site, whose other processes are started as ever.
package faulty

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
	Timeout   = "timeout"   // the call does nothing, and the caller does not know that
	Refusing  = "refusing"  // the call does nothing
	Exhausted = "exhausted" // the call does nothing: too many for the database
	Disowned  = "disowned"  // the call does nothing: another server seems to have the shard
	Down      = "down"      // no call does anything
	Slow      = "slow"      // the call takes long, sometimes longer than its caller waits
	Lost      = "lost"      // the call is done, and its answer is lost
	Mixed     = "mixed"     // any of them, in any call
)

// Stores of Temporal. Visibility has no fault injection of upstream: its statements fail.
const (
	Execution  = string(config.ExecutionStoreName)
	Shard      = string(config.ShardStoreName)
	Task       = string(config.TaskStoreName)
	Metadata   = string(config.MetadataStoreName)
	Visibility = "Visibility"
)

// A Fault is what goes wrong in the database of Temporal: calls of one method, at random. Its methods
// are safe for concurrent use.
type Fault struct {
	Store  string // "" for all
	Method string // "" for all; of Visibility the first word of the statement
	Kind   string
	Share  float64 // of the calls that fail
	Seed   int64

	mu       sync.Mutex
	random   *rand.Rand
	on       bool
	calls    map[string]int // by store and method, while the fault was on
	injected int
}

// String names f, as a test and as a file.
func (f *Fault) String() string {
	return fmt.Sprintf("%s.%s.%s", cmp.Or(f.Store, "any"), cmp.Or(f.Method, "any"), f.Kind)
}

// Turn turns the fault on or off.
func (f *Fault) Turn(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on = on
}

// faults returns f as the server takes it. Upstream decides by itself whose answers are lost.
func (f *Fault) faults() temporald.Faults {
	f.random, f.calls = rand.New(rand.NewSource(f.Seed)), map[string]int{}
	stores := &config.FaultInjection{Injector: func(at config.FaultInjectionTarget) error { return f.before(string(at.Store), at.Method) }}
	switch {
	case f.Kind == Mixed:
		for _, method := range []string{"CreateWorkflowExecution", "UpdateWorkflowExecution"} {
			stores.WithError(config.ExecutionStoreName, method, "ExecuteAndTimeout", f.Share)
		}
		stores.WithError(config.TaskStoreName, "CreateTasks", "ExecuteAndTimeout", f.Share)
		stores.WithError(config.ShardStoreName, "UpdateShard", "ExecuteAndTimeout", f.Share)
	case f.Kind == Lost && f.Store != Visibility:
		stores.WithError(config.DataStoreName(f.Store), f.Method, "ExecuteAndTimeout", f.Share).WithMethodSeed(config.DataStoreName(f.Store), f.Method, f.Seed)
	}
	return temporald.Faults{Stores: stores, Visibility: f.statement}
}

// strikes counts a call, and reports whether it fails.
func (f *Fault) strikes(store, method string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.on {
		return false
	}
	f.calls[store+"."+method]++
	if f.Store == Shard && method == "UpdateWorkflowExecution" { // after which the shard is read again
		return mathrand.Float64() < 0.05
	}
	if f.Store != "" && store != f.Store || f.Method != "" && method != f.Method {
		return false
	}
	// As upstream does it, so that this counts the lost answers.
	strikes := f.random.Float64() < f.Share
	if strikes {
		f.injected++
	}
	return strikes
}

// before is a fault before a call of a store.
func (f *Fault) before(store, method string) error {
	if !f.strikes(store, method) {
		return nil
	}
	kind := f.Kind
	switch {
	case store != f.Store && f.Store != "":
		kind = Timeout
	case kind == Mixed:
		kind = []string{Timeout, Refusing, Exhausted, Disowned, Slow}[mathrand.IntN(5)]
	}
	switch kind {
	case Timeout, Down:
		return &persistence.TimeoutError{Msg: "injected"}
	case Refusing:
		return serviceerror.NewUnavailable("injected")
	case Exhausted:
		return &serviceerror.ResourceExhausted{
			Cause: enumspb.RESOURCE_EXHAUSTED_CAUSE_SYSTEM_OVERLOADED, Scope: enumspb.RESOURCE_EXHAUSTED_SCOPE_SYSTEM, Message: "injected",
		}
	case Disowned:
		return &persistence.ShardOwnershipLostError{ShardID: 1, Msg: "injected"}
	case Slow:
		f.dawdle()
	}
	return nil
}

// dawdle takes time: every fifth time longer than the services wait for their database.
func (f *Fault) dawdle() {
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
func (f *Fault) statement(text string, run func() error) error {
	var word string
	fmt.Sscan(text, &word)
	if !f.strikes(Visibility, word) {
		return run()
	}
	switch f.Kind {
	case Slow:
		f.dawdle()
		return run()
	case Lost, Mixed:
		return errors.Join(run(), errInjected)
	default:
		return errInjected
	}
}

// Injected returns how many calls have failed, of how many of all methods.
func (f *Fault) Injected() (faults, calls int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.calls {
		calls += n
	}
	return f.injected, calls
}
