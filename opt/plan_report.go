package opt

import "longhaul/a2a"

// A Report is the state of a plan for its objective, never a step. A later report has a
// larger number.
type Report struct {
	N         int64          `json:"n"`
	Attempt   int            `json:"attempt,omitempty"`   // of the plan; a report of an earlier one comes too late
	Directive int64          `json:"directive,omitempty"` // number of the latest directive that the plan has acted upon
	Status    PlanStatus     `json:"status"`
	Reason    string         `json:"reason,omitempty"`
	Failure   string         `json:"failure,omitempty"` // for clients
	Paused    bool           `json:"paused,omitempty"`  // by a client
	Started   bool           `json:"started,omitempty"`
	Open      []*Gate        `json:"open,omitempty"`    // gates that are open now
	Waits     TaskState      `json:"waits,omitempty"`   // state of a task that waits without a gate because a client moved it; "" if there is none
	ByHand    bool           `json:"byHand,omitempty"`  // a client has moved its tasks or ended it, and it was not started
	Closing   bool           `json:"closing,omitempty"` // it has ended, and some of its tasks are still stopping
	Results   []a2a.Artifact `json:"results,omitempty"` // once it has ended
	Shown     []string       `json:"shown,omitempty"`   // ids of Results that the root task already shows
	Yielded   int64          `json:"yielded,omitempty"` // the latest permission to begin tasks that it has yielded
	Asks      bool           `json:"asks,omitempty"`    // it has work to start and waits for permission
	Notes     int            `json:"notes,omitempty"`   // how many notes it has received
	Spent     Usage          `json:"spent,omitzero"`    // by its tasks
	Answer    *CommandAnswer `json:"answer,omitempty"`  // to the latest command it received
}
