package api_test

import (
	"testing"

	"longhaul/api/read"
)

// A task and a run have the page of their workflow, and a task the page of its traces, if the
// operator has named them.
func TestLinks(t *testing.T) {
	const ui = "https://temporal.example.com/ui/"
	for name, tt := range map[string]struct {
		links read.Links
		base  string // of workflows; "" for none
		trace string // before the id of an objective; "" for none
	}{
		"none": {},
		"links": {
			read.Links{UI: ui, Namespace: "long haul", Traces: "https://traces.example.com/?objective={id}"},
			"https://temporal.example.com/ui/namespaces/long%20haul/workflows/", "https://traces.example.com/?objective=",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, func(c *config) { c.Links = tt.links })
			s.send(t, "approve", "approve")
			for id, workflow := range map[string]string{"obj-" + u("approve"): "obj-" + u("approve"), "task-" + u("approve") + "-1-0": "plan-" + u("approve") + "-1"} {
				want := ""
				if tt.base != "" {
					want = tt.base + workflow
				}
				metadata := s.must(t, "GetTask", `{"id":"`+id+`"}`).at("metadata")
				if got := metadata.at("longhaul/v1/workflowUrl").String(); got != want {
					t.Errorf("task %s has the page %q, want %q", id, got, want)
				}
				if want = ""; tt.trace != "" {
					want = tt.trace + "obj-" + u("approve")
				}
				if got := metadata.at("longhaul/v1/traceUrl").String(); got != want {
					t.Errorf("task %s has the traces %q, want %q", id, got, want)
				}
			}
			want := ""
			if tt.base != "" {
				want = tt.base + "obj-" + u("approve")
			}
			if got := parse(t, s.get(t, "/v1/runs/obj-"+u("approve")).Body.Bytes()).at("workflowUrl").String(); got != want {
				t.Errorf("the run has the page %q, want %q", got, want)
			}
		})
	}
}
