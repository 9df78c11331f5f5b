package operator_test

import (
	"errors"
	"fmt"
	"testing"

	"longhaul/dev/e2e/harness"
)

// An operator terminates an objective before anyone has recorded its beginning: the API was killed, and no worker runs.
// The message that is sent again finds the task, which has failed.
func TestOperator_terminatesTheUnrecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.site.Start(harness.Temporal)
	w.connect()
	api := w.site.Start(harness.API, "CRASHABLE_POINT=engine-started")
	m := harness.Message{ID: "m", Text: "x", Plan: harness.NewPlan("p", "say never")}
	if _, err := w.c.Send(t.Context(), m); err == nil {
		t.Fatal("the API has answered")
	}
	api.AwaitEnd(within)
	w.terminateOpen()
	w.site.Start(harness.API)
	w.site.Start(harness.Worker)
	task := w.c.MustSendUntil(t.Context(), t, m)
	w.endsWhenAnswered(t, task.ID)
	harness.Eventually(t, within, "the objective has failed", func() error {
		all, err := w.c.Objectives(t.Context())
		if err != nil || len(all) != 1 || all[0].Status != "failed" || all[0].Metadata["opt/v1/failureReason"] != "terminated" {
			err = fmt.Errorf("%v: %+v", err, all)
		}
		return err
	})
	w.checkTemporal()
	w.site.Run("journal", "verify", "--data-dir", w.site.Dir, "--temporal-addr", w.site.TemporalAddr)
}

// terminateOpen terminates all that runs, of which there is something.
func (w *world) terminateOpen() {
	w.Helper()
	harness.Eventually(w.T, within, "something is terminated", func() error {
		ids, err := w.operator.Open(w.Context())
		if err == nil && len(ids) == 0 {
			err = errors.New("nothing runs")
		}
		for _, id := range ids {
			err = errors.Join(err, w.operator.Terminate(w.Context(), id))
		}
		return err
	})
}
