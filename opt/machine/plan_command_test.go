package machine_test

import (
	"testing"

	"longhaul/opt"
	"longhaul/opt/machine"
)

// A change of the order begins a task that became ready, once, and has another one wait. In a plan of an earlier
// version of the rules it is refused.
func TestPlan_order(t *testing.T) {
	order := func(c *checkedPlan, n int64, list ...opt.TaskOrder) {
		cmd := &opt.Command{ID: string(rune('a' + n)), Kind: opt.OrderTasks, Order: list, Principal: "bob"}
		c.do(machine.Directed{Directive: machine.Directive{N: n, Start: true, Command: cmd.ID}, Command: cmd})
		c.do(machine.Begin{})
	}
	running := func(c *checkedPlan) (names string) {
		for _, a := range c.Wants().Activities {
			names += c.State.Plan.Task(a.Of).Name + " "
		}
		return names
	}
	begin := func() *checkedPlan {
		return beginChecked(t, opt.TaskSpec{Name: "A"}, opt.TaskSpec{Name: "B"}, opt.TaskSpec{Name: "C"})
	}
	none := []string{}
	c := begin()
	c.do(machine.Begin{})
	a, b, last := c.State.Plan.Tasks[0].ID, c.State.Plan.Tasks[1].ID, c.State.Plan.Tasks[2].ID
	order(c, 2, opt.TaskOrder{ID: last, Dependencies: none}, opt.TaskOrder{ID: b, Dependencies: []string{last}})
	if got := running(c); got != "A C " || c.State.Answer.Refusal != nil || !c.State.Reordered { // so only people decide from then on
		t.Errorf("%srun: %v; reordered: %v", got, c.State.Answer.Refusal, c.State.Reordered)
	}
	events := c.State.N
	order(c, 3, opt.TaskOrder{ID: b, Dependencies: []string{last}})
	if got := running(c); got != "A C " || c.State.N != events || !c.State.Answer.Unchanged {
		t.Errorf("the same order: %srun, and %d events follow", got, c.State.N-events)
	}
	if order(c, 4, opt.TaskOrder{ID: last, Dependencies: []string{a}}); c.State.Answer.Refusal == nil {
		t.Error("a task that runs has got another order")
	}
	c = begin()
	c.State.Rules = 24
	if order(c, 2, opt.TaskOrder{ID: last, Dependencies: none}); c.State.Answer.Refusal == nil {
		t.Error("it is not refused under earlier rules")
	}
}
