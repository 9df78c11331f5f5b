package machine

import (
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Directive is the state that an objective wants one of its plans to be in. A
// later one has a larger N and replaces the earlier ones.
type Directive struct {
	N    int64 `json:"n"`
	Echo int64 `json:"echo,omitempty"` // number of the latest directive that the plan confirms in a report even if nothing else has changed

	Start  bool   `json:"start,omitempty"`  // its tasks may run
	Hold   bool   `json:"hold,omitempty"`   // it is blocked on plans that it depends on
	Paused bool   `json:"paused,omitempty"` // its objective is paused: it begins no task
	Stop   string `json:"stop,omitempty"`   // the reason to cancel running tasks and end

	Shared     bool  `json:"shared,omitempty"`     // others use the context: it begins tasks only with permission
	Permission int64 `json:"permission,omitempty"` // the latest one; valid until the plan yields it
	PlanEpoch  int   `json:"planEpoch,omitempty"`  // of the plan, as it has reported: in a later one it has no permission, also where others do not use the context

	Leaf      bool   `json:"leaf,omitempty"` // its results are also the objective's
	Name      string `json:"name,omitempty"`
	Notes     int    `json:"notes,omitempty"`   // number of messages of clients to the root task
	Covered   int    `json:"covered,omitempty"` // one more than how many of them an approval in a plan before has covered; 0 if there was none
	Shapers   int    `json:"shapers,omitempty"` // number of principals who shaped the work, beside the one who asked for it
	Command   string `json:"command,omitempty"` // id of the command to answer
	ReportEnd bool   `json:"tellEnd,omitempty"` // report the end by signal: the run that began the plan has ended

	Imprint  string         `json:"imprint,omitempty"` // of the plan that a rewound objective takes over: another one ends
	Run      int            `json:"run,omitempty"`     // of the plan that a rewound objective takes over: the attempt that it means
	Epoch    int            `json:"epoch,omitempty"`   // of the objective: the plan begins an epoch, too, when it rises
	Spent    opt.Usage      `json:"spent,omitzero"`    // by the other plans when this one was started; where a budget counts it, by all other work so far
	Raised   opt.SpendLimit `json:"raised,omitzero"`   // the limits of the request, by people
	Reserved opt.Usage      `json:"reserved,omitzero"` // of the budget, for other plans at the same time
	Wait     bool           `json:"wait,omitempty"`    // another plan may ask for a raise of the budget: this one reports that it is short of it
	Since    int64          `json:"since,omitempty"`   // when the objective has begun, in ms, where a budget counts it
	Text     string         `json:"text,omitempty"`    // the reason of the client for Stop, for people
	Over     bool           `json:"over,omitempty"`    // its end before a reset stands: the objective directs it no more, and it ends where it would wait for that
}

// assumed returns the status that an objective shows for a plan whose latest
// report is r: as in r, or the status that the plan will have after acting on
// d.
func (d Directive) assumed(r opt.Report) (opt.PlanStatus, string) {
	waits := r.Status == opt.PlanBlocked && r.Reason == opt.BlockedByDependencies
	fresh := r.Status == opt.PlanPending || waits
	switch {
	case r.Status.Ended() || r.Directive >= d.N || d.Stop != "":
		return r.Status, r.Reason
	case fresh && d.Start:
		return d.assumedStart()
	case fresh && d.Hold:
		return opt.PlanBlocked, opt.BlockedByDependencies
	case waits:
		return opt.PlanPending, ""
	case d.Paused && r.Started && r.Status == opt.PlanWorking:
		return opt.PlanBlocked, opt.BlockedByOperator
	case !d.Paused && !r.Paused && r.Status == opt.PlanBlocked && r.Reason == opt.BlockedByOperator:
		return opt.PlanWorking, ""
	}
	return r.Status, r.Reason
}

// assumedStart is assumed for a plan that d starts.
func (d Directive) assumedStart() (opt.PlanStatus, string) {
	if d.Paused {
		return opt.PlanBlocked, opt.BlockedByOperator
	}
	return opt.PlanWorking, ""
}

// sameReport reports whether b has no news for an objective that knows a.
func sameReport(a, b opt.Report) bool {
	return a.Status == b.Status && a.Reason == b.Reason && a.Paused == b.Paused && a.Started == b.Started &&
		a.Waits == b.Waits && a.ByHand == b.ByHand && a.Closing == b.Closing && a.Yielded == b.Yielded && a.Asks == b.Asks &&
		answerID(a) == answerID(b) && sameUse(a, b) && !slices.ContainsFunc(b.Shapers, func(p string) bool { return !slices.Contains(a.Shapers, p) }) && slices.EqualFunc(a.Open, b.Open, func(x, y *opt.Gate) bool { return x.ID == y.ID })
}

// sameUse is sameReport for the budget.
func sameUse(a, b opt.Report) bool {
	return a.Raised == b.Raised && a.Short == b.Short && (!b.Limited || a.Spent == b.Spent)
}

func answerID(r opt.Report) string {
	if r.Answer == nil {
		return ""
	}
	return r.Answer.CommandID
}

// above returns a number above n, and above all those that were used before now.
func above(n int64, now a2a.Time) int64 { return max(n+1, now.Millis()) }
