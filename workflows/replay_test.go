package workflows_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"longhaul/internal/test"
	"longhaul/opt/machine"
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
			h := readHistory(t, filepath.Join("testdata", entry.Name()))
			options := worker.ReplayWorkflowHistoryOptions{OriginalExecution: workflow.Execution{RunID: resetTo(h)}}
			test.Error(t, "the call", nil, replayer.ReplayWorkflowHistoryWithOptions(discard, h, options))
		})
	}
}

func readHistory(t *testing.T, path string) *historypb.History {
	t.Helper()
	file := test.Value(os.Open(path))(t)
	defer file.Close()
	h := test.Value(client.HistoryFromJSON(file, client.HistoryJSONOptions{}))(t)
	return h
}

// resetTo returns the id of the run that a history belongs to if that was made by a reset, else "".
func resetTo(h *historypb.History) (runID string) {
	for _, e := range h.Events {
		if failed := e.GetWorkflowTaskFailedEventAttributes(); failed.GetNewRunId() != "" {
			runID = failed.GetNewRunId()
		}
	}
	return runID
}

// A later version of the rules, with a rule that changes the order of work, leaves runs alone that
// began before it: every history replays in a program that has it.
func TestReplay_laterRules(t *testing.T) {
	replace := map[string]string{}
	next := machine.Rules + 1
	loose := fmt.Sprintf("(Loose(m.State.Rules) || m.State.Rules == %d)", next)
	for name, changes := range map[string][]string{
		"objective.go": {fmt.Sprintf("\nconst Rules = %d\n", machine.Rules), fmt.Sprintf("\nconst Rules = %d\n", next), "Loose(m.State.Rules)", loose},
		"plan.go":      {"Loose(m.State.Rules)", loose},
	} {
		path := test.Value(filepath.Abs(filepath.Join("..", "opt", "machine", name)))(t)
		source := test.Value(os.ReadFile(path))(t)
		changed := strings.NewReplacer(changes...).Replace(string(source))
		for i := 1; i < len(changes); i += 2 {
			if !strings.Contains(changed, changes[i]) {
				t.Fatalf("%s has no %q", name, changes[i-1])
			}
		}
		replace[path] = filepath.Join(t.TempDir(), name)
		test.OK(t, os.WriteFile(replace[path], []byte(changed), 0o600))
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	content := test.Value(json.Marshal(map[string]any{"Replace": replace}))(t)
	test.OK(t, os.WriteFile(overlay, content, 0o600))
	out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-overlay", overlay, "-run", "TestReplay$", ".").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
