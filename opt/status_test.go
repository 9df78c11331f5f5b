package opt_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// The tables of the extension, row by row: from, then to.
const (
	objectiveTable = `
		submitted  planning working canceled
		planning   working blocked failed canceled
		working    blocked completed failed canceled
		blocked    planning working failed canceled
		completed
		failed     submitted planning
		canceled   submitted`
	planTable = `
		pending    working skipped
		working    blocked completed failed
		blocked    working failed skipped
		completed
		failed     pending working
		skipped`
	serverPlanTable = `
		pending    blocked
		blocked    pending
		skipped    pending`
	taskTable = `
		pending        submitted working completed failed canceled rejected
		submitted      working completed failed canceled rejected
		working        input-required auth-required completed failed canceled rejected
		input-required working completed failed canceled rejected
		auth-required  working completed failed canceled rejected
		completed
		failed
		canceled
		rejected`
)

// table reads one of the tables: the states, and "from>to" for each move.
func table(text string) (states []string, moves map[string]bool) {
	moves = map[string]bool{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		states = append(states, words[0])
		for _, to := range words[1:] {
			moves[words[0]+">"+to] = true
		}
	}
	return states, moves
}

// checkMoves checks may, and that an event applies, for each pair of states. byServer
// are the moves that only events make.
func checkMoves(t *testing.T, text, byServer string, may func(from, to string) bool, apply func(from string, e opt.Event) (string, error)) []string {
	t.Helper()
	states, moves := table(text)
	_, serverMoves := table(byServer)
	for _, from := range states {
		for _, to := range states {
			want := from == to || moves[from+">"+to]
			test.Is(t, fmt.Sprintf("%s → %s by a client", from, to), want, may(from, to))
			want = want || serverMoves[from+">"+to]
			checkApply(t, from, to, want, func(e opt.Event) (string, error) { return apply(from, e) })
		}
	}
	return states
}

func TestObjectiveStatus_May(t *testing.T) {
	states := checkMoves(t, objectiveTable, "",
		func(from, to string) bool { return opt.ObjectiveStatus(from).May(opt.ObjectiveStatus(to)) },
		func(from string, e opt.Event) (string, error) {
			o := opt.Objective{Status: opt.ObjectiveStatus(from)}
			err := o.Apply(with(e, opt.ObjectiveMoved, ""))
			return string(o.Status), err
		})
	if len(states) != 7 || len(opt.ObjectiveMoves) != 7 {
		t.Fatalf("%d states in the test, %d in the model", len(states), len(opt.ObjectiveMoves))
	}
	for _, s := range states {
		test.Is(t, fmt.Sprintf("objective %s ended", s), slices.Contains([]string{"completed", "failed", "canceled"}, s), opt.ObjectiveStatus(s).Ended())
	}
}

func TestPlanStatus_May(t *testing.T) {
	states := checkMoves(t, planTable, serverPlanTable,
		func(from, to string) bool { return opt.PlanStatus(from).May(opt.PlanStatus(to)) },
		func(from string, e opt.Event) (string, error) {
			p := opt.Plan{Status: opt.PlanStatus(from)}
			err := p.Apply(with(e, opt.PlanMoved, ""))
			return string(p.Status), err
		})
	if len(states) != 6 || len(opt.PlanMoves) != 6 {
		t.Fatalf("%d states in the test, %d in the model", len(states), len(opt.PlanMoves))
	}
	for _, s := range states {
		test.Is(t, fmt.Sprintf("plan %s ended", s), slices.Contains([]string{"completed", "failed", "skipped"}, s), opt.PlanStatus(s).Ended())
	}
}

func TestTaskState_May(t *testing.T) {
	states := checkMoves(t, taskTable, "",
		func(from, to string) bool { return opt.TaskState(from).May(opt.TaskState(to)) },
		func(from string, e opt.Event) (string, error) {
			p := opt.Plan{Tasks: []*opt.Task{{ID: "x", State: opt.TaskState(from)}}}
			err := p.Apply(with(e, opt.TaskMoved, "x"))
			return string(p.Tasks[0].State), err
		})
	for _, s := range states {
		test.Is(t, fmt.Sprintf("task %s ended", s), slices.Contains([]string{"completed", "failed", "canceled", "rejected"}, s), opt.TaskState(s).Ended())
		test.Is(t, fmt.Sprintf("task %s waiting", s), strings.HasSuffix(s, "-required"), opt.TaskState(s).Waiting())
	}
}

// A root task never leaves a final state.
func TestObjective_rootNeverLeavesItsEnd(t *testing.T) {
	states, _ := table(taskTable)
	for _, from := range states[1:] {
		for _, to := range states {
			o := opt.Objective{ID: "obj-" + u, Root: opt.TaskState(from)}
			err := o.Apply(opt.Event{Kind: opt.TaskMoved, TaskID: o.RootID(), To: to})
			if ended := opt.TaskState(from).Ended(); ended && from != to && err == nil {
				t.Errorf("root task moved from %s to %s", from, to)
			} else if !ended && opt.TaskState(to).Ended() && err != nil {
				t.Errorf("root task cannot move from %s to %s: %v", from, to, err)
			}
		}
	}
}

func TestStatus_Valid(t *testing.T) {
	for _, s := range []string{"", "Working", "cancelled", "queued", "TASK_STATE_WORKING"} {
		if opt.ObjectiveStatus(s).Valid() || opt.PlanStatus(s).Valid() || opt.TaskState(s).Valid() {
			t.Errorf("%q is valid", s)
		}
	}
	if opt.ObjectiveStatus("pending").Valid() || opt.PlanStatus("canceled").Valid() || opt.TaskState("blocked").Valid() {
		t.Error("a status of another kind is valid")
	}
	for s := range opt.ObjectiveMoves {
		if !s.Valid() {
			t.Errorf("objective status %q is not valid", s)
		}
	}
	for s := range opt.PlanMoves {
		if !s.Valid() {
			t.Errorf("plan status %q is not valid", s)
		}
	}
}

func TestTaskState_A2A(t *testing.T) {
	if got := opt.TaskPending.A2A(); got != a2a.Submitted || !opt.TaskPending.Valid() {
		t.Errorf("pending shows as %q", got)
	}
	for _, s := range a2a.TaskStates {
		if state := opt.TaskState(s); state.A2A() != s || !state.Valid() || state.Ended() != s.Terminal() || state.Waiting() != s.Interrupted() {
			t.Errorf("%q is another state as that of a plan task", s)
		}
	}
}

// checkApply checks that apply makes a move exactly if it is allowed, and that
// the error names a refused move.
func checkApply(t *testing.T, from, to string, may bool, apply func(opt.Event) (string, error)) {
	t.Helper()
	after, err := apply(opt.Event{From: from, To: to})
	if may {
		if err != nil || after != to {
			t.Errorf("Apply %s → %s: %v, now %s", from, to, err, after)
		}
		return
	}
	var move *opt.MoveError
	if !errors.As(err, &move) || !errors.Is(err, opt.ErrMove) || move.From != from || move.To != to || after != from {
		t.Errorf("Apply %s → %s: %v, now %s; want a MoveError", from, to, err, after)
	} else if want := "Invalid status transition: " + from + " → " + to; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

func with(e opt.Event, kind opt.EventKind, task string) opt.Event {
	e.Kind, e.TaskID = kind, task
	return e
}
