package workflows_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"longhaul/internal/test"
	"longhaul/opt/machine"
	"longhaul/workflows"
)

// A floor is a Context workflow with simulated members: turns holds what the
// workflow sends to them, and members say what each does then.
type floor struct {
	*testsuite.TestWorkflowEnvironment
	mu       sync.Mutex // the environment calls from its own goroutines
	turns    []string
	members  map[string]func(machine.Turn) error
	requests map[string]int64 // numbers of the latest of each member
}

func newFloor(t *testing.T) *floor {
	t.Helper()
	env, log := newEnv(t)
	f := &floor{TestWorkflowEnvironment: env, members: map[string]func(machine.Turn) error{}, requests: map[string]int64{}}
	log.outside = func(id, signal string, arg any) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		turn := arg.(machine.Turn)
		if signal != workflows.TurnSignal || turn.Tenant != "t" {
			t.Errorf("%s gets %s of %q", id, signal, turn.Tenant)
		}
		f.turns = append(f.turns, fmt.Sprint(id, " ", turn.Held))
		if member := f.members[id]; member != nil {
			return member(turn)
		}
		return errNotThere
	}
	return f
}

func (f *floor) enter(id string, behind ...string) {
	f.SignalWorkflow(workflows.EnterSignal, machine.Enter{ObjectiveID: id, Attempt: 1, Behind: behind})
}

// request asks for something on behalf of a member.
func (f *floor) request(id string, want machine.TurnWant) {
	f.requests[id]++
	f.SignalWorkflow(workflows.RequestSignal, machine.TurnRequest{ObjectiveID: id, Attempt: 1, N: f.requests[id], Want: want})
}

// there makes members that do nothing by themselves.
func (f *floor) there(ids ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range ids {
		f.members[id] = func(machine.Turn) error { return nil }
	}
}

func (f *floor) want(t *testing.T, turns ...string) {
	t.Helper()
	finished(t, f.TestWorkflowEnvironment)
	test.Equal(t, "turns", turns, f.turns)
}

var aContext = workflows.ContextInput{Tenant: "t", ContextID: "c"}

// No member is lost and the order stays, however often the workflow continues as
// new.
func TestContext_continuesAsNew(t *testing.T) {
	const members = 20
	member := func(i int) string { return fmt.Sprintf("obj-%04d", i) }
	in, served := aContext, 0 // served members have been given the turn
	for runs := 0; ; runs++ {
		f := newFloor(t)
		for i := range members {
			f.members[member(i)] = func(machine.Turn) error {
				test.Is(t, member(i)+": the number of the turn", i, served)
				served++
				return nil
			}
		}
		if runs == 0 {
			at(f.TestWorkflowEnvironment, 0, func() {
				for i := range members {
					f.enter(member(i))
				}
			})
		}
		at(f.TestWorkflowEnvironment, time.Second, func() {
			f.SetContinueAsNewSuggested(true)
			f.request(member(served-1), machine.WantLeave)
		})
		f.ExecuteWorkflow(workflows.Context, in)
		if served == members && runs == members-1 {
			finished(t, f.TestWorkflowEnvironment)
			return
		}
		if in = continued[workflows.ContextInput](t, f.TestWorkflowEnvironment); runs > members {
			t.Fatalf("%d served in %d runs", served, runs)
		}
	}
}

// A context that has to call a long roll continues as new between the messages: none is lost, and none comes twice.
func TestContext_rollContinuesAsNew(t *testing.T) {
	const members = 350 // more than the first run may send: 100 at once, and perhaps others in their place
	in := workflows.ContextInput{Tenant: "t", ContextID: "c", Rules: machine.Rules}
	enter := machine.Enter{ObjectiveID: "obj-last", Attempt: 1, Waiting: 1}
	for i := range members - 1 {
		enter.Behind = append(enter.Behind, fmt.Sprintf("obj-%04d", i))
	}
	asked := map[string]int{}
	for runs := range 2 {
		f, sent := newFloor(t), 0
		for _, id := range append(enter.Behind, enter.ObjectiveID) {
			f.members[id] = func(turn machine.Turn) error {
				asked[id], sent = asked[id]+1, sent+1
				f.SignalWorkflow(workflows.RequestSignal, machine.TurnRequest{ObjectiveID: id, Attempt: 1, N: 1, Want: machine.WantLeave, Answering: true, Answers: turn.N})
				return nil
			}
		}
		if runs == 0 {
			at(f.TestWorkflowEnvironment, 0, func() {
				f.SetContinueAsNewSuggested(true)
				f.SignalWorkflow(workflows.EnterSignal, enter)
			})
		}
		if f.ExecuteWorkflow(workflows.Context, in); runs == 1 {
			finished(t, f.TestWorkflowEnvironment)
		} else if in = continued[workflows.ContextInput](t, f.TestWorkflowEnvironment); sent > 200 {
			t.Errorf("run %d has sent %d messages", runs, sent)
		}
	}
	for id, n := range asked {
		test.Is(t, "rolls to "+id, 1, n)
	}
	test.Is(t, "members", members, len(asked))
}
