package opt_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

// defaults are the default limits.
var defaults = opt.Limits{}.OrDefault()

// Many clients, and too many, change the same thing at once.
func limits(t *testing.T, s *service) {
	s.each(t, "fifty at once, on five plans", (*client).fiftyOnFive)
	s.each(t, "more at once than a plan takes", (*client).sixtyOnOne)
	s.each(t, "more plans at once than an objective takes", (*client).fifteenPlans)
}

// crowd calls f n times at once and returns the errors, by call.
func crowd(n int, f func(i int) error) []error {
	errs := make([]error, n)
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() { errs[i] = f(i) })
	}
	calls.Wait()
	return errs
}

// addOne adds a task to a plan, once, also where the answer of a busy service is that the call may be
// repeated.
func (c *client) addOne(planID, script string) error {
	once := c.c.With("Idempotency-Key", planID+" "+script)
	return harness.Repeat(c.ctx, func(ctx context.Context) error {
		return once.Call(ctx, "plans/addTasks", params{"id": planID, "tasks": specs(script)}, nil)
	})
}

// allThere checks that a plan has exactly the tasks with these names, in any
// order, and that their indexes are right.
func (c *client) allThere(p harness.ObjectivePlan, want []string) {
	c.Helper()
	var got []string
	ids := map[string]bool{}
	for i, t := range p.Tasks {
		if got = append(got, t.Name); t.Index != i || t.ID != opt.TaskID(p.ID, i) || ids[t.ID] {
			c.Errorf("the task at place %d is %+v", i, t)
		}
		ids[t.ID] = true
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		c.Errorf("the plan has the tasks %q, want %q", got, want)
	}
}

// fiftyOnFive adds tasks to working plans. Every task is added, and every task
// runs.
func (c *client) fiftyOnFive() {
	doors := c.newDoors(5)
	var plans []*harness.Plan
	for _, door := range doors {
		plans = append(plans, harness.NewPlan("p", "await "+door))
	}
	o := c.create("x", plans...)
	for i, p := range o.Plans {
		c.move(p.ID, "working")
		c.await(doors[i])
	}
	for i, err := range crowd(50, func(i int) error { return c.addOne(o.Plans[i%5].ID, fmt.Sprintf("say %d", i)) }) {
		if err != nil {
			c.Errorf("call %d: %v", i, err)
		}
	}
	before := o.Revision()
	o = c.until(o.ID, "the revision tells of 55 changes", func(o *harness.Objective) bool { return o.Revision() == before+55 })
	want := "completed" + strings.Repeat(" completed[completed"+strings.Repeat(" completed", 10)+"]", 5)
	for n, p := range o.Plans {
		names := []string{"await " + doors[n]}
		for i := n; i < 50; i += 5 {
			names = append(names, fmt.Sprintf("say %d", i))
		}
		c.allThere(p, names)
		c.control.Open(doors[n], "say done")
	}
	c.ran(c.becomes(o.ID, want), slices.Repeat([]int{1}, 55)...)
}

// tooMany checks that a call was refused because of a limit, which the error names.
func (c *client) tooMany(err error, field, limit string) {
	c.Helper()
	if harness.Code(err) != -32602 || !slices.Equal(harness.Fields(err), []string{field}) || !strings.Contains(err.Error(), limit) {
		c.Errorf("got %v, want -32602 for %s with the limit of %s", err, field, limit)
	}
}

// sixtyOnOne has ten more concurrent calls than the limit allows.
func (c *client) sixtyOnOne() {
	o := c.create("x", harness.NewPlan("p"))
	var names []string
	for i, err := range crowd(defaults.Tasks+10, func(i int) error { return c.addOne(o.Plans[0].ID, fmt.Sprintf("say %d", i)) }) {
		if err != nil {
			c.tooMany(err, "tasks", "50")
			continue
		}
		names = append(names, fmt.Sprintf("say %d", i))
	}
	test.Is(c, "calls were taken", defaults.Tasks, len(names))
	c.allThere(c.get(o.ID).Plans[0], names)
}

func (c *client) fifteenPlans() {
	o := c.create("x")
	var names, got []string
	errs := crowd(defaults.Plans+5, func(i int) error {
		_, err := c.c.CreatePlan(c.ctx, o.ID, harness.NewPlan(fmt.Sprint(i)))
		return err
	})
	for i, err := range errs {
		if err == nil {
			names = append(names, fmt.Sprint(i))
			continue
		}
		if harness.Code(err) != -32602 || !strings.Contains(err.Error(), "10 plans") {
			c.Errorf("call %d: %v", i, err)
		}
	}
	o = c.get(o.ID)
	for i, p := range o.Plans {
		if got = append(got, p.Name); p.ID != opt.PlanID(o.ID, i+1) {
			c.Errorf("the plan at place %d is %+v", i, p)
		}
	}
	slices.Sort(got)
	slices.Sort(names)
	if len(got) != defaults.Plans || !slices.Equal(got, names) {
		c.Errorf("the plans are %q, and those that were taken %q", got, names)
	}
	c.unchanged(o.ID, func() {
		_, err := c.c.CreatePlan(c.ctx, o.ID, harness.NewPlan("x"))
		c.tooMany(err, "plans", "maxPlansPerObjective")
	})
}
