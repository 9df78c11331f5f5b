package opt_test

import (
	"fmt"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
)

// In the rows, "at" is the index of tasks that wait at no gate.
func TestPlan_Brief(t *testing.T) {
	tests := []struct {
		name, tasks string
		at          []int
		set         func(*opt.Plan)
		want        string
	}{
		{"not begun", "pending pending", nil, nil, "pending"},
		{"held", "pending", nil, blocked(opt.BlockedByDependencies), "blocked dependencies"},
		{"begun by hand", "working pending", nil, nil, "working by-hand, by hand"},
		{"a task waits by hand", "input-required pending", []int{0}, nil, "blocked input, input-required, by hand"},
		{"the first that waits by hand", "auth-required input-required working", []int{0, 1}, nil, "working by-hand, auth-required, by hand"},
		{"started", "working pending", nil, started, "working"},
		{"at a gate", "input-required", nil, started, "blocked input, 1 open"},
		{"at a gate, and by hand", "input-required auth-required:2 pending:", []int{1}, started, "working, auth-required, 1 open"},
		{"ended by a client", "completed working", nil, func(p *opt.Plan) { p.Started, p.Status = true, opt.PlanFailed }, "failed, closing"},
		{"completed", "completed", nil, started, "completed"},
		{"paused at a gate", "input-required", nil, func(p *opt.Plan) { started(p); p.Paused = true }, "blocked input, 1 open"},
		{"paused with its objective", "working", nil, func(p *opt.Plan) { started(p); p.ObjectivePaused = true }, "blocked operator"},
		{"in its third attempt", "working", nil, func(p *opt.Plan) { started(p); p.Run = 3 }, "working"},
		{"completed in an earlier attempt", "completed pending", nil, func(p *opt.Plan) { p.Tasks[1].Run = 2 }, "pending"},
	}
	for _, tt := range tests {
		p := planOf(t, tt.tasks)
		for _, i := range tt.at {
			p.Tasks[i].Gate = nil
		}
		if tt.set != nil {
			tt.set(p)
		}
		for range 2 { // with a step on the way
			for _, e := range p.Next(p.UpdatedAt) {
				test.OK(t, p.Apply(e))
			}
		}
		b := p.Brief()
		if b.Started != p.Started || b.Paused != p.Paused || b.Attempt != p.Run {
			t.Errorf("%s: brief says started %v, paused %v, attempt %d", tt.name, b.Started, b.Paused, b.Attempt)
		}
		got := string(b.Status)
		if b.Reason != "" {
			got += " " + b.Reason
		}
		if b.Waits != "" {
			got += ", " + string(b.Waits)
		}
		if len(b.Open) > 0 {
			got += fmt.Sprintf(", %d open", len(b.Open))
		}
		if b.Closing {
			got += ", closing"
		}
		if b.ByHand {
			got += ", by hand"
		}
		test.Is(t, tt.name, tt.want, got)
	}
}

func started(p *opt.Plan) { p.Started, p.Status = true, opt.PlanWorking }
