package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
func (s *Server) createPlan(ctx context.Context, c *call, p wire.CreatePlanParams) (plan *opt.Plan, err error) {
	err = s.changing(ctx, func(ctx context.Context, n int) error {
		o, err := s.objective(ctx, c, p.ObjectiveID)
		if err == nil {
			err = fresh(o, p.Seen)
		}
		if err == nil {
			err = s.checkPlan(o, p.Plan)
		}
		if err != nil {
			return err
		}
		plan, err = s.cfg.Engine.AddPlan(ctx, o.ID, p.Plan, p.Plan.Metadata.Bool(opt.KeyAutoStart), p.Seen)
		return s.ofObjective(n, err)
	})
	return plan, err
}

// checkPlan reports why a plan cannot be added to o. The workflow checks again,
// when it knows what else has happened.
func (s *Server) checkPlan(o *opt.Objective, spec opt.PlanSpec) error {
	switch {
	case closed(o):
		return errObjectiveEnded
	case len(o.Plans) >= opt.MaxPlans:
		return invalid("objectiveId", fmt.Sprintf("has its maxPlansPerObjective of %d plans", opt.MaxPlans))
	}
	_, err := opt.NewPlan(o.ID, len(o.Plans)+1, spec, o.Plans, nil, a2a.At(s.cfg.Now()))
	return err
}

// plan reads a plan that the caller names, within its objective.
func (s *Server) plan(ctx context.Context, c *call, id string) (*opt.Objective, *opt.Plan, error) {
	missing := optNotFound("PLAN_NOT_FOUND", "Plan", id)
	ref, ok := opt.ParseID(id)
	if !ok {
		return nil, nil, missing
	}
	o, err := s.cfg.Journal.Objective(ctx, c.Tenant, ref.ObjectiveID)
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
	c.saw(o.ID, "")
	return o, p, nil
}

// getPlan returns a plan.
func (s *Server) getPlan(ctx context.Context, c *call, p wire.GetPlanParams) (wire.ShownPlan, error) {
	_, plan, err := s.plan(ctx, c, p.ID)
	return wire.ShownPlan{Plan: plan, Tasks: p.Tasks}, err
}

// updatePlan changes a plan. One that failed changes in one way alone: a new
// attempt at it begins.
func (s *Server) updatePlan(ctx context.Context, c *call, p wire.UpdatePlanParams) (wire.ShownPlan, error) {
	again := false
	whole := p.Change
	shown, err := s.changePlan(ctx, c, p.ID, p.Seen, func(ctx context.Context, o *opt.Objective, plan *opt.Plan, seen int64, n int) error {
		if p.Change = whole; whole.Dependencies != nil && plan.DependsOn(whole.Dependencies) {
			p.Change.Dependencies = nil // sent back as it came
		}
		switch {
		case p.Status != "" && !plan.Status.May(p.Status), p.Status != "" && p.Status != plan.Status && closed(o):
			return &opt.MoveError{From: string(plan.Status), To: string(p.Status)}
		case p.Change.Empty() && (p.Status == "" || p.Status == plan.Status && !byHand(plan)):
			return errUnchanged
		case plan.Status.Ended() && (p.Status == "" || p.Status == plan.Status || !p.Change.Empty()):
			return errPlanEnded
		case closed(o):
			return errObjectiveEnded
		case plan.Status.Ended():
			again = true
			return s.planAgain(ctx, c, o, plan, p.Status, seen)
		case p.Change.Dependencies != nil:
			return s.reorder(ctx, o, plan, p, seen, n)
		}
		err := s.cfg.Engine.ChangePlan(ctx, p.ID, &p.Change, p.Status, o.Met(plan), seen)
		if already(err) && p.Change.Empty() {
			return errUnchanged // begun by hand, it cannot be started yet, and works all the same
		}
		return repeated(err, n, seen)
	}, func(o *opt.Objective, plan *opt.Plan) bool {
		beginning := again && p.Status == opt.PlanWorking && plan.Status == opt.PlanPending
		return !beginning && (p.Change.Dependencies == nil || ordered(o, plan))
	})
	if again && err == nil && p.Status == opt.PlanPending && !shown.Status.Ended() {
		shown.Status, shown.Reason = opt.PlanPending, "" // its turn may have come by now
	}
	return shown, err
}

// byHand reports whether p works, and only because a client moves its tasks: then to
// have it work is to start it.
func byHand(p *opt.Plan) bool { return p.Status == opt.PlanWorking && p.Reason == opt.ByHand }

// planAgain begins a new attempt at a plan that failed.
func (s *Server) planAgain(ctx context.Context, c *call, o *opt.Objective, p *opt.Plan, to opt.PlanStatus, seen int64) error {
	if to == opt.PlanWorking && !o.Met(p) {
		return &opt.MoveError{From: string(p.Status), To: string(to)}
	}
	whole, err := s.cfg.Journal.Whole(ctx, c.Tenant, o.ID)
	if err != nil {
		return err
	}
	return unclaimed(early(s.cfg.Engine.AgainPlan(ctx, whole.Plan(p.ID), to, seen)))
}

