package workflows_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"longhaul/activities"
	"longhaul/internal/test"
	"longhaul/workflows"
)

// A heap is a journal with a number of objectives to remove.
type heap struct {
	mu     sync.Mutex
	left   int
	before []time.Time // of each call
	fail   int         // calls that fail first
}

func (h *heap) Purge(_ context.Context, before time.Time, limit int) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.before = append(h.before, before)
	if h.fail--; h.fail >= 0 {
		return 0, errors.New("the disk is full")
	}
	n := min(limit, h.left)
	h.left -= n
	return n, nil
}

func newPurgeEnv(t *testing.T, h *heap) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(discard)
	env := suite.NewTestWorkflowEnvironment()
	patient(env)
	env.SetStartTime(began)
	env.RegisterWorkflowWithOptions(workflows.Purge, workflow.RegisterOptions{Name: workflows.PurgeWorkflow})
	env.RegisterActivity(activities.New(activities.Config{Purger: h}))
	return env
}

const week = 7 * (24 * time.Hour)

// removed returns how many objectives a workflow says that it has removed.
func removed(t *testing.T, env *testsuite.TestWorkflowEnvironment) int64 {
	t.Helper()
	finished(t, env)
	var result workflows.PurgeResult
	test.OK(t, env.GetWorkflowResult(&result))
	return result.Objectives
}

func TestPurge(t *testing.T) {
	for _, objectives := range []int{0, 1, 100, 25_000} {
		h := &heap{left: objectives}
		env := newPurgeEnv(t, h)
		env.ExecuteWorkflow(workflows.Purge, workflows.PurgeInput{TTL: int64(week / time.Second)})
		if n := removed(t, env); n != int64(objectives) || h.left != 0 {
			t.Errorf("%d were removed and %d are left, of %d", n, h.left, objectives)
		}
		for _, before := range h.before {
			if !before.Equal(began.Add(-week)) {
				t.Errorf("removed what ended before %v", before)
			}
		}
	}
}

// A purge that continues as new keeps the time of its first run.
func TestPurge_continuesAsNew(t *testing.T) {
	h := &heap{left: 25_000}
	in := workflows.PurgeInput{TTL: int64(week / time.Second)}
	for hour := range 2 {
		env := newPurgeEnv(t, h)
		env.SetStartTime(began.Add(time.Duration(hour) * time.Hour))
		env.SetContinueAsNewSuggested(true)
		env.ExecuteWorkflow(workflows.Purge, in)
		in = continued[workflows.PurgeInput](t, env)
	}
	env := newPurgeEnv(t, h)
	env.SetStartTime(began.Add(2 * time.Hour))
	env.ExecuteWorkflow(workflows.Purge, in)
	test.Is(t, "were removed", 25_000, removed(t, env))
	for _, before := range h.before {
		if !before.Equal(began.Add(-week)) {
			t.Errorf("removed what ended before %v", before)
		}
	}
}

// A purge is repeated when the journal cannot be written, but not without end.
func TestPurge_triesAgain(t *testing.T) {
	for failures, works := range map[int]bool{5: true, 1000: false} {
		h := &heap{left: 7, fail: failures}
		env := newPurgeEnv(t, h)
		env.ExecuteWorkflow(workflows.Purge, workflows.PurgeInput{TTL: 60})
		if err := env.GetWorkflowError(); !env.IsWorkflowCompleted() || (err == nil) != works {
			t.Errorf("after %d failures the workflow ends with %v", failures, err)
		}
	}
}

// A purge without a TTL would remove everything.
func TestPurge_refusesNoTTL(t *testing.T) {
	for _, ttl := range []int64{0, -60} {
		h := &heap{left: 7}
		env := newPurgeEnv(t, h)
		env.ExecuteWorkflow(workflows.Purge, workflows.PurgeInput{TTL: ttl})
		if err := env.GetWorkflowError(); err == nil {
			t.Errorf("a TTL of %d was taken", ttl)
		}
		test.Equal(t, "something was removed", 7, h.left)
	}
}
