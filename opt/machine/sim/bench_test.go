package sim_test

import (
	"testing"

	"longhaul/opt/machine/sim"
)

// The cost of a schedule limits how many a test run can play.
func BenchmarkRun(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		sim.Run(sim.Random(uint64(i%500), 90), false)
	}
}
