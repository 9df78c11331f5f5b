package call

import (
	"fmt"
	"io"
	"strings"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/opt"
)

// Idempotency says which sends are repeats.
type Idempotency string

// The kinds of Idempotency.
const (
	ByMessageID Idempotency = ""       // the same message id, or the same Idempotency-Key header
	ByHeader    Idempotency = "header" // the same Idempotency-Key header
	NoRepeats   Idempotency = "off"    // none: every send starts work
)

// MaxID is the longest id that a request may hold, in bytes.
const MaxID = codec.MaxID

// IsValidID reports whether an id may be looked up: databases handle other ids
// differently.
func IsValidID(id string) bool {
	return len(id) <= MaxID && !strings.ContainsFunc(id, func(c rune) bool { return c < ' ' || c == 0x7f })
}

// IDs makes the ids of new work.
type IDs struct {
	Idempotency Idempotency
	Rand        io.Reader
}

// ReplacingKey returns the key that replaces the id of a message, "" for none.
func (i IDs) ReplacingKey(c *Call) string {
	if i.Idempotency == NoRepeats || c.Key == "" {
		return ""
	}
	return "key:" + c.Key
}

// Objective returns the id of the objective that a message starts. A repeat gets
// the same id; once says that a message with the same id always is a repeat.
func (i IDs) Objective(c *Call, m a2a.Message, once bool) (string, error) {
	key := i.ReplacingKey(c)
	switch {
	case key != "":
		return opt.DerivedObjectiveID(c.Tenant, c.Principal, key), nil
	case i.Idempotency == ByMessageID, once:
		return opt.DerivedObjectiveID(c.Tenant, c.Principal, m.MessageID), nil
	}
	return i.Random()
}

// Letter returns the key by which a repeated message to a task is recognized, ""
// for the id of the message.
func (i IDs) Letter(c *Call) (string, error) {
	key := i.ReplacingKey(c)
	switch {
	case key != "":
		return key, nil
	case i.Idempotency == ByMessageID:
		return "", nil
	}
	return i.Random()
}

// Made returns the id of an objective that no message begins, but a request of a kind: the same for a
// repeat that names the same key.
func (i IDs) Made(c *Call, kind string) (string, error) {
	if c.Key != "" {
		return opt.DerivedObjectiveID(c.Tenant, c.Principal, kind+":"+c.Key), nil
	}
	return i.Random()
}

// Key returns the key of a change: the sender's, else a random one.
func (i IDs) Key(c *Call) (string, error) {
	if c.Key != "" {
		return c.Key, nil
	}
	id, err := i.Random()
	return "req-" + strings.TrimPrefix(id, "obj-"), err
}

// Command returns the id of the n-th command of a change: the same for a repeat
// under the same key.
func (i IDs) Command(c *Call, key string, n int) string {
	id := opt.DerivedObjectiveID(c.Tenant, c.Principal, fmt.Sprintf("command:%d:%s", n, key))
	return "cmd-" + strings.TrimPrefix(id, "obj-")
}

func (i IDs) Random() (string, error) {
	var unique [16]byte
	if _, err := io.ReadFull(i.Rand, unique[:]); err != nil {
		return "", fmt.Errorf("draw an id: %w", err)
	}
	return opt.NewObjectiveID(unique), nil
}
