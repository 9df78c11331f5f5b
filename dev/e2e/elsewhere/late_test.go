package elsewhere_test

import (
	"testing"

	"longhaul/dev/e2e/harness"
)

// An API that starts before Temporal serves reads, and accepts work once Temporal
// answers. The new objective uses the search attributes.
func TestLate(t *testing.T) {
	d := &deployment{Site: harness.NewSite(t, harness.Dev), t: t}
	temporal, worker, api := d.Start(harness.Temporal), d.Start(harness.Worker), d.Start(harness.API)
	id := d.works("before")
	for _, p := range []*harness.Process{api, worker, temporal} {
		p.Stop()
	}

	api = d.Launch(harness.API)
	d.says(api, "Only reads work until Temporal answers", "Temporal at "+d.TemporalAddr+" (from temporal-addr)", "connection refused")
	harness.Eventually(t, within, "the API answers", func() error { return d.Answers("/healthz") })
	if task, err := d.Client().Get(t.Context(), id); err != nil || task.State != "COMPLETED" {
		t.Errorf("the task is %+v, %v", task, err)
	}
	if _, err := d.Client().Send(t.Context(), harness.Message{ID: "refused", Text: "x"}); !harness.MayRepeat(err) {
		t.Errorf("a send without Temporal: %v, want an error that allows a repeat", err)
	}
	d.Start(harness.Temporal)
	d.Start(harness.Worker)
	d.says(api, "Temporal answers")
	if err := api.Logged("search attributes"); err == nil {
		t.Error("the API misses search attributes")
	}
	d.works("after")
}
