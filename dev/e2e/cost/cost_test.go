package cost_test

import (
	"context"
	"slices"
	"testing"

	"longhaul/dev/e2e/cost"
	"longhaul/internal/test"
)

// The cost of one objective of one plan with three tasks that do nothing, and of one with a
// gate or a question that is opened and answered. A quarter of all runs need no more of each: a busy
// machine adds a workflow task to others, where a signal arrives after the step that it could have been part of.
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

// within reports whether no figure of t is above that of most.
func (t total) within(most total) bool {
	return t.requests <= most.requests && t.batches <= most.batches && t.WorkflowTasks <= most.WorkflowTasks && t.Activities <= most.Activities &&
		t.Signals <= most.Signals && t.Visibility <= most.Visibility && t.Actions <= most.Actions
}

func TestCost(t *testing.T) {
	service := test.Value(cost.StartService(t.Context(), t.TempDir(), "full"))(t)
	t.Cleanup(service.Stop)
	bare := test.Value(cost.StartBare(service.TemporalAddr))(t)
	t.Cleanup(bare.Stop)

	test.Is(t, "bare Temporal", bareCost, measure(t, "bare Temporal", &bare.Log, bare.Once))
	for _, part := range []struct {
		name string
		once func(context.Context) error
		most total
	}{
		{"Longhaul", service.Once, longhaulCost},
		{"Longhaul, a gate", service.Gate, gateCost},
		{"Longhaul, a question", service.Question, questionCost},
	} {
		if got := measure(t, part.name, &service.Log, part.once); !got.within(part.most) {
			t.Errorf("%s: %+v, want at most %+v", part.name, got, part.most)
		}
	}
}

// measure returns what a quarter of several runs, after some warm-up runs, does not exceed: each figure of its own.
func measure(t *testing.T, name string, log *cost.Log, once func(context.Context) error) total {
	t.Helper()
	costs, err := log.Runs(t.Context(), 31, once)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	quarter := func(what string, figure func(cost.Cost) int) int {
		var all []int
		for _, c := range costs {
			all = append(all, figure(c))
		}
		t.Logf("%s, %s: %v", name, what, all)
		slices.Sort(all)
		return all[len(all)/4]
	}
	of := func(kind cost.Kind) func(cost.Cost) int {
		return func(c cost.Cost) int { return c.Count(kind) }
	}
	price := func(figure func(cost.Price) int) func(cost.Cost) int {
		return func(c cost.Cost) int { return figure(c.Price()) }
	}
	quarter("heartbeats", of(cost.Heartbeat))
	quarter("reads", of(cost.Read))
	t.Logf("%s, the run with the median number of requests:\n%v", name, cost.Median(costs))
	return total{quarter("requests", of(cost.Request)), quarter("batches", of(cost.Batch)), cost.Price{
		WorkflowTasks: quarter("workflow tasks", price(func(p cost.Price) int { return p.WorkflowTasks })),
		Activities:    quarter("activities", price(func(p cost.Price) int { return p.Activities })),
		Signals:       quarter("signals", price(func(p cost.Price) int { return p.Signals })),
		Visibility:    quarter("visibility", price(func(p cost.Price) int { return p.Visibility })),
		Actions:       quarter("actions", price(func(p cost.Price) int { return p.Actions })),
	}}
}
