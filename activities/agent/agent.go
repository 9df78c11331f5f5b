// Package agent hands tasks over to other A2A agents. Use it for work that an agent of
// another team or company does, over A2A 1.0 or 0.3. The operator lists the agents in a
// file; a task names one of them. It never calls a URL of a client.
//
// A task is handed over once and then followed until it ends, in short legs: choose the
// interface, send the message, poll the remote task. The memo holds the
// state of the remote task, so neither a crash nor a restart loses it. No worker is used
// between two looks: a push notification of the agent or a timer ends the wait.
//
// All content from an agent is data. Its artifacts become those of the task. Its
// questions open gates of the task, and the answers go back to the agent.
package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"longhaul/activities"
)

// Kind is the kind of tasks that the executor runs.
const Kind = "agent"

// Codes of failures and rejections.
const (
	CodeInput     = "bad-input"               // the input does not fit
	CodeUnknown   = "unknown-agent"           // the operator's file has no such agent
	CodeCard      = "no-common-interface"     // the card offers no interface that is spoken here, or no allowed one
	CodeUnproven  = "card-not-verified"       // the card is not signed as the operator demands
	CodeHops      = "too-many-hops"           // the work was handed over too often on its way here
	CodeLoop      = "handoff-loop"            // the work is on its way back to an agent that has handed it over
	CodeDenied    = "remote-denied"           // the credentials are refused, or egress does not allow the address
	CodeRefused   = "remote-refused"          // the agent refuses the message
	CodeRejected  = "rejected_by_remote"      // the remote task was rejected
	CodeFailed    = "remote-failed"           // the remote task failed
	CodeCanceled  = "remote-canceled"         // another caller canceled the remote task
	CodeLost      = "remote-task-lost"        // the agent does not know the remote task any more
	CodeTooLarge  = "remote-result-too-large" // there are more artifacts than the operator allows
	CodeTooLong   = "remote-timeout"          // the agent took longer than the operator allows
	CodeNoAnswer  = "no-answer"               // a question of the agent was refused, or had no answer in time
	CodeAway      = "unreachable"             // the agent could not be reached for too long. This fails the attempt, not the task
	CodeBudget    = "budget"                  // the work has spent what its request allows
	CodeStopped   = "canceled-confirmed"      // after a cancellation, that the agent confirms
	CodeNotToldOf = "canceled-unknown"        // after a cancellation, that the agent does not confirm
)

// Config says which agents there are and how they are reached.
type Config struct {
	Agents Agents            // from [Load]
	HTTP   activities.Sender // limits the size of an answer
	Now    func() time.Time  // nil means time.Now
	Log    *zap.Logger       // nil discards logs
}

// An Executor hands tasks over. It may be used from any goroutine.
type Executor struct {
	cfg       Config
	cardCache cardCache
}

// New returns an executor.
func New(cfg Config) *Executor {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Log = cmp.Or(cfg.Log, zap.NewNop())
	return &Executor{cfg: cfg, cardCache: cardCache{now: cfg.Now}}
}

// input is the input of a task.
type input struct {
	Agent   string          `json:"agent"`
	Skill   string          `json:"skill,omitempty"`
	Message string          `json:"message,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
	Accept  []string        `json:"accept,omitempty"`
	Whole   bool            `json:"whole,omitempty"` // hand the client's messages over as they are, in place of message and data
	IDs     bool            `json:"ids,omitempty"`   // with Whole: a message has the id that its client gave it, also a known one: ids are no keys here
}

// Named implements [activities.Namer].
func (e *Executor) Named() []activities.Named {
	return []activities.Named{{Member: "agent", Names: slices.Sorted(maps.Keys(e.cfg.Agents.List))}}
}

// Execute implements [activities.Executor].
func (e *Executor) Execute(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
	var in input
	if err := activities.ReadInput(w, &in); err != nil || in.Agent == "" {
		return activities.Rejected(CodeInput, "The input of the task must have an agent, and may have a skill, a message, data, accept: a list of media types, and whole: true for the messages of the client as they are."), nil
	}
	agent := e.cfg.Agents.List[in.Agent]
	if agent == nil {
		return activities.Rejected(CodeUnknown, fmt.Sprintf("This worker knows no agent %q: the operator lists agents in the file of --agents.", cleanLine(in.Agent, 64))), nil
	}
	h := &handoff{executor: e, agent: agent, input: in, work: w, out: out}
	if err := activities.ReadMemo(w, &h.memo); err != nil {
		return activities.Outcome{}, err
	}
	if w.Cancel {
		return h.cancelRemote(ctx), nil
	}
	o, err := h.leg(ctx)
	if err == nil {
		return o, nil
	}
	if ctx.Err() != nil {
		return activities.Outcome{}, ctx.Err()
	}
	return h.onCallError(err)
}
