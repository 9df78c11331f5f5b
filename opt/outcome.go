package opt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

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

// Returns reports why others may not return o, "" if they may: it must end the round, and
// have what they make themselves.
func (o Outcome) Returns() string {
	switch {
	case o.State.Waiting() && o.Gate == nil:
		return "it waits without a gate"
	case !o.State.Ended() && !o.State.Waiting() || o.State == TaskCanceled:
		return "its state must be completed, failed, rejected, input-required or auth-required"
	}
	for _, a := range o.Artifacts {
		if problem := reported(a); problem != "" {
			return problem
		}
	}
	if o.Gate != nil && refers(o.Gate.Object) {
		return "the object of its gate " + forged
	}
	return ""
}

// Reported returns o with the members that others may set, and no more.
func (o Outcome) Reported() Outcome {
	return Outcome{State: o.State, Artifacts: o.Artifacts, Code: o.Code, Message: o.Message, Gate: o.Gate, Usage: o.Usage}
}

// Returns reports why others may not report c, "" if they may.
func (c Chunk) Returns() string { return reported(c.Artifact) }

// maxArtifactID is how many bytes the id of an artifact of others may have.
const maxArtifactID = 128

// forged is what is wrong with parts that refer to stored contents. Only the server makes
// such parts: with one from elsewhere its maker could read what others have stored.
const forged = "has a part with a ref: it must have text, raw, url or data"

// reported returns what is wrong with an artifact of others, "" if nothing is.
func reported(a a2a.Artifact) string {
	switch {
	case a.ArtifactID == "" || len(a.ArtifactID) > maxArtifactID:
		return fmt.Sprintf("the artifactId of an artifact must have 1 to %d characters", maxArtifactID)
	case len(a.Parts) == 0:
		return "an artifact must have parts"
	case refers(a.Parts):
		return "an artifact " + forged
	}
	return ""
}

// refers reports whether one of parts has a reference in place of its content.
func refers(parts []a2a.Part) bool {
	return slices.ContainsFunc(parts, func(p a2a.Part) bool { return p.Ref != nil })
}

func completedWith(p a2a.Part) Outcome {
	return Outcome{State: TaskCompleted, Artifacts: []a2a.Artifact{{ArtifactID: "result", Parts: []a2a.Part{p}}}}
}
