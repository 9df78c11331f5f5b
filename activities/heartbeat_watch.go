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

// A HeartbeatReader reads the latest heartbeat of an activity that has not ended.
type HeartbeatReader interface {
	Heartbeat(ctx context.Context, workflowID, activityID string) (Heartbeat, error)
}

// A Heartbeat is the latest one of an activity.
type Heartbeat struct {
	Details    json.RawMessage // nil for none
	WaitsSince time.Time       // for a worker; zero if one has taken it, or it has ended
}

// Watching says which heartbeats WatchHeartbeats reads.
type Watching struct {
	WorkflowID string `json:"workflowId"`
	ActivityID string `json:"activityId"`
	Seen       string `json:"seen,omitempty"`  // digest of the latest one that was seen
	Times      int    `json:"times,omitempty"` // number of beats before this watch
	Once       bool   `json:"once,omitempty"`  // the activity has no heartbeats: wait only until a worker has taken it
}

// How long WatchHeartbeats waits before it reads, since Temporal sends no message about a
// heartbeat: longer and longer, since each result is part of the history of a plan.
const (
	watchFirst  = 2 * time.Second
	watchAtMost = 30 * time.Second
	watchLonger = 10 // times after which it waits twice as long, three times as long, and so on
)

// UntakenFor is how long an activity elsewhere waits for a worker before clients see a
// notice about it. It is no timeout of the activity: that would hold for its repeats too, and
// lose its attempts and heartbeats while its worker is away for a deploy.
const UntakenFor = time.Minute

// watchHeartbeat waits up to [FollowFor] for the next heartbeat of an activity elsewhere.
func watchHeartbeat(ctx context.Context, heartbeats HeartbeatReader, w Watching) (out opt.Beat, err error) {
	until := time.NewTimer(FollowFor)
	defer until.Stop()
	tick := time.NewTicker(min(watchFirst*time.Duration(1+w.Times/watchLonger), watchAtMost))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-until.C:
			return opt.Beat{}, nil
		case <-stopSignal(ctx):
			return opt.Beat{}, errStopped()
		case <-ctx.Done():
			return opt.Beat{}, ctx.Err()
		}
		latest, err := heartbeats.Heartbeat(ctx, w.WorkflowID, w.ActivityID)
		if err != nil {
			return opt.Beat{}, err
		}
		if out, done := w.newHeartbeat(latest, time.Now()); done {
			return out, nil
		}
	}
}

// newHeartbeat returns the heartbeat for clients in latest. done is set if the watch ends: the
// heartbeat is new, or a worker has taken an activity that has no heartbeats.
func (w Watching) newHeartbeat(latest Heartbeat, now time.Time) (out opt.Beat, done bool) {
	switch waits := !latest.WaitsSince.IsZero(); {
	case waits && now.Sub(latest.WaitsSince) >= UntakenFor:
		out = opt.Beat{Untaken: true, Digest: "untaken " + latest.WaitsSince.UTC().Format(time.RFC3339Nano)}
	case waits:
		return out, false
	case w.Once:
		return out, true
	default:
		out = readHeartbeat(latest.Details)
	}
	return out, out.Digest != "" && out.Digest != w.Seen
}

// maxHeartbeat is the maximum size in bytes of heartbeat details that clients see.
const maxHeartbeat = 16 << 10

// readHeartbeat reads the details of a heartbeat that are for clients: a text, or an object
// with the text or the artifact of a callback. Other details are only for the worker.
func readHeartbeat(details json.RawMessage) opt.Beat {
	var said struct {
		Text     string        `json:"text"`
		Artifact *a2a.Artifact `json:"artifact"`
		Append   bool          `json:"append"`
		Last     bool          `json:"lastChunk"`
	}
	details = bytes.TrimSpace(details)
	if len(details) == 0 || len(details) > maxHeartbeat {
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
