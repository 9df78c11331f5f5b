package opt

import "longhaul/a2a"

// A Report is what an objective knows of one of its plans.
type Report struct {
	N       int64          `json:"n"` // a later report has a larger number
	Status  PlanStatus     `json:"status"`
	Reason  string         `json:"reason,omitempty"`
	Failure string         `json:"failure,omitempty"` // for clients
	Open    []*Gate        `json:"open,omitempty"`    // gates that are open now
	Waits   TaskState      `json:"waits,omitempty"`   // of a task that waits at no gate, since a client has moved it there; "" if none does
	ByHand  bool           `json:"byHand,omitempty"`  // a client has begun its tasks or ended it, and nobody has started it
	Closing bool           `json:"closing,omitempty"` // a client has ended it, and its tasks have yet to stop
	Results []a2a.Artifact `json:"results,omitempty"` // once it has ended
	Shown   []string       `json:"shown,omitempty"`   // ids of Results that the root task already shows
	Changes int64          `json:"changes,omitempty"` // that clients made to the plan so far
	Rests   bool           `json:"rests,omitempty"`   // nothing of it runs, and nothing will before it is told to go on
	Asks    bool           `json:"asks,omitempty"`    // it could go on, and waits to be told
}

// Brief returns what p tells its objective while it goes on: a report without
// its number.
func (p *Plan) Brief() Report {
	r := Report{Status: p.Status, Reason: p.Reason, Closing: p.Status.Ended() && !p.Settled(), ByHand: !p.Started && (p.begun() || p.Status.Ended())}
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
