package worker_test

import (
	"fmt"
	"testing"

	"longhaul/internal/test"
	"longhaul/worker"
)

// The number of workflows in memory grows with the bytes that they may take, and there are always some.
func TestLimitMemory(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]int{0: 16, 1 << 20: 16, worker.LeastMemory: 16, 64 << 20: 512, 1 << 30: 8192} {
		test.Is(t, fmt.Sprintf("%d bytes workflows", bytes), want, worker.WorkflowsIn(bytes))
	}
}
