package workflows_test

import (
	"testing"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"longhaul/opt/machine"
	"longhaul/workflows"
)

// A run with later rules than this program knows is refused, and no other one.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for rules, want := range map[int]int{machine.Rules: 0, machine.Rules + 1: 1} {
		env := new(testsuite.WorkflowTestSuite).NewTestWorkflowEnvironment()
		var refused []string
		env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{workflows.Refusals(func(runID string) { refused = append(refused, runID) })}})
		env.ExecuteWorkflow(workflows.Context, workflows.ContextInput{Tenant: "t", ContextID: "c", Rules: rules})
		if len(refused) != want || want == 1 && refused[0] != "default-test-run-id" {
			t.Errorf("rules %d: refused %q", rules, refused)
		}
		if failed := env.GetWorkflowError() != nil; failed != (want == 1) {
			t.Errorf("rules %d: the run ended with %v", rules, env.GetWorkflowError())
		}
	}
}
