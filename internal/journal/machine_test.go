package journal_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine/sim"
)

// notCompared are members that only the machines use, or that the simulation's journal does not
// keep, and numbers and epochs, which it has of all objectives.
var notCompared = cmp.Options{
	cmpopts.IgnoreFields(opt.Kept{}, "Recorded", "Epochs"),
	cmpopts.IgnoreFields(opt.Objective{}, "Planning", "Cause", "UpdatedAt", "RootGate", "Rewound", "Used"),
	cmpopts.IgnoreFields(opt.Plan{}, "Report", "Kept", "ObjectivePaused", "UpdatedAt", "Used"),
	cmpopts.IgnoreFields(opt.Task{}, "Gates", "Replies", "ByHand", "Failure", "Used", "Said", "Percent"),
	cmpopts.EquateEmpty(),
}

// TestMachines records what the machines record in random schedules of the simulation. The rows
// must be equal to those of its journal, which it compares with the states of the machines:
// clients see the rows, and workflows use the states.
func TestMachines(t *testing.T) {
	t.Parallel()
	happened := map[opt.EventKind]int{}
	const first = 192 // these schedules have rare events, such as attempts that fail
	for i := range uint64(24) {
		seed := first + i
		j, n := openFile(t, ""), 0
		result := sim.RunMirrored(sim.Random(seed, 240), func(b opt.Batch, kept func() (opt.Kept, bool)) {
			if t.Failed() {
				return
			}
			for _, e := range b.Events {
				happened[e.Kind]++
			}
			if err := j.Record(t.Context(), b); err != nil {
				t.Errorf("seed %d: event %d of %s: %v", seed, b.Events[0].N, b.Source, err)
				return
			}
			want, whole := kept()
			if n++; n%6 != 0 || !whole {
				return
			}
			got := test.Value(j.Kept(t.Context(), want.Objective.Tenant, b.ObjectiveID))(t)
			test.Equal(t, fmt.Sprintf("seed %d after %d events", seed, n), want, got, notCompared)
			for source, n := range got.Recorded {
				if n != want.Recorded[source] {
					t.Errorf("seed %d: %d events of %s are known, want %d", seed, n, source, want.Recorded[source])
				}
			}
		})
		test.Is(t, fmt.Sprintf("seed %d", seed), "", result.Problem)
	}
	for _, kind := range []opt.EventKind{
		opt.ObjectivePaused, opt.ObjectiveResumed, opt.ObjectiveRetried, opt.ObjectiveQueued, opt.PlanChanged, opt.PlanRetried, opt.PlanPaused, opt.PlanResumed,
		opt.PlanStopping, opt.TasksAdded, opt.TasksOrdered, opt.TaskLinked, opt.TaskTried, opt.UsageAdded, opt.ArtifactAdded, opt.CommandAnswered, opt.SourceRewound,
	} {
		if happened[kind] == 0 {
			t.Errorf("no %s has happened", kind)
		}
	}
}
