package service

import (
	"context"
	"fmt"

	"longhaul/opt"
)

// maxChunk is how large a piece of an artifact in a callback may be, in bytes. A piece
// is part of the history of its plan; an outcome may be larger.
const maxChunk = 64 << 10

// reports takes what others report on the work on plan tasks.
type reports struct {
	cfg Config
	out writer
}

// ReportWork delivers what others report on a plan task. It is durable once ReportWork
// returns nil. What comes too late for the work that the URL was made for changes
// nothing.
func (s reports) ReportWork(ctx context.Context, c *Call, in opt.Callback) error {
	if err := checkReport(in); err != nil {
		return err
	}
	ref, ok := opt.ParseID(in.TaskID)
	if !ok || ref.PlanID == "" {
		return fmt.Errorf("report on %q: %w", in.TaskID, opt.ErrUnknown)
	}
	c.about(ref.ObjectiveID, in.TaskID)
	state, _, err := s.cfg.Journal.Peek(ctx, c.Tenant, in.TaskID)
	switch {
	case err != nil:
		return err
	case state.Ended():
		return errEnded
	}
	return s.out.report(ctx, in)
}

// checkReport refuses a callback that no plan could take in.
func checkReport(in opt.Callback) error {
	if in.Chunk != nil {
		size := 0
		for _, p := range in.Chunk.Artifact.Parts {
			size += len(p.Raw) + len(p.Data)
			if p.Text != nil {
				size += len(*p.Text)
			}
		}
		switch {
		case in.Chunk.Artifact.ArtifactID == "" || len(in.Chunk.Artifact.ArtifactID) > 128:
			return invalid("artifact.artifactId", "must have 1 to 128 characters")
		case len(in.Chunk.Artifact.Parts) == 0:
			return invalid("artifact.parts", "must not be empty")
		case size > maxChunk:
			return invalid("artifact.parts", fmt.Sprintf("must have at most %d bytes in one piece: send several pieces, or the artifact in the outcome", maxChunk))
		}
	}
	if in.Outcome != nil {
		if problem := in.Outcome.Returns(); problem != "" {
			return invalid("outcome", problem)
		}
	}
	return nil
}
