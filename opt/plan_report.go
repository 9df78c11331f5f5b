package opt

import "longhaul/a2a"

// A Report is what an objective knows of one of its plans: the state of the plan,
// never a step of it. A later report has a larger number.
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
	Waits     TaskState      `json:"waits,omitempty"`   // of a task that waits at no gate, since a client has moved it there; "" if none does
	ByHand    bool           `json:"byHand,omitempty"`  // a client has begun its tasks or ended it, and it was not started
	Closing   bool           `json:"closing,omitempty"` // it was ended, and its tasks have yet to stop
	Results   []a2a.Artifact `json:"results,omitempty"` // once it has ended
	Shown     []string       `json:"shown,omitempty"`   // ids of Results that the root task already shows
	Yielded   int64          `json:"yielded,omitempty"` // the latest permission to begin tasks that it has given up
	Asks      bool           `json:"asks,omitempty"`    // it could go on, and waits for permission
	Notes     int            `json:"notes,omitempty"`   // how many notes it has received
	Answer    *CommandAnswer `json:"answer,omitempty"`  // to the latest command that it was given
}

// Brief returns what p tells its objective by itself: a report without numbers,
// results and answers.
func (p *Plan) Brief() Report {
	r := Report{
		Attempt: p.Run, Status: p.Status, Reason: p.Reason, Paused: p.Paused, Started: p.Started,
		Closing: p.Status.Ended() && !p.Settled(), ByHand: !p.Started && (p.begun() || p.Status.Ended()),
	}
	for _, t := range p.waiting() {
		switch {
		case t.Gate != nil:
			r.Open = append(r.Open, t.Gate)
		case r.Waits == "":
			r.Waits = t.State
		}
	}
	return r
}
