package read

import (
	"context"
	"slices"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/opt"
)

// ContentParams name a part of an artifact.
type ContentParams struct {
	TaskID, ArtifactID string
	Part               int // from 0
}

// OutlineTask returns a task without large contents: their parts refer to them. What it
// costs does not depend on the size of the contents.
func (s *Tasks) OutlineTask(ctx context.Context, c *call.Call, p TaskParams) (Task, error) {
	v, err := s.Read.Task(ctx, c, p.ID, opt.TaskWant{History: p.History, Scope: p.Scope, Artifacts: true})
	if err != nil {
		return Task{}, err
	}
	t := ToTask(v)
	t.Metadata = s.Links.in(t.Metadata, v)
	return Task{Task: t}, nil
}

// ReadContent returns a part of an artifact with its content.
func (s *Tasks) ReadContent(ctx context.Context, c *call.Call, p ContentParams) (a2a.Part, error) {
	missing := call.Missing("ARTIFACT_NOT_FOUND", "Artifact", p.ArtifactID)
	v, err := s.Read.Task(ctx, c, p.TaskID, opt.TaskWant{Artifacts: true})
	if err != nil {
		return a2a.Part{}, err
	}
	i := slices.IndexFunc(v.Task.Artifacts, func(a a2a.Artifact) bool { return a.ArtifactID == p.ArtifactID })
	if i < 0 || p.Part < 0 || p.Part >= len(v.Task.Artifacts[i].Parts) {
		return a2a.Part{}, missing
	}
	parts, err := s.Read.Parts(ctx, v.ObjectiveID, v.Task.Artifacts[i].Parts[p.Part:p.Part+1])
	if err != nil {
		return a2a.Part{}, err
	}
	return parts[0], nil
}
