package a2a_test

import (
	"fmt"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
)

func TestTaskState(t *testing.T) {
	tests := []struct {
		state                        a2a.TaskState
		valid, terminal, interrupted bool
	}{
		{"submitted", true, false, false},
		{"working", true, false, false},
		{"input-required", true, false, true},
		{"auth-required", true, false, true},
		{"completed", true, true, false},
		{"failed", true, true, false},
		{"canceled", true, true, false},
		{"rejected", true, true, false},
		{"pending", false, false, false}, // a plan task's, never a task's
		{"queued", false, false, false},
		{"cancelled", false, false, false},
		{"Working", false, false, false},
		{"", false, false, false},
	}
	valid := 0
	for _, tt := range tests {
		test.Is(t, fmt.Sprintf("%q.Valid()", tt.state), tt.valid, tt.state.Valid())
		test.Is(t, fmt.Sprintf("%q.Terminal()", tt.state), tt.terminal, tt.state.Terminal())
		test.Is(t, fmt.Sprintf("%q.Interrupted()", tt.state), tt.interrupted, tt.state.Interrupted())
		if tt.valid {
			valid++
		}
	}
	test.Is(t, "states", valid, len(a2a.TaskStates))
}
