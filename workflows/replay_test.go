package workflows_test

import (
	"path/filepath"
	"testing"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"longhaul/workflows"
)

// Work that began with older code goes on with this code, so every history ever
// recorded must replay. dev/record records them.
func TestReplay(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no histories in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			replayer := worker.NewWorkflowReplayer()
			replayer.RegisterWorkflowWithOptions(workflows.Objective, workflow.RegisterOptions{Name: workflows.ObjectiveWorkflow})
			replayer.RegisterWorkflowWithOptions(workflows.Plan, workflow.RegisterOptions{Name: workflows.PlanWorkflow})
			replayer.RegisterWorkflowWithOptions(workflows.Context, workflow.RegisterOptions{Name: workflows.ContextWorkflow})
			replayer.RegisterWorkflowWithOptions(workflows.Purge, workflow.RegisterOptions{Name: workflows.PurgeWorkflow})
			if err := replayer.ReplayWorkflowHistoryFromJSONFile(discard, file); err != nil {
				t.Error(err)
			}
		})
	}
}
