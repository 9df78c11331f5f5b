package activities

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// A HeartbeatReader reads the details of the latest heartbeat of an activity, nil if it
// does not run or has none.
type HeartbeatReader interface {
	Heartbeat(ctx context.Context, workflowID, activityID string) (json.RawMessage, error)
}

// Watching says which heartbeats WatchHeartbeats reads.
type Watching struct {
	WorkflowID string `json:"workflowId"`
	ActivityID string `json:"activityId"`
	Seen       string `json:"seen,omitempty"`  // digest of the latest one that was seen
	Times      int    `json:"times,omitempty"` // how often it was done before
}

// How long WatchHeartbeats waits before it reads: longer and longer, since each result
// is part of the history of a plan.
const (
	watchFirst  = 2 * time.Second
	watchAtMost = 30 * time.Second
	watchLonger = 10 // times after which it waits twice as long, three times as long, and so on
)

// watch waits up to [FollowFor] for a heartbeat of an activity elsewhere that has news.
func watch(ctx context.Context, heartbeats HeartbeatReader, w Watching) (out opt.Beat, err error) {
	until := time.NewTimer(FollowFor)
	defer until.Stop()
	tick := time.NewTicker(min(watchFirst*time.Duration(1+w.Times/watchLonger), watchAtMost))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-until.C:
			return opt.Beat{}, nil
		case <-stops(ctx):
			return opt.Beat{}, errStopped()
		case <-ctx.Done():
			return opt.Beat{}, ctx.Err()
		}
		details, err := heartbeats.Heartbeat(ctx, w.WorkflowID, w.ActivityID)
		if err != nil {
			return opt.Beat{}, err
		}
		if out = readBeat(details); out.Digest != "" && out.Digest != w.Seen {
			return out, nil
		}
	}
}

// maxBeat is how large the details of a heartbeat may be that clients see, in bytes.
const maxBeat = 16 << 10

// readBeat reads what the details of a heartbeat say to clients: a text, or an object
// with a text or a piece of an artifact, as a callback has it. Other details are for
// the worker alone.
func readBeat(details json.RawMessage) opt.Beat {
	var said struct {
		Text     string        `json:"text"`
		Artifact *a2a.Artifact `json:"artifact"`
		Append   bool          `json:"append"`
		Last     bool          `json:"lastChunk"`
	}
	details = bytes.TrimSpace(details)
	if len(details) == 0 || len(details) > maxBeat {
		return opt.Beat{}
	}
	if json.Unmarshal(details, &said.Text) != nil && (details[0] != '{' || json.Unmarshal(details, &said) != nil) {
		return opt.Beat{}
	}
	out := opt.Beat{Text: said.Text}
	if said.Artifact != nil {
		if chunk := (opt.Chunk{Artifact: *said.Artifact, Append: said.Append, Last: said.Last}); chunk.Returns() == "" {
			out.Chunk = &chunk
		}
	}
	if out.Text != "" || out.Chunk != nil {
		sum := sha256.Sum256(details)
		out.Digest = hex.EncodeToString(sum[:8])
	}
	return out
}
