package service

import (
	"context"
	"encoding/json"
	"fmt"

	"longhaul/opt"
)

// Limits of what is part of the history of a plan as it was reported; an outcome may be
// larger.
const (
	maxChunk    = 64 << 10 // bytes of a piece of an artifact, as JSON
	maxProgress = 4 << 10  // bytes of a text
)

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
	if len(in.Text) > maxProgress {
		return invalid("text", fmt.Sprintf("must have at most %d bytes: send more as a piece of an artifact", maxProgress))
	}
	if in.Chunk != nil {
		if problem := in.Chunk.Returns(); problem != "" {
			return invalid("artifact", problem)
		}
		whole, err := json.Marshal(in.Chunk.Artifact)
		if err != nil {
			return invalid("artifact", "cannot be written as JSON: "+err.Error())
		}
		if len(whole) > maxChunk {
			return invalid("artifact", fmt.Sprintf("must have at most %d bytes as JSON in one piece: send several pieces, or the artifact in the outcome", maxChunk))
		}
	}
	if in.Outcome != nil {
		if problem := in.Outcome.Returns(); problem != "" {
			return invalid("outcome", problem)
		}
	}
	return nil
}
