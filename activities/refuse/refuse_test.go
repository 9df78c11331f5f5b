package refuse_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/activities"
	"longhaul/activities/refuse"
	"longhaul/opt"
)

// The suite for executors does not fit: this one completes nothing. This test checks
// the rest of the contract.
func TestExecutor(t *testing.T) {
	for description, want := range map[string]string{"": "No skill takes this request.", "There is no tea.": "There is no tea."} {
		for range 2 { // a second run does the same
			got, err := refuse.Executor{}.Execute(t.Context(), activities.Work{Name: "Find a skill", Description: description}, nil)
			if diff := cmp.Diff(activities.Outcome{State: opt.TaskRejected, Code: "no-skill", Message: want}, got); err != nil || diff != "" {
				t.Errorf("%q: error %v, outcome mismatch (-want +got):\n%s", description, err, diff)
			}
		}
	}
}
