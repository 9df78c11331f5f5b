package client

import (
	"context"
	"sync"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// answers are the answers of a client that the agent has stored and not judged, as far as
// the client knows. They have the ids of their messages, by gate.
type answers struct {
	mu      sync.Mutex
	pending map[string]string
}

// note remembers the answer m to a gate if t, the task after it, says that it is not judged.
func (a *answers) note(gateID string, m a2a.Message, t *a2a.Task) {
	if gateID == "" {
		gateID = gateOf(t)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !ReplyPending(t.Metadata) {
		delete(a.pending, gateID)
		return
	}
	if a.pending == nil {
		a.pending = map[string]string{}
	}
	a.pending[gateID] = m.MessageID
}

// at returns the id of the message with the pending answer to a gate, "" for none.
func (a *answers) at(gateID string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pending[gateID]
}

// judged forgets the answer in a message.
func (a *answers) judged(gateID, messageID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pending[gateID] == messageID {
		delete(a.pending, gateID)
	}
}

// gateOf returns the id of the gate that t shows, "" for none.
func gateOf(t *a2a.Task) string {
	if g, ok := Gate(t.Metadata); ok {
		return g.ID
	}
	return ""
}

// afterAnswer returns t, or if it waits at a gate to which c has sent an answer that is not
// judged yet, the task once it is judged or the task does not wait there any more. The
// list of decisions has every verdict, whereas a stream says nothing about a refusal.
func (c *Client) afterAnswer(ctx context.Context, t *a2a.Task) (*a2a.Task, error) {
	for attempt := 1; waits(t); attempt++ {
		gateID := gateOf(t)
		messageID := c.answers.at(gateID)
		if messageID == "" {
			return t, nil
		}
		judged, err := c.hasDecision(ctx, gateID, messageID)
		if err != nil {
			return nil, err
		}
		if judged {
			c.answers.judged(gateID, messageID)
		} else {
			select {
			case <-time.After(c.cfg.Backoff(attempt)):
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		if t, err = c.Get(ctx, t.ID, -1); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// hasDecision reports whether an answer to a gate was judged, whatever the verdict.
func (c *Client) hasDecision(ctx context.Context, gateID, messageID string) (bool, error) {
	taskID, _ := opt.TaskOfGate(gateID)
	ref, ok := opt.ParseID(taskID)
	if !ok {
		return true, nil // another agent's, which has no such list
	}
	for o := (DecisionOptions{}); ; {
		page, err := c.Decisions(ctx, ref.ObjectiveID, o)
		if err != nil {
			return false, err
		}
		for _, d := range page.Decisions {
			if d.MessageID == messageID {
				return true, nil
			}
		}
		if o.PageToken = page.NextPageToken; o.PageToken == "" {
			return false, nil
		}
	}
}
