package opt

import "longhaul/a2a"

// A Report is the state of a plan for its objective, never a step. A later report has a
// larger number.
type Report struct {
	Epoch     int            `json:"epoch,omitempty"` // of the plan; 0 for the first
	Under     int            `json:"under,omitempty"` // the latest epoch of the objective in which the plan has begun its own; 0 for the first
	N         int64          `json:"n"`
	Attempt   int            `json:"attempt,omitempty"`   // of the plan; a report of an earlier one comes too late
	Directive int64          `json:"directive,omitempty"` // number of the latest directive that the plan has acted upon
	Status    PlanStatus     `json:"status"`
	Reason    string         `json:"reason,omitempty"`
	Failure   string         `json:"failure,omitempty"` // for clients
	Paused    bool           `json:"paused,omitempty"`  // by a client
	Started   bool           `json:"started,omitempty"`
	Open      []*Gate        `json:"open,omitempty"`     // gates that are open now
	Waits     TaskState      `json:"waits,omitempty"`    // state of a task that waits without a gate because a client moved it; "" if there is none
	ByHand    bool           `json:"byHand,omitempty"`   // a client has moved its tasks or ended it, and it was not started
	Closing   bool           `json:"closing,omitempty"`  // it has ended, and some of its tasks are still stopping
	Results   []a2a.Artifact `json:"results,omitempty"`  // once it has ended
	Shown     []string       `json:"shown,omitempty"`    // ids of Results that the root task already shows
	Yielded   int64          `json:"yielded,omitempty"`  // the latest permission to begin tasks that it has yielded
	Asks      bool           `json:"asks,omitempty"`     // it has work to start and waits for permission
	Notes     int            `json:"notes,omitempty"`    // how many notes it has received
	Spent     Usage          `json:"spent,omitzero"`     // by its tasks
	Limited   bool           `json:"limited,omitempty"`  // a budget counts Spent: news of it are reported
	Counted   bool           `json:"counted,omitempty"`  // an executor counts it, with that of all plans
	Short     Usage          `json:"short,omitzero"`     // what its held steps need, while other plans have reserved some of the budget
	Raised    SpendLimit     `json:"raised,omitzero"`    // the limits of the request, as people have raised them at gates of the plan
	Shapers   []string       `json:"shapers,omitempty"`  // principals who shaped the work, as far as the plan knows
	Approved  *Approved      `json:"approved,omitempty"` // by its approvals; nil if none was accepted
	Answer    *CommandAnswer `json:"answer,omitempty"`   // to the latest command it received
}

// Approved says which notes the approvals of a plan have covered.
type Approved struct {
	Notes int      `json:"notes,omitempty"` // how many of those to the root task
	At    a2a.Time `json:"at"`              // when the latest was accepted
}

// After reports whether r is later than an earlier or repeated report.
func (r Report) After(other Report) bool {
	if r.Epoch != other.Epoch {
		return r.Epoch > other.Epoch
	}
	return r.N > other.N
}
