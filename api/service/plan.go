package service

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// GetPlanParams are the params of plans/get.
type GetPlanParams struct {
	ID    string
	Tasks bool
}

// ShownPlan is a plan and how much of it to show.
type ShownPlan struct {
	*opt.Plan
	Tasks       bool
	Unconfirmed []string // plans that had not confirmed a change when it was answered
}

// A ShownTask is a plan task and, for a method that moves it, its plan and
// objective.
type ShownTask struct {
	Task      *opt.Task
	Plan      *opt.Plan
	Objective *opt.Objective
}

// GetPlan returns a plan.
func (s *objectives) GetPlan(ctx context.Context, c *Call, p GetPlanParams) (ShownPlan, error) {
	_, plan, err := s.read.plan(ctx, c, p.ID)
	return ShownPlan{Plan: plan, Tasks: p.Tasks}, err
}

// checkPlans reports the mistakes in the first plans of an objective. field is
// their path in the request; it may hold a %d.
func checkPlans(cfg Config, field string, specs []opt.PlanSpec) error {
	some := opt.Objective{ID: opt.NewObjectiveID([16]byte{}), Limits: cfg.Limits} // the id does not matter
	_, err := some.NewPlans(specs, a2a.Time{})
	for i, p := range specs {
		if err == nil {
			err = checkExecutors(cfg, strings.ReplaceAll(field, "%d", fmt.Sprint(i)), p.Tasks)
		}
	}
	var wrong *opt.SpecError
	if !errors.As(err, &wrong) {
		return err
	}
	var n int
	if _, scan := fmt.Sscanf(wrong.Field, "plans[%d].", &n); scan != nil {
		return &opt.SpecError{Field: strings.TrimSuffix(strings.TrimSuffix(field, "[%d]."), "."), Problem: wrong.Problem}
	}
	_, member, _ := strings.Cut(wrong.Field, "].")
	return &opt.SpecError{Field: strings.ReplaceAll(field, "%d", fmt.Sprint(n)) + member, Problem: wrong.Problem}
}

// checkExecutors reports a task that cannot have its executor. A task for people has none.
// field is the path of the plan.
func checkExecutors(cfg Config, field string, tasks []opt.TaskSpec) error {
	for i, t := range tasks {
		if t.Ask != nil {
			continue
		}
		if err := cfg.CheckExecutor(t.Executor); err != nil {
			f := invalid(fmt.Sprintf("%stasks[%d]", field, i), err.Error())
			f.Reason = reasonExecutor
			return f
		}
	}
	return nil
}
