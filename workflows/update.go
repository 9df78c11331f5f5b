package workflows

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/opt"
)

// mayAddPlan refuses plans that cannot be, before anything is written.
func (r *objectiveRun) mayAddPlan(ctx workflow.Context, a AddPlan) error {
	if r.o.Status.Ended() || r.o.Stopping != "" {
		return moveError(string(r.o.Status), "a change")
	}
	if len(r.o.Plans) >= opt.MaxPlans {
		return specError(tooManyPlans())
	}
	_, err := opt.NewPlan(r.o.ID, len(r.o.Plans)+1, a.Spec, r.o.Plans, nil, a2a.At(workflow.Now(ctx)))
	return specError(err)
}

// addPlan adds a plan, and returns it once it is recorded.
func (r *objectiveRun) addPlan(ctx workflow.Context, a AddPlan) (*opt.Plan, error) {
	defer r.nudge()
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	n := len(r.o.Plans)
	if err := r.add(a.Spec, nil); err != nil {
		return nil, specError(err)
	}
	plan := *r.plans[r.o.Plans[n].ID]
	if a.Start {
		r.begin()
	}
	r.rec.flush(ctx)
	return &plan, nil
}

func tooManyPlans() error {
	return &opt.SpecError{Field: "plans", Problem: fmt.Sprintf("an objective has at most %d plans", opt.MaxPlans)}
}

// specError and moveError make errors that cross from a workflow to its caller
// and become what they were again (see refusal).
func specError(err error) error {
	var spec *opt.SpecError
	if !errors.As(err, &spec) {
		return err
	}
	return temporal.NewNonRetryableApplicationError(spec.Error(), specErrorType, nil, spec)
}

func moveError(from, to string) error {
	e := opt.MoveError{From: from, To: to}
	return temporal.NewNonRetryableApplicationError(e.Error(), moveErrorType, nil, e)
}
