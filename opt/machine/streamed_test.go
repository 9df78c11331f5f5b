package machine_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
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
	test.Equal(t, "streamed", [][]string{nil, {"b"}, {"a", "b"}, {"a", "b"}}, got)
	end(machine.Ended{Failed: &machine.Failure{Code: "failed"}})
	if m.Handle(a2a.AtMillis(3_600_000), machine.Begin{}); len(m.State.Work[task(1, 0)].Streamed) > 0 {
		t.Error("the next attempt has streamed something")
	}
}

// What a task has made in a round that ends with a question stays its own: those that wait for it get
// it, as those who look at the journal do.
func TestPlan_collectsBeforeGate(t *testing.T) {
	for rules, want := range map[int][]string{machine.Rules: {"draft", "last"}, 23: {"last"}} {
		now := a2a.AtMillis(1)
		m := &machine.Plan{State: machine.PlanState{
			Rules:  rules,
			Plan:   opt.Plan{ID: plan(1), ObjectiveID: objectiveID, Name: "p", Status: opt.PlanPending, Tasks: []*opt.Task{{ID: task(1, 0), Name: "t", State: opt.TaskPending}}},
			RootID: objectiveID, First: &machine.Directed{Directive: machine.Directive{N: 1, Start: true}},
		}}
		m.Handle(now, machine.Opened{})
		end := func(out opt.Outcome) {
			t.Helper()
			m.Handle(now, machine.Begin{})
			work := m.Wants().Activities
			if len(work) != 1 {
				t.Fatalf("the plan wants %+v", work)
			}
			m.Handle(now, machine.Ended{Key: work[0].Key, Outcome: out})
		}
		made := func(id string) []a2a.Artifact { return []a2a.Artifact{{ArtifactID: id}} }
		end(opt.Outcome{
			State: opt.TaskInputRequired, Artifacts: made("draft"), Streamed: []string{"draft"},
			Gate: &opt.Gate{Kind: opt.Approval, Title: "Good?", Actions: []opt.Action{opt.Accept}},
		})
		asked := m.State.Plan.Tasks[0]
		m.Handle(now, machine.Letter{Letter: opt.Letter{
			TaskID: asked.A2AID(), Principal: "bob", Message: a2a.Message{MessageID: "m", Role: a2a.RoleUser}, Reply: &opt.Reply{GateID: asked.Gate.ID, Action: opt.Accept},
		}})
		end(opt.Outcome{State: opt.TaskCompleted, Artifacts: made("last")})
		var got []string
		for _, a := range m.State.Plan.Tasks[0].Artifacts {
			got = append(got, a.ArtifactID)
		}
		test.Equal(t, fmt.Sprintf("rules %d: artifacts", rules), want, got)
	}
}
