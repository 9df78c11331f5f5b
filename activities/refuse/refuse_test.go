package refuse_test

import (
	"fmt"
	"testing"

	"longhaul/activities"
	"longhaul/activities/refuse"
	"longhaul/internal/test"
	"longhaul/opt"
)

// The suite for executors does not fit: this one completes nothing. This test checks
// the rest of the contract.
func TestExecutor(t *testing.T) {
	for description, want := range map[string]string{"": "No skill takes this request.", "There is no tea.": "There is no tea."} {
		for range 2 { // a second run does the same
			got := test.Value(refuse.Executor{}.Execute(t.Context(), activities.Work{Name: "Find a skill", Description: description}, nil))(t)
			test.Equal(t, fmt.Sprintf("%q: outcome", description), activities.Outcome{State: opt.TaskRejected, Code: "no-skill", Message: want}, got)
		}
	}
}
