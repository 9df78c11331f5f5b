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

// GetPlan returns a plan.
func (s *objectives) GetPlan(ctx context.Context, c *Call, p GetPlanParams) (ShownPlan, error) {
	_, plan, err := s.read.plan(ctx, c, p.ID)
	return ShownPlan{Plan: plan, Tasks: p.Tasks}, err
}

// plan reads a plan that the caller names, within its objective.
func (r reader) plan(ctx context.Context, c *Call, id string) (*opt.Objective, *opt.Plan, error) {
	missing := optNotFound("PLAN_NOT_FOUND", "Plan", id)
	ref, ok := opt.ParseID(id)
	if !ok {
		return nil, nil, missing
	}
	o, err := r.journal.Objective(ctx, c.Tenant, ref.ObjectiveID)
	if errors.Is(err, opt.ErrUnknown) {
		return nil, nil, missing
	}
	if err != nil {
		return nil, nil, err
	}
	p := o.Plan(id)
	if p == nil {
		return nil, nil, missing
	}
	c.about(o.ID, "")
	return o, p, nil
}

// checkPlans reports what is wrong with the first plans of an objective. field is
// their path in the request; it may hold a %d.
func checkPlans(limits opt.Limits, field string, specs []opt.PlanSpec) error {
	some := opt.Objective{ID: opt.NewObjectiveID([16]byte{}), Limits: limits} // the id does not matter
	_, err := some.NewPlans(specs, a2a.Time{})
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
