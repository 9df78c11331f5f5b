package workflows_test

import (
	"testing"

	"longhaul/workflows"
)

func TestObjective_runsPlansInOrder(t *testing.T) {
	env, log := newEnv(t)
	o := opening("say one|say two", "say three")
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: &o})
	finished(t, env)
	log.want(t, objectiveID, "opened", "objective working", "added plan-a-1", "added plan-a-2", "obj-a working", "objective completed", "obj-a completed")
}
