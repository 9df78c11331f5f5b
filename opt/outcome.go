package opt

import (
	"bytes"
	"encoding/json"

	"longhaul/a2a"
)

// ReadOutcome reads what others return for a task. An object with a state is an
// [Outcome]; anything else is the result of a completed task: a text, or data.
func ReadOutcome(result json.RawMessage) Outcome {
	result = bytes.TrimSpace(result)
	var out Outcome
	var text string
	switch {
	case len(result) == 0 || bytes.Equal(result, []byte("null")):
		return Outcome{State: TaskCompleted}
	case json.Unmarshal(result, &text) == nil:
		return completedWith(a2a.TextPart(text))
	case result[0] != '{':
		return completedWith(a2a.DataPart(result))
	}
	if err := json.Unmarshal(result, &out); err != nil {
		return Outcome{State: TaskFailed, Code: "invalid-outcome", Message: "The result of the task is not an outcome: " + err.Error() + "."}
	}
	if out.State == "" {
		return completedWith(a2a.DataPart(result))
	}
	return out
}

// Returns reports why others may not return o, "" if they may: it must end the round.
func (o Outcome) Returns() string {
	switch {
	case o.State.Waiting() && o.Gate == nil:
		return "it waits without a gate"
	case !o.State.Ended() && !o.State.Waiting() || o.State == TaskCanceled:
		return "its state must be completed, failed, rejected, input-required or auth-required"
	}
	return ""
}

func completedWith(p a2a.Part) Outcome {
	return Outcome{State: TaskCompleted, Artifacts: []a2a.Artifact{{ArtifactID: "result", Parts: []a2a.Part{p}}}}
}
