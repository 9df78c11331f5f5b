package operator_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// Two objectives of a context wait for people when an operator ends or resets the workflow of the context. Both are
// answered then, and work one after another.
func TestOperator_contexts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tally")
	w := newWorld(t, "CRASHABLE_TALLY="+path)
	w.site.Start(harness.AllInOne)
	w.connect()
	for _, act := range []string{"terminate", "reset to first", "reset to anywhere"} {
		t.Run(act, func(t *testing.T) {
			var ids []string
			for _, name := range []string{"first", "second"} {
				task := w.c.MustSendUntil(t.Context(), t, harness.Message{
					ID: act + name, Text: "x", ContextID: act, Plan: harness.NewPlan(name, "approve Go on?; work 1s", "work 1s"),
				})
				w.c.AwaitGate(t, within, task.ID)
				ids = append(ids, task.ID)
			}
			contextID := w.contextWorkflow(t)
			test.OK(t, harness.Acts[act](w.operator, t.Context(), contextID))
			for _, id := range ids {
				test.OK(t, w.answer(id))
			}
			for _, id := range ids {
				if task := w.c.AwaitEnd(t, within, id); task.State != "COMPLETED" {
					t.Errorf("%s is %s: %s", id, task.State, task.Message)
				}
			}
			oneWorks(t, path, ids)
		})
	}
	w.finish()
	w.checkTemporal()
	w.checkLog()
}

// contextWorkflow returns the id of the only workflow of a context that runs.
func (w *world) contextWorkflow(t *testing.T) (id string) {
	t.Helper()
	harness.Eventually(t, within, "the workflow of the context runs", func() error {
		runs, err := w.operator.Runs(t.Context(), "WorkflowType = 'Context' AND ExecutionStatus = 'Running'")
		if err == nil && len(runs) != 1 {
			err = errors.New("there is none, or there are others")
		}
		if err == nil {
			id = runs[0].GetWorkflowId()
		}
		return err
	})
	return id
}

// oneWorks checks that no two of the objectives had tasks that ran at once, as a tally has it.
func oneWorks(t *testing.T, tally string, ids []string) {
	t.Helper()
	runs, begun := map[string]int{}, map[string]bool{}
	for line := range strings.Lines(string(test.Value(os.ReadFile(tally))(t))) {
		fields := strings.Fields(line)
		for _, id := range ids {
			if !strings.Contains(fields[0], strings.TrimPrefix(id, "obj-")) {
				continue
			}
			if fields[4] == "begin" {
				runs[id]++
				begun[id] = true
			} else {
				runs[id]--
			}
		}
		if runs[ids[0]] > 0 && runs[ids[1]] > 0 {
			t.Errorf("both work at once: %s", line)
		}
	}
	if len(begun) != len(ids) {
		t.Errorf("the tally has work of %v alone", begun)
	}
}
