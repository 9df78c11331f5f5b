package rehearse_test

import (
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/rehearse"
)

// A limit of steps leaves random rehearsals out, and the likely course is there.
func TestRun_steps(t *testing.T) {
	plan := func(opt.Objective, *a2a.Message) rehearse.Planned {
		return rehearse.Planned{Plans: []opt.PlanSpec{{Name: "Plan", Tasks: []opt.TaskSpec{{Name: "Build"}}}}}
	}
	takes := map[string]rehearse.Work{"Build": {Takes: rehearse.SpreadOf(time.Second, time.Hour)}}
	free, err := rehearse.Run(plan, message("go"), rehearse.Assumptions{Tasks: takes})
	if err != nil || free.Took.Low == free.Took.High {
		t.Fatalf("without a limit: %v, %v", free.Took, err)
	}
	bound, err := rehearse.Run(plan, message("go"), rehearse.Assumptions{Tasks: takes, Steps: 1})
	if err != nil || bound.Took.Low != bound.Took.High || bound.Took.Likely != free.Took.Likely {
		t.Errorf("after one step: %v, %v", bound.Took, err)
	}
}

func BenchmarkRun_large(b *testing.B) {
	var tasks []opt.TaskSpec
	for range 200 {
		tasks = append(tasks, opt.TaskSpec{Name: "Build", Executor: "x"})
	}
	plan := func(opt.Objective, *a2a.Message) rehearse.Planned {
		return rehearse.Planned{Plans: []opt.PlanSpec{{Name: "Plan", Tasks: tasks}}}
	}
	a := rehearse.Assumptions{Executors: map[string]rehearse.Work{"x": {Takes: rehearse.SpreadOf(time.Second, time.Hour)}}, Steps: 100_000}
	for b.Loop() {
		if _, err := rehearse.Run(plan, message("go"), a); err != nil {
			b.Fatal(err)
		}
	}
}
