package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/workflows"
)

// former returns an objective that failed, as the journal has it: of its first plan
// one task was completed, the second never began.
func former(t *testing.T) *opt.Kept {
	t.Helper()
	open := opening()
	o := open.Objective
	plans := test.Value(o.NewPlans([]opt.PlanSpec{planOf("say kept", "say again"), planOf("say two")}, a2a.At(began)))(t)
	o.Plans = plans
	o.Status, o.Root, o.Started = opt.ObjectiveFailed, opt.TaskFailed, true
	plans[0].Status, plans[0].Started, plans[0].Reason = opt.PlanFailed, true, "busy"
	plans[0].Tasks[0].State, plans[0].Tasks[1].State = opt.TaskCompleted, opt.TaskFailed
	plans[0].Tasks[0].Artifacts = []a2a.Artifact{{ArtifactID: "1-0-echo", Parts: []a2a.Part{a2a.TextPart("kept")}}}
	plans[1].Status, plans[1].Reason, plans[1].Tasks[0].State = opt.PlanSkipped, string(opt.ObjectiveFailed), opt.TaskCanceled
	return &opt.Kept{Objective: o, Request: open.Message, Recorded: map[string]int64{objectiveID: 20, planID: 10, opt.PlanID(objectiveID, 2): 3}}
}

var again = workflows.ObjectiveInput{Retry: &workflows.RetryInput{Tenant: "t", ObjectiveID: objectiveID}}

// A retry reads the former attempt, however long the journal takes, and continues
// with the tasks that were not completed. Its event numbers follow the numbers of the
// former attempt.
func TestObjective_retries(t *testing.T) {
	env, log := newEnv(t)
	log.kept, log.numbers = former(t), map[string]int64{objectiveID: 20, planID: 10, opt.PlanID(objectiveID, 2): 3}
	command(env, 0, "c1", statusCommand(opt.ObjectivePlanning))
	env.ExecuteWorkflow(workflows.Objective, again)
	finished(t, env)
	log.wantHas(t, "objective-retried", "answered c1", "task-a-1-1~2 completed", "plan-a-1 completed", "task-a-2-0~2 completed", "plan-a-2 completed", "objective completed", "obj-a~2 completed")
	if log.has("task-a-1-0~2 working") || log.has("task-a-1-0 working") {
		t.Errorf("a completed task ran again:\n%v", log.lines)
	}
	var attempts []int
	for _, e := range log.events {
		if e.Kind == opt.PlanRetried {
			attempts = append(attempts, e.Attempt)
		}
	}
	test.Equal(t, "attempts at the plans", []int{2, 2}, attempts)
}

// An objective that was removed from the journal cannot be retried. It leaves its context, also
// when Temporal refuses to say so at first.
func TestObjective_retriesNothing(t *testing.T) {
	env, log := newEnv(t)
	var sent []any
	log.outside = func(_, _ string, arg any) error {
		test.OK(t, machine.Check(arg.(machine.Input)))
		sent = append(sent, arg)
		if len(sent) == 1 {
			return errors.New("the context has too many signals")
		}
		return nil
	}
	command(env, 0, "c1", statusCommand(opt.ObjectivePlanning))
	in := again
	in.Retry = &workflows.RetryInput{Tenant: "t", ContextID: "ctx", ObjectiveID: objectiveID}
	env.ExecuteWorkflow(workflows.Objective, in)
	test.Equal(t, "signals", []any{machine.Left(objectiveID), machine.Left(objectiveID)}, sent)
	if err := env.GetWorkflowError(); !env.IsWorkflowCompleted() || err == nil || len(log.lines) > 0 {
		t.Errorf("the workflow ended with %v, and recorded %v", err, log.lines)
	}
}

// A failed plan of an objective that has not ended is retried: the journal has
// the former attempt, and the next run of the plan continues from it.
func TestObjective_retriesAPlan(t *testing.T) {
	env, log := newEnv(t)
	optional := planOf("say kept", "say never")
	optional.Metadata = a2a.Metadata{}.With(opt.KeyOptional, true)
	waiting := planOf("say other")
	gate := opt.Gate{Kind: opt.Approval, Title: "Go on?", Actions: []opt.Action{opt.Accept}}
	waiting.Tasks[0].Ask, waiting.Tasks[0].Description = &gate, ""
	second := opt.PlanID(objectiveID, 2)
	o := unplanned()
	o.Plans = []opt.PlanSpec{optional, waiting}
	command(env, time.Hour, "c1", statusCommand(opt.ObjectiveWorking))

	env.OnActivity("Run", anyArg, anyArg).Return(failOnce(log))
	var last int64
	at(env, 2*time.Hour, func() {
		log.kept = keptOf(t, log, o)
		last = log.kept.Recorded[objectiveID]
	})
	env.OnActivity("Load", anyArg, anyArg).Return(func(_ context.Context, r activities.KeptRequest) (opt.Kept, error) {
		if r.Source != objectiveID || r.After < last || last == 0 {
			t.Errorf("the former attempt is read as of event %d of %s, after event %d", r.After, r.Source, last)
		}
		return *log.kept, nil
	})
	command(env, 3*time.Hour, "c2", opt.Command{Kind: opt.UpdatePlan, PlanID: planID, Status: string(opt.PlanWorking)})
	at(env, 4*time.Hour, func() {
		l := letter("r1", opt.Reply{GateID: opt.GateID(opt.TaskID(second, 0), 1), Action: opt.Accept})
		l.PlanID = second
		_ = env.SignalWorkflowByID(second, workflows.LetterSignal, l)
	})
	run(env, o)
	finished(t, env)
	log.wantHas(t, "plan-a-1 failed no", "plan-retried", "answered c2", "task-a-1-1~2 completed", "plan-a-1 completed")
	log.wantHas(t, "answered c1", "plan-retried", "obj-a r1 accepted", "plan-a-2 completed", "obj-a completed")
}

// failOnce completes every task but the second of the first plan in its first
// attempt at the plan.
func failOnce(log *recording) func(context.Context, activities.RunInput) (activities.Outcome, error) {
	return func(ctx context.Context, in activities.RunInput) (activities.Outcome, error) {
		out, err := rideAndComplete(ctx, log, in)
		if in.Work.TaskID == opt.TaskID(planID, 1) {
			out = activities.Failed("no", "No.")
		}
		return out, err
	}
}

// keptOf returns the objective as the journal has it now.
func keptOf(t *testing.T, log *recording, open opt.Opening) *opt.Kept {
	t.Helper()
	log.mu.Lock()
	defer log.mu.Unlock()
	kept := &opt.Kept{Objective: open.Objective, Recorded: maps.Clone(log.numbers)}
	o := &kept.Objective
	for _, e := range log.events {
		p := o.Plan(e.PlanID)
		switch {
		case e.Kind == opt.PlanAdded:
			var own opt.Plan // apart from what the event holds
			data, err := json.Marshal(e.Plan)
			if err == nil {
				err = json.Unmarshal(data, &own)
			}
			if err != nil {
				t.Error(err)
			}
			o.Plans = append(o.Plans, &own)
		case p != nil:
			test.Error(t, "the call", nil, p.Apply(e))
		}
	}
	return kept
}
