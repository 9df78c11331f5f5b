package opt

import (
	"encoding/json"

	"longhaul/a2a"
)

// Work is the input of an executor. It is the input of the Run activity in any
// language, so its JSON is a public contract.
type Work struct {
	Tenant      string `json:"tenant"`
	ContextID   string `json:"contextId"`
	ObjectiveID string `json:"objectiveId"`
	PlanID      string `json:"planId"`
	TaskID      string `json:"taskId"`
	RootID      string `json:"rootId,omitempty"` // the root task, if it shows this task's artifacts as its own

	Objective   string          `json:"objective"` // name, for people and models
	Plan        string          `json:"plan"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Executor    string          `json:"executor,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"` // from the plan, for this executor

	Messages []a2a.Message `json:"messages,omitempty"` // from clients, oldest first; untrusted
	Results  []Result      `json:"results,omitempty"`  // of the tasks before this one
	Replies  []Reply       `json:"replies,omitempty"`  // to the gates this task has opened, oldest first
	Refined  []Reply       `json:"refined,omitempty"`  // that sent back what this task made before, at gates of later tasks, oldest first

	Round   int    `json:"round"`   // 1, and one more after each gate
	Attempt int    `json:"attempt"` // within the round: 1, and one more after each failure
	Key     string `json:"key"`     // idempotency key: the same for every attempt of a round
	Trust   string `json:"contentTrust"`
}

// Untrusted is the trust tag of all content from clients.
const Untrusted = "untrusted"

// A Result holds the artifacts of an earlier task.
type Result struct {
	TaskID    string         `json:"taskId"`
	Name      string         `json:"name"`
	Artifacts []a2a.Artifact `json:"artifacts"`
}

// An Outcome is the result of an executor: the task is completed, failed without
// retry, rejected, or waits at a gate.
type Outcome struct {
	State     TaskState      `json:"state"`
	Artifacts []a2a.Artifact `json:"artifacts,omitempty"` // of a completed task
	Streamed  []string       `json:"streamed,omitempty"`  // ids of artifacts that were already streamed to the journal
	Code      string         `json:"code,omitempty"`      // of the failure or rejection
	Message   string         `json:"message,omitempty"`   // the same as text for clients
	Gate      *Gate          `json:"gate,omitempty"`      // that it waits at; the plan sets its id and times
	Try       int            `json:"try,omitempty"`       // number of the run of the activity that returned it; more than 1 after a lost worker
}
