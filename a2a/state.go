package a2a

// A TaskState is the state of a task, in the lower-case words of protocol 0.3 and
// the OPT extension.
type TaskState string

// The states of a task.
const (
	Submitted     TaskState = "submitted"
	Working       TaskState = "working"
	InputRequired TaskState = "input-required"
	AuthRequired  TaskState = "auth-required"
	Completed     TaskState = "completed"
	Failed        TaskState = "failed"
	Canceled      TaskState = "canceled"
	Rejected      TaskState = "rejected"
)

// TaskStates lists every state.
var TaskStates = []TaskState{Submitted, Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected}

// Terminal reports whether a task in state s has ended; it never leaves s.
func (s TaskState) Terminal() bool {
	return s == Completed || s == Failed || s == Canceled || s == Rejected
}

// Interrupted reports whether a task in state s waits for input or for
// credentials.
func (s TaskState) Interrupted() bool { return s == InputRequired || s == AuthRequired }

// Valid reports whether s is one of the states.
func (s TaskState) Valid() bool {
	for _, known := range TaskStates {
		if s == known {
			return true
		}
	}
	return false
}
