package machine_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// A leg gets the ids of what earlier legs of its attempt have streamed.
func TestPlan_WorkOf_streamed(t *testing.T) {
	now := a2a.AtMillis(1)
	m := &machine.Plan{State: machine.PlanState{
		Plan:   opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Name: "p", Status: opt.PlanPending, Tasks: []*opt.Task{{ID: task(1, 0), Name: "t", State: opt.TaskPending}}},
		RootID: objectiveID, First: &machine.Directed{Directive: machine.Directive{N: 1, Start: true}},
	}}
	m.Handle(now, machine.Opened{})
	m.Handle(now, machine.Begin{})
	next := func() []string {
		t.Helper()
		m.Handle(now, machine.Begin{})
		work := m.Wants().Activities
		if len(work) != 1 {
			t.Fatalf("the plan wants %+v", work)
		}
		return m.State.WorkOf(work[0]).Streamed
	}
	end := func(ended machine.Ended) {
		ended.Key = m.Wants().Activities[0].Key
		m.Handle(now, ended)
	}
	streams := func(id string) machine.Ended {
		return machine.Ended{Outcome: opt.Outcome{
			State: opt.TaskWorking, Park: &opt.Park{}, Memo: json.RawMessage("1"), Artifacts: []a2a.Artifact{{ArtifactID: id}}, Streamed: []string{id},
		}}
	}
	got := [][]string{next()}
	for _, id := range []string{"b", "a", "b"} {
		end(streams(id))
		got = append(got, next())
	}
	if diff := cmp.Diff([][]string{nil, {"b"}, {"a", "b"}, {"a", "b"}}, got); diff != "" {
		t.Errorf("streamed mismatch (-want +got):\n%s", diff)
	}
	end(machine.Ended{Failed: &machine.Failure{Code: "failed"}})
	if m.Handle(a2a.AtMillis(3_600_000), machine.Begin{}); len(m.State.Work[task(1, 0)].Streamed) > 0 {
		t.Error("the next attempt has streamed something")
	}
}
