package workflows_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"longhaul/workflows"
)

// Workflows that older code began continue with this code, so every history in
// testdata must replay. dev/cmd/record records them.
func TestReplay(t *testing.T) {
	entries, err := os.ReadDir("testdata")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, entry := range entries {
		t.Run(entry.Name(), func(t *testing.T) {
			if !strings.HasSuffix(entry.Name(), ".json") {
				t.Fatal("this is no history")
			}
			replayer := worker.NewWorkflowReplayer()
			replayer.RegisterWorkflowWithOptions(workflows.Objective, workflow.RegisterOptions{Name: workflows.ObjectiveWorkflow})
			replayer.RegisterWorkflowWithOptions(workflows.Plan, workflow.RegisterOptions{Name: workflows.PlanWorkflow})
			replayer.RegisterWorkflowWithOptions(workflows.Context, workflow.RegisterOptions{Name: workflows.ContextWorkflow})
			replayer.RegisterWorkflowWithOptions(workflows.Purge, workflow.RegisterOptions{Name: workflows.PurgeWorkflow})
			replayer.RegisterWorkflowWithOptions(workflows.Push, workflow.RegisterOptions{Name: workflows.PushWorkflow})
			replayer.RegisterWorkflowWithOptions(workflows.Scheduled, workflow.RegisterOptions{Name: workflows.ScheduledWorkflow})
			if err := replayer.ReplayWorkflowHistoryFromJSONFile(discard, filepath.Join("testdata", entry.Name())); err != nil {
				t.Error(err)
			}
		})
	}
}
