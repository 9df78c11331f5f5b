package cost_test

import (
	"context"
	"testing"

	"longhaul/dev/e2e/cost"
	"longhaul/internal/test"
)

// The cost of one objective of one plan with three tasks that do nothing, and of one with a
// gate or a question that is opened and answered: the median of several on an otherwise idle server.
var (
	bareCost     = total{requests: 17, Price: cost.Price{WorkflowTasks: 7, Activities: 3, Visibility: 4, Actions: 6}}
	longhaulCost = total{requests: 17, batches: 5, Price: cost.Price{WorkflowTasks: 7, Activities: 3, Visibility: 5, Actions: 7}}
	gateCost     = total{requests: 17, batches: 5, Price: cost.Price{WorkflowTasks: 7, Activities: 1, Signals: 2, Visibility: 6, Actions: 9}}
	questionCost = total{requests: 27, batches: 6, Price: cost.Price{WorkflowTasks: 10, Activities: 5, Signals: 2, Visibility: 6, Actions: 12}}
)

// A total is the cost of an objective in figures.
type total struct {
	requests, batches int
	cost.Price
}

func totalOf(c cost.Cost) total {
	return total{c.Count(cost.Request), c.Count(cost.Batch), c.Price()}
}

// within reports whether no figure of t is above that of most.
func (t total) within(most total) bool {
	return t.requests <= most.requests && t.batches <= most.batches && t.WorkflowTasks <= most.WorkflowTasks && t.Activities <= most.Activities &&
		t.Signals <= most.Signals && t.Visibility <= most.Visibility && t.Actions <= most.Actions
}

func TestCost(t *testing.T) {
	service, err := cost.StartService(t.Context(), t.TempDir(), "full")
	test.OK(t, err)
	t.Cleanup(service.Stop)
	bare, err := cost.StartBare(service.TemporalAddr)
	test.OK(t, err)
	t.Cleanup(bare.Stop)

	test.Is(t, "bare Temporal", bareCost, totalOf(measure(t, "bare Temporal", &bare.Log, bare.Once)))
	for _, part := range []struct {
		name string
		once func(context.Context) error
		most total
	}{
		{"Longhaul", service.Once, longhaulCost},
		{"Longhaul, a gate", service.Gate, gateCost},
		{"Longhaul, a question", service.Question, questionCost},
	} {
		if got := totalOf(measure(t, part.name, &service.Log, part.once)); !got.within(part.most) {
			t.Errorf("%s: %+v, want at most %+v", part.name, got, part.most)
		}
	}
}

// measure returns the median cost of several runs, after some warm-up runs.
func measure(t *testing.T, name string, log *cost.Log, once func(context.Context) error) cost.Cost {
	t.Helper()
	costs, err := log.Runs(t.Context(), 31, once)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var requests, heartbeats, batches, reads []int
	for _, c := range costs {
		requests = append(requests, c.Count(cost.Request))
		heartbeats = append(heartbeats, c.Count(cost.Heartbeat))
		batches = append(batches, c.Count(cost.Batch))
		reads = append(reads, c.Count(cost.Read))
	}
	median := cost.Median(costs)
	t.Logf("%s\nrequests   %v\nheartbeats %v\nbatches    %v\nreads      %v\nThe median: %+v\n%v", name, requests, heartbeats, batches, reads, totalOf(median), median)
	return median
}