// reorder has a plan that was not begun depend on others. Its objective, which owns
// the order, makes the change.
func (s *Server) reorder(ctx context.Context, o *opt.Objective, plan *opt.Plan, p wire.UpdatePlanParams, seen int64, n int) error {
	if p.Status != "" && p.Status != plan.Status {
		return invalid("dependencies", "cannot be changed together with the status")
	}
	if _, err := o.Reordered(plan, p.Change.Dependencies); err != nil {
		return err
	}
	return unclaimed(repeated(s.ofObjective(n, s.cfg.Engine.ReorderPlan(ctx, p.ID, &p.Change, seen)), n, seen))
}

// ordered reports whether p shows that it waits for plans that it depends on if it
// does, and not if it does not.
func ordered(o *opt.Objective, p *opt.Plan) bool {
	held := p.Status == opt.PlanBlocked && p.Reason == opt.BlockedByDependencies
	return !slices.Contains(o.Held(), p) && (!held || !o.Met(p))
}

// unclaimed marks an error after which a change, which claims its revision by
// itself, has not been made.
func unclaimed(err error) error {
	if errors.Is(err, errEarly) {
		return fmt.Errorf("%w: %w", errUnclaimed, err)
	}
	return err
}

// errUnclaimed is wrapped by errors of changes that claim a revision when they are
// made, and were not.
var errUnclaimed = errors.New("unclaimed")

// addTasks adds tasks to a plan.
func (s *Server) addTasks(ctx context.Context, c *call, p wire.AddTasksParams) (wire.ShownPlan, error) {
	return s.changePlan(ctx, c, p.ID, p.Seen, func(ctx context.Context, o *opt.Objective, plan *opt.Plan, seen int64, n int) error {
		switch {
		case plan.Status.Ended():
			return errPlanEnded
		case closed(o):
			return errObjectiveEnded
		}
		if _, err := plan.NewTasks(p.Tasks); err != nil {
			return err // the workflow checks again, when it knows what else was added
		}
		return early(s.cfg.Engine.AddTasks(ctx, p.ID, p.Tasks, seen))
	}, nil)
}

// errUnchanged is returned by changes for which there is nothing to do.
var errUnchanged = errors.New("unchanged")

// changePlan has a plan changed and returns it once its objective knows, which
// its revision tells, and enough says that it is as it should be; nil for any way.
func (s *Server) changePlan(ctx context.Context, c *call, id string, seen int64,
	change func(_ context.Context, _ *opt.Objective, _ *opt.Plan, seen int64, n int) error, enough func(*opt.Objective, *opt.Plan) bool,
) (wire.ShownPlan, error) {
	arrived := func(o *opt.Objective, revised bool) bool { return revised && (enough == nil || enough(o, o.Plan(id))) }
	o, err := s.changePart(ctx, c, id, seen, arrived, func(ctx context.Context, seen int64, n int) (*opt.Objective, error) {
		o, p, err := s.plan(ctx, c, id)
		if err == nil {
			err = fresh(o, seen)
		}
		if err == nil {
			err = change(ctx, o, p, seen, n)
		}
		return o, err
	})
	if err != nil {
		return wire.ShownPlan{}, err
	}
	return wire.ShownPlan{Plan: o.Plan(id), Tasks: true}, nil
}

// changePart has a plan or a task of it changed and returns the objective once
// that has followed, of which arrived knows more; it is told whether there is a new
// revision. change returns the objective as it was before.
func (s *Server) changePart(ctx context.Context, c *call, id string, seen int64,
	arrived func(_ *opt.Objective, revised bool) bool, change func(_ context.Context, seen int64, n int) (*opt.Objective, error),
) (*opt.Objective, error) {
	ref, _ := opt.ParseID(id)
	w := s.cfg.Watch(ref.ObjectiveID)
	defer w.Close()
	var before int64
	err := s.changing(ctx, func(ctx context.Context, n int) error {
		o, err := change(ctx, seen, n)
		if o != nil {
			before = o.Revision
		}
		if errors.Is(err, errEarly) && !errors.Is(err, opt.ErrStale) && !errors.Is(err, errUnclaimed) {
			seen = 0 // the objective has taken it, and is at another revision for that
		}
		return err
	})
	wait := s.cfg.ReplyWait
	switch {
	case errors.Is(err, errUnchanged):
		wait = 0
	case err != nil:
		return nil, err
	}
	return s.caughtUp(ctx, c, ref.ObjectiveID, w, wait, func(o *opt.Objective) bool {
		return o.Status.Ended() || arrived(o, o.Revision > before)
	})
}
