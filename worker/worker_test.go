package worker_test

import (
	"testing"

	"longhaul/worker"
)

// The number of workflows in memory grows with the bytes that they may take, and there are always some.
func TestLimitMemory(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]int{0: 16, 1 << 20: 16, worker.LeastMemory: 16, 64 << 20: 512, 1 << 30: 8192} {
		if got := worker.WorkflowsIn(bytes); got != want {
			t.Errorf("%d bytes: %d workflows, want %d", bytes, got, want)
		}
	}
}
