package workflows

import (
	"cmp"

	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/drive"
)

// ObjectiveInput starts an objective or continues one. One of Opening, Retry and
// State is set.
type ObjectiveInput struct {
	Opening   *opt.Opening            `json:"opening,omitempty"`
	Retry     *RetryInput             `json:"retry,omitempty"`
	State     *machine.ObjectiveState `json:"state,omitempty"`     // from the run before
	MaxEvents int                     `json:"maxEvents,omitempty"` // events of history after which to continue as new; 0: the server decides
	Plain     bool                    `json:"plain,omitempty"`     // the namespace has no search attributes of ours
	IdleFor   int64                   `json:"idleFor,omitempty"`   // seconds after which it is canceled unless it was started; 0 for never
	Rules     int                     `json:"rules,omitempty"`     // version of the rules of a run without State; 0 for the first that has this member
	Lost      bool                    `json:"lost,omitempty"`      // with Retry: the former workflow was ended by an operator, so the objective ends
	Encrypted bool                    `json:"encrypted,omitempty"` // payloads are encrypted, so Temporal's lists show no names
}

// rulesOf returns the version of the rules that an input names.
func rulesOf(n int) int { return cmp.Or(n, 2) }

// RetryInput names an objective that has ended, for a command that may retry it.
type RetryInput struct {
	Tenant      string `json:"tenant"`
	ContextID   string `json:"contextId,omitempty"`
	ObjectiveID string `json:"objectiveId"`
}

// digest returns the digest of the content that the objective was made from, "" for that of a retry, which the
// journal does not return.
func (in ObjectiveInput) digest() string {
	switch {
	case in.Opening != nil:
		return in.Opening.Objective.Digest
	case in.State != nil:
		return in.State.Objective.Digest
	}
	return ""
}

// PlanInput starts a plan or continues one.
type PlanInput struct {
	State     machine.PlanState `json:"state"`
	Going     bool              `json:"going,omitempty"` // State is from the run before
	MaxEvents int               `json:"maxEvents,omitempty"`
	Plain     bool              `json:"plain,omitempty"`

	Tries map[string]drive.Tries `json:"tries,omitempty"` // at activities that wait to begin again, from the run before
}

// PlanResult is the result of a plan's workflow.
type PlanResult struct {
	Report opt.Report  `json:"report"`
	Ride   []opt.Batch `json:"ride,omitempty"` // the last events, to be recorded by the objective
}

// ContextInput starts the queue of a context or continues it.
type ContextInput struct {
	Tenant    string                `json:"tenant"`
	ContextID string                `json:"contextId"`
	MaxEvents int                   `json:"maxEvents,omitempty"`
	Rules     int                   `json:"rules,omitempty"` // as in ObjectiveInput
	State     *machine.ContextState `json:"state,omitempty"` // from the run before
}
