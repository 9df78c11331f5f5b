package workflows_test

import (
	"context"
	"testing"
	"time"

	"longhaul/activities/human"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/workflows"
)

// deciding returns a plan whose approval is one about which standing decisions may decide.
func deciding(t *testing.T) opt.PlanSpec {
	t.Helper()
	spec := planOf("say {}", "", "say after")
	ask := test.Value(human.Form{Approve: "Pay?", Results: opt.GateForm{Object: []string{"task-0"}}}.Gate())(t)
	spec.Tasks[1].Ask, spec.Tasks[1].Standing, spec.Tasks[1].Uses = ask, "pay/Pay/Approve", []string{"task-0"}
	return spec
}

// A standing decision is looked up before the gate opens. Without one the gate opens.
func TestPlan_standing(t *testing.T) {
	for name, tt := range map[string]struct {
		by    []opt.Vote
		asked bool
	}{"decided": {[]opt.Vote{{Action: opt.Accept, DecidedBy: "bob"}}, false}, "none": {nil, true}} {
		t.Run(name, func(t *testing.T) {
			env, log := newPlanEnv(t)
			var gates []string
			env.OnActivity("LookUp", anyArg, anyArg).Return(func(_ context.Context, q opt.StandingQuestion) (opt.StandingUse, error) {
				gates = append(gates, q.Gate.Standing)
				return opt.StandingUse{ID: "sd-1", Use: 1, Action: opt.Accept, By: tt.by, ObjectDigest: q.Gate.ObjectDigest}, nil
			})
			asked := false
			at(env, time.Minute, func() { asked = log.has("task-a-1-1 input-required") })
			reply(env, time.Hour, "r1", opt.Reply{GateID: opt.GateID(opt.TaskID(planID, 1), 1), Action: opt.Accept})
			in := planInput(t, deciding(t))
			in.State.Requester = "ann"
			env.ExecuteWorkflow(workflows.Plan, in)
			report := result(t, env, log)
			if report.Status != opt.PlanCompleted || asked != tt.asked || len(gates) != 1 || gates[0] != "pay/Pay/Approve" {
				t.Errorf("the report is %+v; asked %v, looked up for %v", report, asked, gates)
			}
			if decided := env.Now().Sub(began) < time.Minute; decided == tt.asked {
				t.Errorf("it ends after %v", env.Now().Sub(began))
			}
		})
	}
}
