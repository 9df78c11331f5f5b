package machine

import (
	"fmt"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Link is the state of the workflow of one of the plans of an objective, in
// addition to the plan's latest report.
type Link struct {
	PlanID    string    `json:"planId"`
	Start     *opt.Plan `json:"start,omitempty"` // with its tasks, until the workflow has begun
	After     int64     `json:"after,omitempty"` // event with which the plan was added
	Try       int       `json:"try,omitempty"`   // to begin the workflow
	RetryAt   a2a.Time  `json:"retryAt,omitzero"`
	Begun     bool      `json:"begun,omitempty"`
	Own       bool      `json:"own,omitempty"` // this run began it, and gets its result
	Directive Directive `json:"directive"`
	Changed   int64     `json:"changed,omitempty"` // event with which Directive took its value
	Delivered int64     `json:"told,omitempty"`    // number of the latest delivered directive
	First     int64     `json:"first,omitempty"`   // of a rewound objective: number of the first directive of its epoch
	Noted     int       `json:"noted,omitempty"`   // how many messages to the root task were delivered with directives
	Found     bool      `json:"found,omitempty"`   // it ran already when the objective was about to begin it
	Unheard   bool      `json:"unheard,omitempty"` // it may do what an earlier run of the objective has asked for, and has not reported since that was rewound
	Before    opt.Usage `json:"before,omitzero"`   // by earlier attempts at the plan
	Shares    bool      `json:"shares,omitempty"`  // its directives have a share of the budget
	Gone      bool      `json:"gone,omitempty"`    // its workflow has ended, and this run will get its result
	GoneAt    a2a.Time  `json:"goneAt,omitzero"`   // since when; of a rewound objective, which may get none
	Doubted   bool      `json:"doubted,omitempty"` // its workflow may be gone, which is being checked
	Doubts    int       `json:"doubts,omitempty"`  // how often
	Alone     bool      `json:"alone,omitempty"`   // it ends alone: its objective had ended before
	Again     int       `json:"again,omitempty"`   // the epoch of the plan to which the end before its reset was confirmed; 0 for none
}

// begin notes that the workflow of the plan has begun, with the directive n.
func (l *Link) begin(n int64) {
	l.Begun, l.Own, l.Delivered = true, true, n
	l.Found, l.Noted, l.Doubted = false, 0, false
	if !l.Unheard {
		l.Start = nil
	}
}

// awaits reports whether a rewound objective waits for the result of a plan that has ended. A plan that has ended
// while no run of its objective was there has given it to none.
func (l *Link) awaits(p *opt.Plan) bool { return l.Gone && l.Own && !l.GoneAt.IsZero() && !p.Over() }

// isUnsure reports whether a plan may do what an earlier run of the objective has asked for.
func (l *Link) isUnsure(epoch int) bool { return l.Begun && l.Unheard || !l.Begun && epoch > 1 }

// noteGone keeps since when a rewound objective waits for that result.
func (l *Link) noteGone(now a2a.Time, rewound bool) {
	switch {
	case !l.Gone:
		l.GoneAt = a2a.Time{}
	case rewound && l.GoneAt.IsZero():
		l.GoneAt = now
	}
}

// goneTimer returns the timer after which the result will not come.
func (l *Link) goneTimer() Timer {
	return Timer{Key: fmt.Sprintf("%s%s:%d", goneTimer, l.PlanID, l.GoneAt.Millis()), At: a2a.At(l.GoneAt.Time().Add(goneWait)), Summary: "Wait for the result of the plan"}
}

// retry begins the workflow of the plan again after a while, when its former run has ended.
func (l *Link) retry(now a2a.Time) { l.Begun, l.RetryAt = false, a2a.At(now.Time().Add(beginWait)) }

// timer returns the key of the timer for that.
func (l *Link) timer() string {
	return fmt.Sprintf("%s%s:%d", beginTimer, l.PlanID, l.RetryAt.Millis())
}

// show updates the status that the objective shows for a plan: the requested one
// or the reported one.
func (l *Link) show(p *opt.Plan) {
	p.Status, p.Reason = l.Directive.assumed(*p.Report)
	p.Started = l.Directive.Start || p.Report.Started
	p.Paused, p.Stopping = p.Report.Paused, l.Directive.Stop
}

// doubt has it checked whether the workflow of the plan is gone. It has begun, so a check from now
// on cannot find that it has not begun yet.
func (l *Link) doubt() {
	if !l.Doubted {
		l.Doubted = true
		l.Doubts++
	}
}

// check returns the key of the activity for that.
func (l *Link) check() string { return fmt.Sprintf("%s:check:%d", l.PlanID, l.Doubts) }

// hear takes from a report of the plan how much of its objective it has. before is the epoch of the
// plan in its report before, epoch that of the objective.
func (l *Link) hear(report opt.Report, before, epoch int) {
	if report.Epoch > before { // it may have lost directives
		l.Delivered = 0
	}
	if report.Directive >= l.Delivered { // the report has the notes that were delivered, or they are lost
		l.Noted = min(l.Noted, report.Notes)
	}
	if report.Under >= epoch { // also before it is known that it has begun
		l.Unheard = false
	}
	if l.Begun && (l.Found || l.Own) {
		l.Start = nil
	}
}

// renumber gives the latest directive a number above all that an earlier run of the objective may
// have sent.
func (l *Link) renumber(now a2a.Time) {
	l.Directive.N = above(l.Directive.N, now)
	l.First = l.Directive.N
}

// stale reports whether a report was made for an earlier run of the objective, or with what that knew.
// Until the journal has taken the epoch, that run may have had the same.
func (l *Link) stale(report opt.Report, epoch int) bool {
	return (!l.Begun || l.Start != nil) && (report.Under < epoch || report.Directive < l.First)
}

// deliver notes that a directive was delivered, or that the workflow of the plan does not exist. It
// reports whether that is lost: one that had to report its end by signal was ended by an
// operator, since it would have reported before.
func (l *Link) deliver(in Delivered) (lost bool) {
	if !l.Begun || in.N <= l.Delivered { // it was for an earlier attempt
		return false
	}
	l.Delivered = max(l.Delivered, in.N)
	if in.Gone && l.Found && l.Start != nil { // it has ended before it could report to this run
		l.Begun, l.Unheard = false, false
		return false
	}
	if !in.Gone {
		l.Noted = in.Notes
	}
	l.Gone = in.Gone && l.Own
	return in.Gone && !l.Own && !l.Alone
}

// addWants adds the workflow of a plan, or the directive for it.
func (l *Link) addWants(w *Wants, p *opt.Plan) {
	d := l.Directive
	switch {
	case !l.Begun && l.RetryAt.IsZero():
		w.Children = append(w.Children, Child{PlanID: l.PlanID, Attempt: p.Run, Try: l.Try, N: d.N, After: l.After})
	case l.Begun && (!p.Over() || l.Again > 0) && d.N > l.Delivered:
		w.Signals = append(w.Signals, Signal{To: l.PlanID, N: d.N, After: l.Changed, Notes: d.Notes})
	}
	if l.Begun && l.Doubted && !p.Over() {
		w.Activities = append(w.Activities, Activity{Key: l.check(), Kind: CheckPlan, Of: l.PlanID})
	}
	w.Bound = w.Bound || l.Own && !p.Over() && (l.Gone || !d.ReportEnd || l.Delivered < d.N)
}

// endAlone has the plan cancel itself. This run does not wait for its end. after is the latest event.
func (l *Link) endAlone(now a2a.Time, after int64) {
	l.renumber(now)
	l.Directive.Stop, l.Changed, l.Alone = string(opt.ObjectiveCanceled), after, true
}

// endsAlone reports whether the plan was asked to.
func (l *Link) endsAlone() bool { return l.Alone && !l.Doubted && l.Delivered >= l.Directive.N }

// endStands confirms its end to a plan that was reset after it, as a report shows, once in each epoch of the plan: that does not
// wait for this objective.
func endStands(s *ObjectiveState, l *Link, p *opt.Plan, r opt.Report, now a2a.Time) {
	again := p.Over() && r.Attempt == p.Run && !r.Status.Ended() && r.Epoch > max(p.Report.Epoch, l.Again)
	if !again || s.Rules < rulesOver {
		return
	}
	l.renumber(now)
	l.Directive.Over, l.Directive.Command = true, "" // it was answered
	if s.Rules >= rulesPermits {
		l.Directive.PlanEpoch = r.Epoch
	}
	l.Changed, l.Again = s.N, r.Epoch
}

// confirmed reports whether a plan has no such directive to get.
func (l *Link) confirmed() bool { return l.Again == 0 || l.Delivered >= l.Directive.N }

// adopt takes over a plan that an earlier run of the objective has begun and that still
// runs: it gets a directive, and reports to this run from then on, or that it is another one.
func (s *ObjectiveState) adopt(l *Link, now a2a.Time) {
	l.Begun, l.Found, l.Unheard, l.Own, l.Delivered, l.Noted, l.Doubted = true, true, true, false, 0, 0, false
	l.renumber(now)
	d := &l.Directive
	d.Echo, d.Epoch, d.ReportEnd, l.Changed = d.N, s.Epoch, true, s.N
	d.Imprint, d.Run = s.imprint(l.Start), s.Objective.Plan(l.PlanID).Run
}
