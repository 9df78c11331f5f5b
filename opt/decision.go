package opt

import "longhaul/a2a"

// A Decision is the record of one reply to a gate, accepted or refused, or of a gate
// that expired. The decisions of a plan form
// a chain: each has the hash of the one before it, so none can be changed, removed
// or added later without changing all hashes after it.
type Decision struct {
	N           int64    `json:"n"` // 1, 2, 3 … in the chain
	ObjectiveID string   `json:"objectiveId"`
	PlanID      string   `json:"planId"`
	TaskID      string   `json:"taskId"` // of the A2A task that waits
	GateID      string   `json:"interruptId"`
	Kind        GateKind `json:"kind,omitempty"`
	Action      Action   `json:"action,omitempty"` // of an approval
	Verdict     Verdict  `json:"verdict"`
	DecidedBy   string   `json:"decidedBy"`
	Groups      []string `json:"groups,omitempty"` // of DecidedBy, that may decide
	DecidedAt   a2a.Time `json:"decidedAt"`
	MessageID   string   `json:"messageId,omitempty"`

	ObjectDigest string `json:"objectDigest,omitempty"` // of what the gate showed
	ReplyDigest  string `json:"replyDigest,omitempty"`  // of the reply's content, as it was received

	Previous string `json:"previous"` // the Hash before it; "" for the first
	Hash     string `json:"hash"`
}
