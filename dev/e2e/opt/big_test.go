package opt_test

import (
	"fmt"
	"slices"
	"testing"

	"go.temporal.io/api/workflowservice/v1"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// Bounds on the history of one workflow of the largest possible objective. A plan
// of fifty tasks in list order needs some 480 events and 280 kB; from 4,096
// events or 4 MiB on Temporal suggests to continue as new.
const (
	maxEvents = 1_000
	maxBytes  = 1 << 20
)

// big runs the largest possible objective, half of its plans in list order and
// half as graphs.
func big(t *testing.T, s *service) {
	c := s.client(t)
	o := c.create("The largest")
	for n := range defaults.Plans {
		p := harness.NewPlan(fmt.Sprintf("plan %d", n))
		for i := range defaults.Tasks {
			p.Tasks = append(p.Tasks, harness.PlanTask{Name: fmt.Sprintf("say %d.%d", n, i)})
			if n%2 == 1 {
				p.Tasks[i].Dependencies = []string{}
			}
			if n%2 == 1 && i >= 5 {
				p.Tasks[i].Dependencies = []string{fmt.Sprintf("task-%d", i-5), fmt.Sprintf("task-%d", i%5)}
			}
		}
		p.Dependencies = []string{}
		if n > 3 {
			p.Dependencies = []string{o.Plans[n-4].ID}
		}
		o.Plans = append(o.Plans, *c.add(o.ID, p))
	}
	c.move(o.ID, "working")
	f := c.c.Follow(c.ctx, o.ID, harness.Fresh)
	if _, err := f.Wait(c.ctx); err != nil {
		c.Fatal(err)
	}
	o = c.get(o.ID)
	if o.Status != "completed" {
		c.Fatalf("it is %s", shape(o))
	}
	for _, p := range o.Plans {
		if p.Status != "completed" || len(p.Tasks) != defaults.Tasks {
			c.Errorf("plan %s is %s, with %d tasks", p.Name, p.Status, len(p.Tasks))
		}
	}
	c.ran(o, slices.Repeat([]int{1}, defaults.Plans*defaults.Tasks)...)
	c.histories(o)
}

// histories checks how large the histories of an objective's workflows have become.
func (c *client) histories(o *harness.Objective) {
	c.Helper()
	temporal := c.site.Temporal(c)
	defer temporal.Close()
	var most, bytes int64
	for _, id := range append([]string{o.ID}, planIDs(o)...) {
		d := test.Value(temporal.DescribeWorkflowExecution(c.ctx, id, ""))(c)
		info := d.GetWorkflowExecutionInfo()
		most, bytes = max(most, info.GetHistoryLength()), max(bytes, info.GetHistorySizeBytes())
		if info.GetHistoryLength() > maxEvents || info.GetHistorySizeBytes() > maxBytes {
			c.Errorf("the history of %s has %d events, %d bytes", id, info.GetHistoryLength(), info.GetHistorySizeBytes())
		}
	}
	runs, err := temporal.CountWorkflow(c.ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: "LonghaulObjectiveId = '" + o.ID + "'"})
	if err != nil || runs.GetCount() != int64(1+len(o.Plans)) {
		c.Errorf("there were %d runs, want one of each workflow: %v", runs.GetCount(), err)
	}
	c.Logf("The largest history has %d events, the heaviest %d bytes", most, bytes)
}

func planIDs(o *harness.Objective) (ids []string) {
	for _, p := range o.Plans {
		ids = append(ids, p.ID)
	}
	return ids
}
