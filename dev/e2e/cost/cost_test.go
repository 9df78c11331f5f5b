package cost_test

import (
	"context"
	"testing"

	"longhaul/dev/e2e/cost"
)

// The cost of one objective of one plan with three tasks that do nothing: the
// median of several on an otherwise idle server.
const (
	bareRequests     = 17
	longhaulRequests = 20
	longhaulBatches  = 7
)

func TestCost(t *testing.T) {
	service, err := cost.StartService(t.Context(), t.TempDir(), "full")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(service.Stop)
	bare, err := cost.StartBare(service.TemporalAddr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bare.Stop)

	if got := measure(t, "bare Temporal", &bare.Log, bare.Once).Count(cost.Request); got != bareRequests {
		t.Errorf("bare Temporal: %d requests, want %d", got, bareRequests)
	}
	got := measure(t, "Longhaul", &service.Log, service.Once)
	if n := got.Count(cost.Request); n > longhaulRequests {
		t.Errorf("Longhaul: %d requests to Temporal, want at most %d", n, longhaulRequests)
	}
	if n := got.Count(cost.Batch); n > longhaulBatches {
		t.Errorf("Longhaul: %d batches to the journal, want at most %d", n, longhaulBatches)
	}
}

// measure returns the median cost of several runs, after some warm-up runs.
func measure(t *testing.T, name string, log *cost.Log, once func(context.Context) error) cost.Cost {
	t.Helper()
	costs, err := log.Runs(t.Context(), 31, once)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var requests, heartbeats, batches []int
	for _, c := range costs {
		requests = append(requests, c.Count(cost.Request))
		heartbeats = append(heartbeats, c.Count(cost.Heartbeat))
		batches = append(batches, c.Count(cost.Batch))
	}
	median := cost.Median(costs)
	t.Logf("%s\nrequests   %v\nheartbeats %v\nbatches    %v\nThe median:\n%v", name, requests, heartbeats, batches, median)
	return median
}
