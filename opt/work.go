package opt

import (
	"encoding/json"

	"longhaul/a2a"
)

// Work is what an executor is asked to do. It is the input of the Run activity,
// in any language, so its JSON is a public contract.
type Work struct {
	Tenant      string `json:"tenant"`
	ContextID   string `json:"contextId"`
	ObjectiveID string `json:"objectiveId"`
	PlanID      string `json:"planId"`
	TaskID      string `json:"taskId"`
	RootID      string `json:"rootId,omitempty"` // the root task, if it shows this task's artifacts as its own

	Objective   string          `json:"objective"` // names, for people and models
	Plan        string          `json:"plan"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Executor    string          `json:"executor,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"` // from the plan, for this executor

	Messages []a2a.Message `json:"messages,omitempty"` // what clients said, oldest first; untrusted
	Results  []Result      `json:"results,omitempty"`  // of the tasks before this one
	Replies  []Reply       `json:"replies,omitempty"`  // to the gates this task has opened, oldest first

	Round   int    `json:"round"`   // 1, and one more after each gate
	Attempt int    `json:"attempt"` // within the round: 1, and one more after each failure
	Key     string `json:"key"`     // idempotency key: the same for every attempt of a round
	Trust   string `json:"contentTrust"`
}

// Untrusted is the trust tag of everything that clients send.
const Untrusted = "untrusted"

// A Result is what an earlier task made.
type Result struct {
	TaskID    string         `json:"taskId"`
	Name      string         `json:"name"`
	Artifacts []a2a.Artifact `json:"artifacts"`
}

// An Outcome is how a task came out: completed, failed for good, rejected, or
// waiting at a gate.
type Outcome struct {
	State     TaskState      `json:"state"`
	Artifacts []a2a.Artifact `json:"artifacts,omitempty"` // of a completed task
	Streamed  []string       `json:"streamed,omitempty"`  // ids of those that the journal has from the stream
	Code      string         `json:"code,omitempty"`      // why it failed or was rejected, in one word
	Message   string         `json:"message,omitempty"`   // the same for clients
	Gate      *Gate          `json:"gate,omitempty"`      // that it waits at; its id and times are the plan's to give
	Try       int            `json:"try,omitempty"`       // which run of the activity came to this; more than 1 after a lost worker
}
