package client

import (
	"sync"

	"longhaul/a2a"
)

// answers holds the ids of a client's messages with answers that the agent has stored and not
// judged, by gate, as far as the client knows.
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

// pendingMessage returns the id of the message with the pending answer to a gate, "" for none.
func (a *answers) pendingMessage(gateID string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pending[gateID]
}

// forget removes the pending answer with the id of a message.
func (a *answers) forget(gateID, messageID string) {
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
