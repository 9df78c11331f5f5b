package opt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"longhaul/a2a"
)

// ReadOutcome reads the result of a worker or web service. An object with a state is an
// [Outcome]; any other result completes the task, as a text or as data.
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

// Returns reports why a callback, worker or web service may not return o, "" if it may: o
// must end the round, and must not refer to stored contents.
func (o Outcome) Returns() string {
	switch {
	case o.State.Waiting() && o.Gate == nil:
		return "it waits without a gate"
	case !o.State.Ended() && !o.State.Waiting() || o.State == TaskCanceled:
		return "its state must be completed, failed, rejected, input-required or auth-required"
	case o.Usage != nil && !o.Usage.Plausible():
		return "a number of its usage is below 0 or too large"
	}
	for _, a := range o.Artifacts {
		if problem := artifactProblem(a); problem != "" {
			return problem
		}
	}
	if o.Gate != nil && refers(o.Gate.Object) {
		return "the object of its gate " + forged
	}
	return ""
}

// Allowed returns o with only the members that callbacks, workers and web services may
// set.
func (o Outcome) Allowed() Outcome {
	return Outcome{State: o.State, Artifacts: o.Artifacts, Code: o.Code, Message: o.Message, Gate: o.Gate, Usage: o.Usage}
}

// Returns reports why a callback or a heartbeat may not have c, "" if it may.
func (c Chunk) Returns() string { return artifactProblem(c.Artifact) }

// maxArtifactID is the maximum length of the id of such an artifact, in bytes.
const maxArtifactID = 128

// forged is the problem of a part that refers to stored contents. Only the server makes
// such parts: an accepted reference would let its sender read contents of other tasks.
const forged = "has a part with a ref: it must have text, raw, url or data"

// artifactProblem returns the problem of an artifact from outside the server, "" if there
// is none.
func artifactProblem(a a2a.Artifact) string {
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
