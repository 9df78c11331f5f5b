package workflows_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"longhaul/workflows"
)

// A floor is a Context workflow with members that are not there: calls holds
// what it tells them, and members say what they do when told.
type floor struct {
	*testsuite.TestWorkflowEnvironment
	mu      sync.Mutex // the environment calls from goroutines of its own
	calls   []string
	members map[string]func(signal string) error
}

func newFloor(t *testing.T) *floor {
	t.Helper()
	env, _ := newEnv(t)
	env.RegisterWorkflowWithOptions(workflows.Context, workflow.RegisterOptions{Name: workflows.ContextWorkflow})
	f := &floor{TestWorkflowEnvironment: env, members: map[string]func(string) error{}}
	env.OnSignalExternalWorkflow(anyArg, anyArg, anyArg, anyArg, anyArg).Return(
		func(_, id, _, signal string, arg any) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.calls = append(f.calls, id+" "+signal)
			if member := f.members[id]; member != nil {
				return member(signal)
			}
			return errors.New("not there")
		})
	return f
}

// at does something after so many minutes.
func (f *floor) at(minutes int, do func()) {
	f.RegisterDelayedCallback(do, time.Duration(minutes)*time.Minute)
}

func (f *floor) enter(id string, behind ...string) {
	f.SignalWorkflow(workflows.EnterSignal, workflows.Enter{ObjectiveID: id, Behind: behind})
}

func (f *floor) slot(id, do string) {
	f.SignalWorkflow(workflows.SlotSignal, workflows.Slot{ObjectiveID: id, Do: do})
}

// there makes members that do nothing by themselves.
func (f *floor) there(ids ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range ids {
		f.members[id] = func(string) error { return nil }
	}
}

func (f *floor) want(t *testing.T, calls ...string) {
	t.Helper()
	finished(t, f.TestWorkflowEnvironment)
	if diff := cmp.Diff(calls, f.calls); diff != "" {
		t.Errorf("calls mismatch (-want +got):\n%s", diff)
	}
}

var aContext = workflows.ContextInput{Tenant: "t", ContextID: "c"}

func TestContext_inOrder(t *testing.T) {
	f := newFloor(t)
	f.there("a", "b", "c", "d", "e")
	f.at(0, func() { f.enter("b", "a") })
	f.at(1, func() { f.enter("c", "e"); f.enter("d"); f.enter("c"); f.enter("b", "a") })
	f.at(2, func() { f.slot("c", "leave"); f.slot("b", "release") }) // b does not have it
	f.at(3, func() { f.slot("a", "release") })
	f.at(4, func() { f.slot("a", "ask"); f.slot("a", "ask") })
	f.at(5, func() { f.slot("b", "leave") })
	f.at(6, func() { f.slot("a", "leave"); f.slot("e", "leave") })
	f.at(7, func() { f.slot("d", "leave") })
	f.ExecuteWorkflow(workflows.Context, aContext)
	f.want(t, "a join", "e join", "b turn", "a turn", "d turn")
}

// One that asks before it hears that it is taken for a member which works gets its
// turn all the same.
func TestContext_holderAsks(t *testing.T) {
	f := newFloor(t)
	f.there("a", "b")
	f.at(0, func() { f.enter("b", "a"); f.slot("a", "ask") })
	f.at(1, func() { f.slot("a", "leave") })
	f.at(2, func() { f.slot("b", "leave") })
	f.ExecuteWorkflow(workflows.Context, aContext)
	f.want(t, "a join", "a turn", "b turn")
}

// An objective enters before it is started: it is waited for, but not for ever.
func TestContext_waitsForTheStart(t *testing.T) {
	f := newFloor(t)
	f.there("c")
	f.at(0, func() { f.enter("b", "gone"); f.enter("lost"); f.enter("c") })
	f.RegisterDelayedCallback(func() { f.there("b") }, 2500*time.Millisecond)
	f.at(1, func() { f.slot("b", "leave") })
	f.at(2, func() { f.slot("c", "leave") })
	f.ExecuteWorkflow(workflows.Context, aContext)
	want := slices.Concat([]string{"gone join"}, slices.Repeat([]string{"b turn"}, 4), slices.Repeat([]string{"lost turn"}, 20), []string{"c turn"})
	f.want(t, want...)
}

// However often it goes on as a new run, nobody is lost and the order stays.
func TestContext_continuesAsNew(t *testing.T) {
	const members = 2000
	in, served := aContext, 0
	for runs := 0; served < members; runs++ {
		f := newFloor(t)
		run := 0
		for i := range members {
			id := fmt.Sprintf("obj-%04d", i)
			f.members[id] = func(signal string) error {
				if served != i {
					t.Errorf("%s has the turn, want number %d", id, served)
				}
				served++
				run++
				f.SetContinueAsNewSuggested(run >= 300)
				f.slot(id, "leave")
				return nil
			}
		}
		if runs == 0 {
			f.there("first")
			for batch := range (members + 99) / 100 { // the environment takes only so many signals at a time
				f.RegisterDelayedCallback(func() {
					for i := batch * 100; i < min(members, (batch+1)*100); i++ {
						f.enter(fmt.Sprintf("obj-%04d", i), "first")
					}
				}, time.Duration(batch)*time.Millisecond)
			}
			f.at(1, func() { f.slot("first", "leave") })
		}
		f.ExecuteWorkflow(workflows.Context, in)
		if served == members {
			finished(t, f.TestWorkflowEnvironment)
			return
		}
		if in = continued[workflows.ContextInput](t, f.TestWorkflowEnvironment); runs > members/300+1 {
			t.Fatalf("%d served in %d runs", served, runs)
		}
	}
}
