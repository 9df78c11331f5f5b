package operator_test

import (
	"fmt"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A run that an operator resets to before a retry ends, also the run of the retry, and so does the attempt that the
// retry has begun: clients see it terminated, and may begin another one.
func TestOperator_resetToBeforeARetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.site.Start(harness.AllInOne)
	w.connect()
	task := w.c.MustSendUntil(t.Context(), t, harness.Message{ID: "m", Text: "x", Plan: harness.NewPlan("p", "approve Go on?")})
	objective := task.ID
	w.c.AwaitGate(t, within, objective)
	w.change("objectives/update", objective, "failed")
	w.c.AwaitEnd(t, within, objective)
	found, err := w.operator.Temporal.DescribeWorkflowExecution(t.Context(), objective, "")
	test.OK(t, err)
	retry := func(attempt int) string {
		t.Helper()
		w.change("objectives/update", objective, "submitted")
		w.change("objectives/update", objective, "working")
		id := opt.RootID(objective, attempt)
		w.c.AwaitGate(t, within, id)
		return id
	}
	terminated := func(id string) {
		t.Helper()
		harness.Eventually(t, within, id+" is terminated", func() error {
			got, err := w.c.Get(t.Context(), id)
			if err == nil && got.State != "FAILED" {
				err = fmt.Errorf("it is %s: %s", got.State, got.Message)
			}
			return err
		})
	}
	second := retry(2)
	test.OK(t, w.operator.ResetRun(t.Context(), found.GetWorkflowExecutionInfo().GetExecution(), harness.First))
	terminated(second)
	third := retry(3)
	test.OK(t, w.operator.Reset(t.Context(), objective, harness.First)) // the run of that retry reads what it has begun itself
	terminated(third)
	w.roots = append(w.roots, retry(4))
	w.finish()
	w.checkTemporal()
	w.checkLog()
}

// change moves an objective or a plan.
func (w *world) change(method, id, status string) {
	w.Helper()
	if err := w.c.Call(w.Context(), method, map[string]any{"id": id, "status": status}, nil); err != nil {
		w.Errorf("%s of %s to %s: %v", method, id, status, err)
	}
}
