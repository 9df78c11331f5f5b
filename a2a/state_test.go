package a2a_test

import (
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
		if got := tt.state.Valid(); got != tt.valid {
			t.Errorf("%q.Valid() = %v", tt.state, got)
		}
		if got := tt.state.Terminal(); got != tt.terminal {
			t.Errorf("%q.Terminal() = %v", tt.state, got)
		}
		if got := tt.state.Interrupted(); got != tt.interrupted {
			t.Errorf("%q.Interrupted() = %v", tt.state, got)
		}
		if tt.valid {
			valid++
		}
	}
	test.Is(t, "states", valid, len(a2a.TaskStates))
}
