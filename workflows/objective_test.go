package workflows_test

import (
	"testing"
	"time"

	"longhaul/opt"
	"longhaul/workflows"
)

func TestObjective_runsPlansInOrder(t *testing.T) {
	env, log := newEnv(t)
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: opening("say one|say two", "say three")})
	finished(t, env)
	log.want(t,
		"opened", "objective working", "added plan-a-1", "added plan-a-2", "obj-a working",
		"plan-a-1 working", "task-a-1-0 working", "task-a-1-0 made 1-0-echo", "task-a-1-0 completed",
		"task-a-1-1 working", "task-a-1-1 made 1-1-echo", "task-a-1-1 completed", "plan-a-1 completed",
		"plan-a-2 working", "task-a-2-0 working", "task-a-2-0 made 2-0-echo", "task-a-2-0 completed", "plan-a-2 completed",
		"objective completed", "obj-a completed",
	)
}

func TestObjective_waitsForReplyAndResumes(t *testing.T) {
	env, log := newEnv(t)
	env.RegisterDelayedCallback(func() {
		_ = env.SignalWorkflowByID(planID, workflows.LetterSignal, letter("m2", opt.Reply{GateID: "task-aaaaaaaaaaaaaaaaaaaaaaaaaa-1-0:1", Action: opt.Accept}))
	}, time.Hour)
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: opening("approve Ship it?; say shipped")})
	finished(t, env)
	log.want(t,
		"opened", "objective working", "added plan-a-1", "obj-a working", "plan-a-1 working", "task-a-1-0 working",
		"task-a-1-0 input-required", "plan-a-1 blocked input", "objective blocked input", "obj-a input-required input",
		"obj-a m2 accepted", "task-a-1-0 working", "plan-a-1 working", "objective working", "obj-a working",
		"task-a-1-0 made 1-0-echo", "task-a-1-0 completed", "plan-a-1 completed", "objective completed", "obj-a completed",
	)
}

func letter(messageID string, reply opt.Reply) opt.Letter {
	return opt.Letter{
		ObjectiveID: objectiveID, PlanID: planID, TaskID: objectiveID, ForTask: reply.GateID[:len(reply.GateID)-2], Principal: "p",
		Message: message(messageID, "here"), Reply: &reply,
	}
}
