package service

import (
	"fmt"
	"io"
	"strings"

	"longhaul/a2a"
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
const MaxID = 256

// isValidID reports whether an id may be looked up: databases handle other ids
// differently.
func isValidID(id string) bool {
	return len(id) <= MaxID && !strings.ContainsFunc(id, func(c rune) bool { return c < ' ' || c == 0x7f })
}

// ids makes the ids of new work.
type ids struct {
	idempotency Idempotency
	rand        io.Reader
}

// replacingKey returns the key that replaces the id of a message, "" for none.
func (i ids) replacingKey(c *Call) string {
	if i.idempotency == NoRepeats || c.Key == "" {
		return ""
	}
	return "key:" + c.Key
}

// objective returns the id of the objective that a message starts. A repeat gets
// the same id; once says that a message with the same id always is a repeat.
func (i ids) objective(c *Call, m a2a.Message, once bool) (string, error) {
	key := i.replacingKey(c)
	switch {
	case key != "":
		return opt.DerivedObjectiveID(c.Tenant, c.Principal, key), nil
	case i.idempotency == ByMessageID, once:
		return opt.DerivedObjectiveID(c.Tenant, c.Principal, m.MessageID), nil
	}
	return i.random()
}

// letter returns the key by which a repeated message to a task is recognized, ""
// for the id of the message.
func (i ids) letter(c *Call) (string, error) {
	key := i.replacingKey(c)
	switch {
	case key != "":
		return key, nil
	case i.idempotency == ByMessageID:
		return "", nil
	}
	return i.random()
}

// created returns the id of an objective that waits to be started: the same for a
// repeat of the request that names the same key.
func (i ids) created(c *Call) (string, error) {
	if c.Key != "" {
		return opt.DerivedObjectiveID(c.Tenant, c.Principal, "create:"+c.Key), nil
	}
	return i.random()
}

// key returns the key of a change: that of the sender, else a random one.
func (i ids) key(c *Call) (string, error) {
	if c.Key != "" {
		return c.Key, nil
	}
	id, err := i.random()
	return "req-" + strings.TrimPrefix(id, "obj-"), err
}

// command returns the id of the n-th command of a change: the same for a repeat
// under the same key.
func (i ids) command(c *Call, key string, n int) string {
	id := opt.DerivedObjectiveID(c.Tenant, c.Principal, fmt.Sprintf("command:%d:%s", n, key))
	return "cmd-" + strings.TrimPrefix(id, "obj-")
}

func (i ids) random() (string, error) {
	var unique [16]byte
	if _, err := io.ReadFull(i.rand, unique[:]); err != nil {
		return "", fmt.Errorf("draw an id: %w", err)
	}
	return opt.NewObjectiveID(unique), nil
}
