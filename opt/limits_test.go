package opt_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

func TestLimits_OrDefault(t *testing.T) {
	for _, tt := range []struct{ limits, want opt.Limits }{
		{opt.Limits{}, opt.Limits{Plans: 10, Tasks: 50, Parallel: 4, Timeout: 1800, WorkerTimeout: 30}},
		{opt.Limits{Tasks: 3}, opt.Limits{Plans: 10, Tasks: 3, Parallel: 4, Timeout: 1800, WorkerTimeout: 30}},
		{opt.Limits{Plans: 1, Tasks: 2, Parallel: 3, Timeout: 4, WorkerTimeout: 5}, opt.Limits{Plans: 1, Tasks: 2, Parallel: 3, Timeout: 4, WorkerTimeout: 5}},
	} {
		test.Equal(t, fmt.Sprintf("%+v", tt.limits), tt.want, tt.limits.OrDefault())
	}
}

// The limits of an objective apply to its plans, also to stored plans.
func TestLimits_ofPlans(t *testing.T) {
	o := &opt.Objective{ID: objectiveID, Limits: opt.Limits{Plans: 2, Tasks: 3, Parallel: 2}}
	tasks := slices.Repeat([]opt.TaskSpec{{Name: "t", Dependencies: []string{}}}, 3)
	tasks[2].Dependencies = []string{"task-0"}
	p := test.Value(o.NewPlan(opt.PlanSpec{Name: "p", Tasks: tasks}, a2a.Time{}))(t)
	data, err := json.Marshal(p)
	test.OK(t, err)
	stored := &opt.Plan{}
	if err := json.Unmarshal(data, stored); err != nil || stored.Limits != o.Limits {
		t.Errorf("limits %+v after JSON: %v", stored.Limits, err)
	}
	_, err = stored.NewTasks([]opt.TaskSpec{{Name: "fourth"}})
	wantSpecError(t, err, "tasks")
	if err == nil || !strings.Contains(err.Error(), "at most 3 tasks (maxTasksPerPlan), this would be 4") {
		t.Errorf("error %v", err)
	}
	if data, err := json.Marshal(opt.Plan{}); err != nil || strings.Contains(string(data), "limits") {
		t.Errorf("a plan without limits is %s, %v", data, err)
	}
}

func TestLimits_parallel(t *testing.T) {
	for most, want := range map[int]string{0: "0 1 2 3", 1: "0", 2: "0 1", 5: "0 1 2 3 4"} {
		p := planOf(t, "pending pending: pending: pending: pending: pending:0")
		p.Started, p.Limits.Parallel = true, most
		test.Is(t, fmt.Sprintf("limit %d: tasks", most), want, indexes(p.Ready()))
		o := objectiveOf(t, "pending pending: pending: pending: pending: pending:0")
		o.Limits.Parallel = most
		test.Is(t, fmt.Sprintf("limit %d: plans", most), want, places(o, o.Startable()))
	}
	p := planOf(t, "pending pending")
	if p.Started, p.Limits.Parallel = true, 9; indexes(p.Ready()) != "0" {
		t.Errorf("tasks in list order: %s", indexes(p.Ready()))
	}
}

// Skipped and replaced plans do not count toward the limit of plans. Completed
// and failed plans do.
func TestObjective_NewPlan_room(t *testing.T) {
	for _, tt := range []struct {
		name, plans string
		set         func(*opt.Objective)
		room        int // how many more plans fit
	}{
		{"empty", "", nil, 10},
		{"some", "completed! failed?! blocked!/input working! pending", nil, 5},
		{"full", "completed! completed! completed! completed! completed! completed! completed! completed! failed?! working!", nil, 0},
		{"with skipped ones", "skipped skipped completed! skipped skipped skipped skipped skipped skipped skipped skipped", nil, 9},
		{"being replaced", "working! blocked!/input completed!", func(o *opt.Objective) {
			o.Plans[0].Stopping, o.Plans[1].Stopping = opt.Replanned, opt.Replanned
		}, 9},
		{"stopping otherwise", "working!", func(o *opt.Objective) { o.Plans[0].Stopping = "canceled" }, 9},
		{"a limit of its own", "completed! skipped pending", func(o *opt.Objective) { o.Limits.Plans = 3 }, 1},
		{"a limit below what is there", "completed! pending", func(o *opt.Objective) { o.Limits.Plans = 1 }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := objectiveOf(t, tt.plans)
			if tt.set != nil {
				tt.set(o)
			}
			specs := slices.Repeat([]opt.PlanSpec{{Name: "p"}}, tt.room)
			plans, err := o.NewPlans(specs, a2a.Time{})
			if tt.room > 0 && err != nil || len(plans) != tt.room {
				t.Errorf("%d plans were made: %v", len(plans), err)
			}
			for i, p := range plans {
				test.Is(t, fmt.Sprintf("plan %d", i), plan(len(o.Plans)+i+1), p.ID)
			}
			_, err = o.NewPlans(append(specs, opt.PlanSpec{Name: "p"}), a2a.Time{})
			wantSpecError(t, err, "plans")
			most := o.Limits.OrDefault().Plans
			if want := fmt.Sprintf("an objective has at most %d plans (maxPlansPerObjective)", most); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
			if _, err := o.NewPlan(opt.PlanSpec{Name: "p"}, a2a.Time{}); (err == nil) != (tt.room > 0) {
				t.Errorf("one plan more: %v", err)
			}
		})
	}
}
