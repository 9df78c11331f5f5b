package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

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
	Tasks bool
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

// checkPlans reports what is wrong with plans that are to be the first of an
// objective. field says where they stand in the request; it may hold a %d.
func checkPlans(at time.Time, field string, specs []opt.PlanSpec) error {
	if len(specs) > opt.MaxPlans {
		return invalid(strings.TrimSuffix(field, "[%d]."), fmt.Sprintf("has more than %d plans", opt.MaxPlans))
	}
	now := a2a.At(at)
	some := opt.NewObjectiveID([16]byte{}) // ids only have to differ
	var ids []string
	for n := range specs {
		ids = append(ids, opt.PlanID(some, n))
	}
	plans := map[string]*opt.Plan{}
	for n, spec := range specs {
		where := strings.ReplaceAll(field, "%d", fmt.Sprint(n))
		p, err := opt.NewPlan(some, n, spec, nil, ids, now)
		if err != nil {
			return under(where, err)
		}
		plans[p.ID] = p
	}
	for n, id := range ids {
		if leadsTo(plans, id, id, map[string]bool{}) {
			where := strings.ReplaceAll(field, "%d", fmt.Sprint(n))
			return invalid(where+"dependencies", "go round in a circle")
		}
	}
	return nil
}

// under adds where in the request a plan stands to an error about it.
func under(field string, err error) error {
	var spec *opt.SpecError
	if errors.As(err, &spec) {
		return &opt.SpecError{Field: field + spec.Field, Problem: spec.Problem}
	}
	return err
}

// leadsTo reports whether the plan called to is among those that the one called
// from depends on, however indirectly.
func leadsTo(plans map[string]*opt.Plan, from, to string, seen map[string]bool) bool {
	for _, id := range plans[from].Dependencies {
		if id == to {
			return true
		}
		if !seen[id] {
			seen[id] = true
			if leadsTo(plans, id, to, seen) {
				return true
			}
		}
	}
	return false
}
