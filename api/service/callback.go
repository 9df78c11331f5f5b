package service

import (
	"context"
	"encoding/json"
	"fmt"

	"longhaul/opt"
)

// Limits for callback contents that are stored in the history of a plan. Outcomes may be
// larger: large parts of them are stored outside the history.
const (
	maxChunk    = 64 << 10 // bytes of a piece of an artifact, as JSON
	maxProgress = 4 << 10  // bytes of a text
)

// callbacks is the part of a Service that receives callbacks for plan tasks.
type callbacks struct {
	cfg  Config
	pace *pacer
}

// Flush delivers progress that waits because of its rate. Call it after the last request.
func (s callbacks) Flush() { s.pace.stop() }

// ReceiveCallback delivers a callback to a plan task. An outcome or a piece of an artifact
// is durable once ReceiveCallback returns nil. Progress and wakes that come fast may wait
// in memory, where a later one takes their place. A callback for a round that is over
// changes nothing.
func (s callbacks) ReceiveCallback(ctx context.Context, c *Call, in opt.Callback) error {
	if err := checkCallback(in); err != nil {
		return err
	}
	ref, ok := opt.ParseID(in.TaskID)
	if !ok || ref.PlanID == "" {
		return fmt.Errorf("callback for %q: %w", in.TaskID, opt.ErrUnknown)
	}
	c.setIDs(ref.ObjectiveID, in.TaskID)
	state, _, err := s.cfg.Journal.Peek(ctx, c.Tenant, in.TaskID)
	switch {
	case err != nil:
		return err
	case state.Ended():
		return errEnded
	}
	return s.pace.receive(ctx, in)
}

// checkCallback returns a fault for a callback that a plan cannot store.
func checkCallback(in opt.Callback) error {
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
