package machine

import (
	"slices"

	"longhaul/opt"
)

// A Directive is the state that an objective wants one of its plans to be in. A
// later one has a larger N and says all that the earlier ones did.
type Directive struct {
	N    int64 `json:"n"`
	Echo int64 `json:"echo,omitempty"` // number of the latest directive that the plan confirms in a report even if nothing else has changed

	Start  bool   `json:"start,omitempty"`  // its tasks may run
	Hold   bool   `json:"hold,omitempty"`   // it waits for plans that it depends on, and shows that
	Paused bool   `json:"paused,omitempty"` // its objective is paused: it begins no task
	Stop   string `json:"stop,omitempty"`   // cancel what runs and end: why, in one word

	Shared     bool  `json:"shared,omitempty"`     // others want the context: it begins tasks by permission alone
	Permission int64 `json:"permission,omitempty"` // the latest one; good until the plan yields it

	Leaf    bool   `json:"leaf,omitempty"` // its results are the objective's
	Name    string `json:"name,omitempty"`
	Notes   int    `json:"notes,omitempty"`   // how many clients have said to the root task
	Command string `json:"command,omitempty"` // id of the command to answer
	TellEnd bool   `json:"tellEnd,omitempty"` // report the end by signal: the run that began the plan has gone
}

// assumed returns the status that an objective shows of a plan whose latest
// report is r: that of r, or what follows from d once the plan has acted upon it.
func (d Directive) assumed(r opt.Report) (opt.PlanStatus, string) {
	waits := r.Status == opt.PlanBlocked && r.Reason == opt.BlockedByDependencies
	fresh := r.Status == opt.PlanPending || waits
	switch {
	case r.Status.Ended() || r.Directive >= d.N || d.Stop != "":
		return r.Status, r.Reason
	case d.Start && fresh && d.Paused:
		return opt.PlanBlocked, opt.BlockedByOperator
	case d.Start && fresh:
		return opt.PlanWorking, ""
	case d.Hold && fresh:
		return opt.PlanBlocked, opt.BlockedByDependencies
	case waits && !d.Hold:
		return opt.PlanPending, ""
	case d.Paused && r.Started && r.Status == opt.PlanWorking:
		return opt.PlanBlocked, opt.BlockedByOperator
	case !d.Paused && !r.Paused && r.Status == opt.PlanBlocked && r.Reason == opt.BlockedByOperator:
		return opt.PlanWorking, ""
	}
	return r.Status, r.Reason
}

// sameReport reports whether an objective that knows a would learn nothing from b.
func sameReport(a, b opt.Report) bool {
	return a.Status == b.Status && a.Reason == b.Reason && a.Paused == b.Paused && a.Started == b.Started &&
		a.Waits == b.Waits && a.ByHand == b.ByHand && a.Closing == b.Closing && a.Yielded == b.Yielded && a.Asks == b.Asks &&
		answerID(a) == answerID(b) && slices.EqualFunc(a.Open, b.Open, func(x, y *opt.Gate) bool { return x.ID == y.ID })
}

func answerID(r opt.Report) string {
	if r.Answer == nil {
		return ""
	}
	return r.Answer.CommandID
}
