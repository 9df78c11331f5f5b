package api

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"longhaul/a2a"
	"longhaul/api/wire"
	"longhaul/opt"
)

// checkPlans reports what is wrong with plans that are to be the first of an
// objective. field says where they stand in the request; it may hold a %d.
func (s *Server) checkPlans(field string, specs []opt.PlanSpec) error {
	if len(specs) > opt.MaxPlans {
		return invalid(strings.TrimSuffix(field, "[%d]."), fmt.Sprintf("has more than %d plans", opt.MaxPlans))
	}
	now := a2a.At(s.cfg.Now())
	some := opt.NewObjectiveID([16]byte{}) // ids only have to differ
	var ids []string
	for n := range specs {
		ids = append(ids, opt.PlanID(some, n))
	}
	plans := map[string]*opt.Plan{}
	for n, spec := range specs {
		at := strings.ReplaceAll(field, "%d", fmt.Sprint(n))
		p, err := opt.NewPlan(some, n, spec, nil, ids, now)
		if err != nil {
			return under(at, err)
		}
		plans[p.ID] = p
	}
	for n, id := range ids {
		if leadsTo(plans, id, id, map[string]bool{}) {
			at := strings.ReplaceAll(field, "%d", fmt.Sprint(n))
			return invalid(at+"dependencies", "go round in a circle")
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

// createPlan adds a plan to an objective. It runs when the objective has been
// started and its turn has come.
func (s *Server) createPlan(ctx context.Context, c *call, p wire.CreatePlanParams) (*opt.Plan, error) {
	o, err := s.objective(ctx, c, p.ObjectiveID)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Status.Ended() || o.Stopping != "":
		return nil, opt.ErrEnded
	case len(o.Plans) >= opt.MaxPlans:
		return nil, invalid("objectiveId", fmt.Sprintf("has its maxPlansPerObjective of %d plans", opt.MaxPlans))
	}
	var ids []string
	for _, sibling := range o.Plans {
		ids = append(ids, sibling.ID)
	}
	// The workflow checks again, when it knows what else has happened.
	if _, err := opt.NewPlan(o.ID, len(o.Plans), p.Plan, o.Plans, ids, a2a.At(s.cfg.Now())); err != nil {
		return nil, err
	}
	ctx, cancel := s.writing(ctx)
	defer cancel()
	plan, err := s.cfg.Engine.AddPlan(ctx, o.ID, p.Plan, p.Plan.Metadata.Bool(opt.KeyAutoStart), 0)
	if errors.Is(err, opt.ErrUnknown) {
		return nil, opt.ErrEnded // the journal knows the objective, so its workflow was there and is gone
	}
	if err != nil {
		return nil, fmt.Errorf("add plan: %w", err)
	}
	return plan, nil
}

// getPlan returns a plan.
func (s *Server) getPlan(ctx context.Context, c *call, p wire.GetPlanParams) (wire.ShownPlan, error) {
	missing := optNotFound("PLAN_NOT_FOUND", "Plan", p.ID)
	if !plausible(p.ID) {
		return wire.ShownPlan{}, missing
	}
	plan, err := s.cfg.Journal.Plan(ctx, c.Tenant, p.ID)
	if errors.Is(err, opt.ErrUnknown) {
		return wire.ShownPlan{}, missing
	}
	if err == nil {
		c.saw(plan.ObjectiveID, "")
	}
	return wire.ShownPlan{Plan: plan, Tasks: p.Tasks}, err
}
