package rehearse_test

import (
	"errors"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/rehearse"
)

// A bound of steps ends a rehearsal that takes more, and leaves random ones out.
func TestRun_steps(t *testing.T) {
	plan := func(opt.Objective, *a2a.Message) rehearse.Planned {
		return rehearse.Planned{Plans: []opt.PlanSpec{{Name: "Plan", Tasks: []opt.TaskSpec{{Name: "Build"}}}}}
	}
	takes := map[string]rehearse.Work{"Build": {Takes: rehearse.SpreadOf(time.Second, time.Minute)}}
	free, err := rehearse.Run(plan, message("go"), rehearse.Assumptions{Tasks: takes})
	if err != nil || free.Took.Low == free.Took.High {
		t.Fatalf("without a limit: %v, %v", free.Took, err)
	}
	for steps := 1; steps < 50; steps++ {
		bound, err := rehearse.Run(plan, message("go"), rehearse.Assumptions{Tasks: takes, Steps: steps})
		if err != nil {
			continue
		}
		if steps < 3 || bound.Took.Low != bound.Took.High || bound.Took.Likely != free.Took.Likely {
			t.Errorf("after %d steps: %v", steps, bound.Took)
		}
		return
	}
	t.Error("it takes more than 50 steps")
}

// A rehearsal that is not wanted any more ends, between any two appointments.
func TestRun_stopped(t *testing.T) {
	plan := func(opt.Objective, *a2a.Message) rehearse.Planned {
		return rehearse.Planned{Plans: []opt.PlanSpec{{Name: "Plan", Tasks: []opt.TaskSpec{{Name: "Build"}, {Name: "Test"}}}}}
	}
	gone, asked := errors.New("gone"), 0
	_, err := rehearse.Run(plan, message("go"), rehearse.Assumptions{Stopped: func() error {
		if asked++; asked > 2 {
			return gone
		}
		return nil
	}})
	if !errors.Is(err, gone) || asked != 3 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}

func BenchmarkRun_large(b *testing.B) {
	var plans []opt.PlanSpec
	for range 10 {
		plan := opt.PlanSpec{Name: "Plan"}
		for range 50 {
			plan.Tasks = append(plan.Tasks, opt.TaskSpec{Name: "Build", Executor: "x"})
		}
		plans = append(plans, plan)
	}
	plan := func(opt.Objective, *a2a.Message) rehearse.Planned { return rehearse.Planned{Plans: plans} }
	a := rehearse.Assumptions{Executors: map[string]rehearse.Work{"x": {Takes: rehearse.SpreadOf(time.Second, time.Minute)}}, Steps: 10_000}
	for b.Loop() {
		if r, err := rehearse.Run(plan, message("go"), a); err != nil || r.Status != opt.ObjectiveCompleted {
			b.Fatal(r.Status, err)
		}
	}
}
