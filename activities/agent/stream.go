package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/activities"
)

// streamFor is how long a leg follows the stream of a remote task.
const streamFor = 30 * time.Second

// A relay shows what the agent says and pieces of artifacts while the remote task works. The next
// leg reads the remote task again, so a broken stream loses nothing.
type relay struct {
	agent *Agent
	memo  *memo
	out   activities.Stream
	says  func(a2a.TaskStatus) string // returns the text of a status for clients
	said  bool                        // words of the agent were shown
	base  map[string]a2a.Artifact     // by remote id, as they were before the stream
	shown map[string]bool             // remote ids of artifacts of which a piece was shown in this leg
	bytes int
}

// newRelay returns a relay for the stream of a remote task, which was read before.
func newRelay(of *Agent, m *memo, out activities.Stream, task codec.TaskRead) *relay {
	v := &relay{agent: of, memo: m, out: out, base: map[string]a2a.Artifact{}, shown: map[string]bool{}}
	for _, in := range task.Artifacts {
		v.base[in.ArtifactID] = of.artifact(in)
	}
	return v
}

// words shows what the agent says in a status.
func (v *relay) words(s a2a.TaskStatus) {
	if s.Message != nil && s.Message.Text() != "" {
		v.said = true
		v.out.Progress(v.says(s), 0)
	}
}

// These errors end a stream: the next leg polls the remote task, at once if its status has
// changed. Without errEnough an agent that keeps replacing artifacts could occupy a worker.
var (
	errEnough  = errors.New("the remote task is to be looked at")
	errChanged = errors.New("the status of the remote task has changed")
)

// notShown returns those of the artifacts before the stream of which no piece was shown.
func (v *relay) notShown(artifacts []a2a.Artifact) []a2a.Artifact {
	return slices.DeleteFunc(artifacts, func(a a2a.Artifact) bool {
		for id := range v.shown {
			if v.base[id].ArtifactID == a.ArtifactID {
				return true
			}
		}
		return false
	})
}

// event shows one event of the stream.
func (v *relay) event(ctx context.Context, e codec.EventRead) error {
	switch {
	case e.Artifact != nil:
		return v.piece(ctx, *e.Artifact)
	case e.Task != nil && digest(string(e.Received.Status)) != v.memo.State:
		return v.follow(e.Task.Status)
	case e.Status != nil:
		return v.follow(e.Status.Status)
	}
	return nil
}

// follow shows a status of an agent that works on.
func (v *relay) follow(s a2a.TaskStatus) error {
	if s.State.Terminal() || s.State.Interrupted() {
		return errChanged
	}
	v.words(s)
	return nil
}

// piece shows a piece of an artifact. An artifact that is replaced while it is shown is
// shown again by the next leg.
func (v *relay) piece(ctx context.Context, p a2a.ArtifactUpdate) error {
	id := p.Artifact.ArtifactID
	if v.shown[id] && !p.Append {
		return errEnough
	}
	a := v.agent.artifact(p.Artifact)
	if base, ok := v.base[id]; ok && p.Append && !v.shown[id] {
		a.Parts = a2a.AppendParts(slices.Clone(base.Parts), a.Parts...)
	}
	if len(a.Parts) == 0 {
		return nil
	}
	if v.bytes += len(mustJSON(a)); v.bytes > v.agent.Bytes || len(v.shown) >= v.agent.Artifacts {
		return errEnough
	}
	put := v.out.Chunk
	if !v.shown[id] {
		put = v.out.Replace
	}
	v.shown[id], v.memo.Returned = true, true
	delete(v.memo.Seen, id)
	return put(ctx, a, false)
}

// watch reads the stream of a task until each returns an error, the stream ends or ctx
// is done.
func (r remote) watch(ctx context.Context, id string, each func(context.Context, codec.EventRead) error) error {
	req, err := r.request(ctx, methodWatch, id, map[string]any{"id": id})
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := r.open(ctx, req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";"); res.StatusCode != 200 || !strings.EqualFold(strings.TrimSpace(kind), "text/event-stream") {
		return &callError{kind: refused, text: "The answer is no stream."}
	}
	for events := codec.NewStream(res.Body, MaxAnswer); ; {
		data, err := events.Next()
		if err != nil {
			return nil // how it ended does not matter: the next leg polls the remote task
		}
		event, err := r.read(data)
		if err != nil {
			return err
		}
		if err := each(ctx, event); err != nil {
			return err
		}
	}
}

// read reads one event.
func (r remote) read(data []byte) (codec.EventRead, error) {
	raw := json.RawMessage(r.hide(data))
	if r.at.Binding == jsonRPC {
		var err error
		if raw, err = parseRPC(raw); err != nil {
			return codec.EventRead{}, err
		}
	}
	e, err := codec.Foreign.Event(raw)
	if err != nil {
		return e, errNotA2A
	}
	return e, nil
}
