package service

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// CreatePlanParams are the params of plans/create.
type CreatePlanParams struct {
	ObjectiveID string
	Plan        opt.PlanSpec
	Seen        int64 // the revision that the client saw, 0 for any
}

// UpdatePlanParams are the params of plans/update.
type UpdatePlanParams struct {
	ID     string
	Change opt.Change     // Dependencies are ids as they were sent
	Status opt.PlanStatus // "" to stay
	Seen   int64
}

// AddTasksParams are the params of plans/addTasks.
type AddTasksParams struct {
	ID    string // of the plan
	Tasks []opt.TaskSpec
	Seen  int64
}

// CreatePlan adds a plan to an objective. It runs when the objective has been
// started and its turn has come.
func (s *changes) CreatePlan(ctx context.Context, c *Call, p CreatePlanParams) (plan *opt.Plan, err error) {
	err = s.changing(ctx, func(ctx context.Context, n int) error {
		o, err := s.read.objective(ctx, c, p.ObjectiveID)
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
func (s *changes) checkPlan(o *opt.Objective, spec opt.PlanSpec) error {
	switch {
	case closed(o):
		return errObjectiveEnded
	case len(o.Plans) >= opt.MaxPlans:
		return invalid("objectiveId", fmt.Sprintf("has its maxPlansPerObjective of %d plans", opt.MaxPlans))
	}
	_, err := opt.NewPlan(o.ID, len(o.Plans)+1, spec, o.Plans, nil, a2a.At(s.cfg.Now()))
	return err
}

// UpdatePlan changes a plan. One that failed changes in one way alone: a new
// attempt at it begins.
func (s *changes) UpdatePlan(ctx context.Context, c *Call, p UpdatePlanParams) (ShownPlan, error) {
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
func (s *changes) planAgain(ctx context.Context, c *Call, o *opt.Objective, p *opt.Plan, to opt.PlanStatus, seen int64) error {
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
func (s *changes) reorder(ctx context.Context, o *opt.Objective, plan *opt.Plan, p UpdatePlanParams, seen int64, n int) error {
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

// AddTasks adds tasks to a plan.
func (s *changes) AddTasks(ctx context.Context, c *Call, p AddTasksParams) (ShownPlan, error) {
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
func (s *changes) changePlan(ctx context.Context, c *Call, id string, seen int64,
	change func(_ context.Context, _ *opt.Objective, _ *opt.Plan, seen int64, n int) error, enough func(*opt.Objective, *opt.Plan) bool,
) (ShownPlan, error) {
	arrived := func(o *opt.Objective, revised bool) bool { return revised && (enough == nil || enough(o, o.Plan(id))) }
	o, err := s.changePart(ctx, c, id, seen, arrived, func(ctx context.Context, seen int64, n int) (*opt.Objective, error) {
		o, p, err := s.read.plan(ctx, c, id)
		if err == nil {
			err = fresh(o, seen)
		}
		if err == nil {
			err = change(ctx, o, p, seen, n)
		}
		return o, err
	})
	if err != nil {
		return ShownPlan{}, err
	}
	return ShownPlan{Plan: o.Plan(id), Tasks: true}, nil
}

// changePart has a plan or a task of it changed and returns the objective once
// that has followed, of which arrived knows more; it is told whether there is a new
// revision. change returns the objective as it was before.
func (s *changes) changePart(ctx context.Context, c *Call, id string, seen int64,
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
