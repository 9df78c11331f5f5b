package activities

import (
	"context"
	"fmt"
	"slices"

	"longhaul/a2a"
)

// Blobs keeps contents that are too large for histories, for as long as their
// objective is kept. Writing the same blob again changes nothing.
type Blobs interface {
	WriteBlobs(ctx context.Context, objectiveID string, blobs map[string][]byte) error // by their ids
	ReadBlob(ctx context.Context, objectiveID, id string) ([]byte, error)
}

// contents are the large contents of one objective.
type contents struct {
	blobs       Blobs // nil leaves parts as they are
	objectiveID string
}

// detach returns parts with references in place of large contents, which it
// stores as blobs.
func (c contents) detach(ctx context.Context, parts []a2a.Part) ([]a2a.Part, error) {
	if c.blobs == nil {
		return parts, nil
	}
	light, blobs := a2a.Detach(parts)
	if len(blobs) == 0 {
		return light, nil
	}
	if err := c.blobs.WriteBlobs(ctx, c.objectiveID, blobs); err != nil {
		return nil, fmt.Errorf("keep large parts: %w", err)
	}
	return light, nil
}

// attach returns parts with their contents in the place of references.
func (c contents) attach(ctx context.Context, parts []a2a.Part) ([]a2a.Part, error) {
	if c.blobs == nil {
		return parts, nil
	}
	return a2a.Attach(parts, func(id string) ([]byte, error) { return c.blobs.ReadBlob(ctx, c.objectiveID, id) })
}

// detachAll returns artifacts with references in the place of large contents.
func (c contents) detachAll(ctx context.Context, artifacts []a2a.Artifact) ([]a2a.Artifact, error) {
	return convert(artifacts, func(parts []a2a.Part) ([]a2a.Part, error) { return c.detach(ctx, parts) })
}

// attachAll returns artifacts with their contents in the place of references.
func (c contents) attachAll(ctx context.Context, artifacts []a2a.Artifact) ([]a2a.Artifact, error) {
	return convert(artifacts, func(parts []a2a.Part) ([]a2a.Part, error) { return c.attach(ctx, parts) })
}

func convert(artifacts []a2a.Artifact, parts func([]a2a.Part) ([]a2a.Part, error)) ([]a2a.Artifact, error) {
	out := slices.Clone(artifacts)
	var err error
	for i := range out {
		if out[i].Parts, err = parts(out[i].Parts); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// attachWork returns w with all contents in place of references, for executors.
func (c contents) attachWork(ctx context.Context, w Work) (Work, error) {
	var err error
	w.Messages, w.Results, w.Replies = slices.Clone(w.Messages), slices.Clone(w.Results), slices.Clone(w.Replies)
	for i := range w.Replies {
		r := &w.Replies[i]
		if r.Edited, err = c.attach(ctx, r.Edited); err != nil {
			return w, err
		}
		if r.Attached, err = c.attach(ctx, r.Attached); err != nil {
			return w, err
		}
	}
	for i := range w.Messages {
		if w.Messages[i].Parts, err = c.attach(ctx, w.Messages[i].Parts); err != nil {
			return w, err
		}
	}
	for i := range w.Results {
		if w.Results[i].Artifacts, err = c.attachAll(ctx, w.Results[i].Artifacts); err != nil {
			return w, err
		}
	}
	return w, nil
}
