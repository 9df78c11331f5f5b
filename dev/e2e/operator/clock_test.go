package operator_test

import (
	"testing"

	"longhaul/dev/e2e/harness"
)

// The clocks of two processes that serve the API are three minutes behind and ahead of the
// workers and of Temporal. Work begins, waits, changes and ends as ever.
func TestOperator_clocks(t *testing.T) {
	for _, clock := range []string{"-3m", "3m"} {
		t.Run(clock, func(t *testing.T) {
			w := newWorld(t)
			w.site.Start(harness.Temporal)
			w.site.Start(harness.Worker)
			w.site.Start(harness.API, "CRASHABLE_CLOCK="+harness.WriteFile(t, t.TempDir(), "clock", clock))
			w.connect()
			for n := range 6 {
				w.begin(n)
			}
			o := w.c.MustCreateObjective(t.Context(), t, "by hand")
			w.roots = append(w.roots, o.ID)
			if _, err := w.c.CreatePlan(t.Context(), o.ID, harness.NewPlan("first", "approve First?; say first")); err != nil {
				t.Fatal(err)
			}
			w.change("objectives/update", o.ID, "working")
			w.c.AwaitGate(t, within, o.ID)
			w.change("objectives/update", o.ID, "blocked")
			w.change("objectives/update", o.ID, "working")
			w.finish()
			w.checkTemporal()
			w.checkLog()
		})
	}
}

// change moves an objective or a plan.
func (w *world) change(method, id, status string) {
	w.Helper()
	if err := w.c.Call(w.Context(), method, map[string]any{"id": id, "status": status}, nil); err != nil {
		w.Errorf("%s of %s to %s: %v", method, id, status, err)
	}
}
