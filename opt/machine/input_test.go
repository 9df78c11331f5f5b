package machine_test

import (
	"errors"
	"testing"

	"longhaul/opt"
	"longhaul/opt/machine"
)

// Signals by hand that can be read and make no sense are refused: a machine would end in a panic.
func TestCheck(t *testing.T) {
	report := func(change func(*opt.Report)) machine.Reported {
		in := machine.Reported{PlanID: plan(1), Report: opt.Report{N: 1, Status: opt.PlanWorking, Waits: opt.TaskInputRequired}}
		change(&in.Report)
		return in
	}
	command := func(kind opt.CommandKind, status opt.PlanStatus) machine.Directed {
		c := &opt.Command{ID: "c", ObjectiveID: objectiveID, PlanID: plan(1), Kind: kind, Status: string(status)}
		return machine.Directed{Directive: machine.Directive{N: 1, Command: c.ID}, Command: c}
	}
	for name, in := range map[string]machine.Input{
		"a report on notes": report(func(r *opt.Report) { r.Notes = 2 }),
		"an update":         command(opt.UpdatePlan, opt.PlanBlocked),
		"another command":   command(opt.AddTasks, ""),
	} {
		if err := machine.Check(in); err != nil {
			t.Errorf("%s is refused: %v", name, err)
		}
	}
	for name, in := range map[string]machine.Input{
		"a report on less than no notes": report(func(r *opt.Report) { r.Notes = -1 }),
		"a wait in no state of a task":   report(func(r *opt.Report) { r.Waits = "blocked" }),
		"a wait in a state without one":  report(func(r *opt.Report) { r.Waits = opt.TaskWorking }),
		"an update to no status":         command(opt.UpdatePlan, ""),
		"a command of no kind":           command("", opt.PlanWorking),
	} {
		if err := machine.Check(in); !errors.Is(err, machine.ErrInput) {
			t.Errorf("%s is taken: %v", name, err)
		}
	}
}
