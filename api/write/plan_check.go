package write

import (
	"errors"
	"fmt"
	"strings"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/opt"
)

// PlanRules are the limits of plans that clients and agents give.
type PlanRules struct {
	Limits   opt.Limits
	Executor func(name string) error // returns why tasks may not have an executor, in words for their client
}

// Check reports the mistakes in the first plans of an objective. field is
// their path in the request; it may hold a %d.
func (r PlanRules) Check(field string, specs []opt.PlanSpec) error {
	some := opt.Objective{ID: opt.NewObjectiveID([16]byte{}), Limits: r.Limits} // the id does not matter
	_, err := some.NewPlans(specs, a2a.Time{})
	for i, p := range specs {
		if err == nil {
			err = r.CheckExecutors(strings.ReplaceAll(field, "%d", fmt.Sprint(i)), p.Tasks)
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

// CheckExecutors reports a task that cannot have its executor. A task for people has none. Only
// echo, and none without a default, are refused: which others there are is known to the workers.
// field is the path of the plan.
func (r PlanRules) CheckExecutors(field string, tasks []opt.TaskSpec) error {
	for i, t := range tasks {
		if t.Ask != nil {
			continue
		}
		if err := r.Executor(t.Executor); err != nil {
			f := call.InvalidField(fmt.Sprintf("%stasks[%d]", field, i), err.Error())
			f.Reason = call.ReasonExecutor
			return f
		}
	}
	return nil
}
