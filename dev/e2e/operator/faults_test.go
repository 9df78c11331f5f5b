package operator_test

import (
	"testing"

	"longhaul/dev/e2e/faulty"
	"longhaul/dev/e2e/harness"
)

// A random operator acts while calls of the database of Temporal fail. An act may fail, too.
func TestOperator_faults(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "LONGHAUL_SYNC=normal")
	f := &faulty.Fault{Kind: faulty.Mixed, Share: 0.05, Seed: int64(w.operator.Rand.Uint64())}
	server := faulty.Start(t, w.site, f)
	w.site.Start(harness.Worker)
	w.site.Start(harness.API)
	w.connect()
	f.Turn(true)
	for n := range max(1, *objectives/3) {
		w.begin(n)
		for range max(1, *howMany / *objectives) {
			what, err := w.operator.Act(t.Context(), acts...)
			t.Log(what, err)
		}
		w.answerGates()
	}
	server.Mend()
	faults, calls := f.Injected()
	t.Logf("%d faults in %d calls", faults, calls)
	w.finish()
	w.checkTemporal()
	w.checkLog()
}
