package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"

	"longhaul/opt"
)

// PlanFailed is the type of the error with which the workflow of a failed plan
// ends.
const PlanFailed = "PlanFailed"

// end returns what the workflow of a plan ends with. If the plan failed, or was
// stopped because its objective is canceled, it is an error with the result in its
// details, so that Temporal's lists show the workflow as failed or canceled.
func (r PlanResult) end() (PlanResult, error) {
	switch {
	case r.Report.Status != opt.PlanFailed:
		return r, nil
	case r.Report.Reason == string(opt.ObjectiveCanceled):
		return PlanResult{}, temporal.NewCanceledError(r)
	}
	why := r.Report.Failure
	if why == "" {
		why = "The plan failed: " + r.Report.Reason
	}
	return PlanResult{}, temporal.NewNonRetryableApplicationError(why, PlanFailed, nil, r)
}

// ResultOf returns the result of a plan's workflow that ended with err; ok is false
// if it ended without one: an operator has ended it.
func ResultOf(err error) (r PlanResult, ok bool) {
	var app *temporal.ApplicationError
	var canceled *temporal.CanceledError
	switch {
	case errors.As(err, &app) && app.Type() == PlanFailed:
		ok = app.Details(&r) == nil
	case errors.As(err, &canceled) && canceled.HasDetails():
		ok = canceled.Details(&r) == nil
	}
	return r, ok
}
