package receive

import (
	"context"
	"encoding/json"
	"fmt"

	"go.uber.org/zap"

	"longhaul/api/call"
	"longhaul/opt"
)

// Limits for callback contents that are stored in the history of a plan. Outcomes may be
// larger: large parts of them are stored outside the history.
const maxChunk = 64 << 10 // bytes of a piece of an artifact, as JSON

// Callbacks receives callbacks for plan tasks. Its zero value cannot be used.
type Callbacks struct {
	journal statePeeker
	pace    *pacer
}

// New returns what receives callbacks and passes them to deliver.
func New(j statePeeker, deliver func(context.Context, opt.Callback) error, log *zap.Logger) Callbacks {
	return Callbacks{j, newPacer(deliver, log)}
}

// A statePeeker returns the state of a task.
type statePeeker interface {
	Peek(ctx context.Context, tenant, id string) (opt.TaskState, int64, error)
}

// Flush delivers progress that waits because of its rate. Call it after the last request.
func (s Callbacks) Flush() { s.pace.stop() }

// ReceiveCallback delivers a callback to a plan task. An outcome or a piece of an artifact
// is durable once ReceiveCallback returns nil. Progress and wakes that come fast may wait
// in memory, where a later one takes their place. A callback for a round that is over
// changes nothing.
func (s Callbacks) ReceiveCallback(ctx context.Context, c *call.Call, in opt.Callback) error {
	if err := checkCallback(in); err != nil {
		return err
	}
	ref, ok := opt.ParseID(in.TaskID)
	if !ok || ref.PlanID == "" {
		return fmt.Errorf("callback for %q: %w", in.TaskID, opt.ErrUnknown)
	}
	c.SetIDs(ref.ObjectiveID, in.TaskID)
	state, _, err := s.journal.Peek(ctx, c.Tenant, in.TaskID)
	switch {
	case err != nil:
		return err
	case state.Ended():
		return call.ErrEnded
	}
	return s.pace.receive(ctx, in)
}

// checkCallback returns a fault for a callback that a plan cannot store.
func checkCallback(in opt.Callback) error {
	if len(in.Text) > opt.MaxProgress {
		return call.InvalidField("text", fmt.Sprintf("must have at most %d bytes: send more as a piece of an artifact", opt.MaxProgress))
	}
	if in.Chunk != nil {
		if problem := in.Chunk.Returns(); problem != "" {
			return call.InvalidField("artifact", problem)
		}
		whole, err := json.Marshal(in.Chunk.Artifact)
		if err != nil {
			return call.InvalidField("artifact", "cannot be written as JSON: "+err.Error())
		}
		if len(whole) > maxChunk {
			return call.InvalidField("artifact", fmt.Sprintf("must have at most %d bytes as JSON in one piece: send several pieces, or the artifact in the outcome", maxChunk))
		}
	}
	if in.Outcome != nil {
		if problem := in.Outcome.Returns(); problem != "" {
			return call.InvalidField("outcome", problem)
		}
	}
	return nil
}
