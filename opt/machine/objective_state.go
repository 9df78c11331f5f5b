package machine

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// ObjectiveState is all that an objective knows, and all that a run of its
// workflow passes to the next.
type ObjectiveState struct {
	Rules     int            `json:"rules"` // version of the rules of the run
	Objective opt.Objective  `json:"objective"`
	N         int64          `json:"n"`                   // of its latest event
	Epoch     int            `json:"epoch,omitempty"`     // of its source; 0 for the first
	Opened    bool           `json:"opened,omitempty"`    // it was not restored from the journal; false under earlier rules
	End       int64          `json:"end,omitempty"`       // the event that has ended it
	Request   *a2a.Message   `json:"request,omitempty"`   // that began the work
	Starter   string         `json:"starter,omitempty"`   // who sent it, if not who asked for the objective
	Given     []opt.PlanSpec `json:"given,omitempty"`     // plans that came with the request and were not added yet
	Unplanned bool           `json:"unplanned,omitempty"` // ask the planner when the work begins, even if there are plans
	Anew      bool           `json:"anew,omitempty"`      // a client has asked for a replan
	Idle      bool           `json:"idle,omitempty"`      // it waits for a client to start it
	IdleFor   int64          `json:"idleFor,omitempty"`   // seconds after which it is canceled unless it was started; 0 for never
	IdleSince a2a.Time       `json:"idleSince,omitzero"`
	Lost      bool           `json:"lost,omitempty"`   // its former workflow was ended by an operator; whether it shared the context is not known
	Begin     bool           `json:"begin,omitempty"`  // it was started, and begins when it has its turn
	Notes     []a2a.Message  `json:"notes,omitempty"`  // messages to the root task that are not replies
	Heard     []opt.Letter   `json:"heard,omitempty"`  // those with which it opens
	Shaped    bool           `json:"shaped,omitempty"` // another principal has shaped the work, and no event has said so yet

	Seen map[string]bool `json:"seen,omitempty"` // letters, so that a repeat changes nothing
	CommandState
	Links     []*Link        `json:"links,omitempty"`   // to the plans, in their order
	Making    *Making        `json:"making,omitempty"`  // plans that a planner is making
	Makings   int            `json:"makings,omitempty"` // how often a planner was asked
	Kept      *opt.Kept      `json:"kept,omitempty"`    // the former attempt, for the command that retries the objective
	Loads     int            `json:"loads,omitempty"`   // how often a former attempt was read
	Loading   bool           `json:"loading,omitempty"`
	Ended     int64          `json:"ended,omitempty"` // event that must be recorded before the former attempt is read
	Turn      TurnState      `json:"turn,omitzero"`
	Leaving   bool           `json:"leaving,omitempty"`   // the run is about to continue as new
	Used      opt.Usage      `json:"used,omitzero"`       // by planners, and by earlier attempts at plans
	Since     a2a.Time       `json:"since,omitzero"`      // when the work of this attempt has begun
	Limited   bool           `json:"limited,omitempty"`   // an executor has a budget for the objective
	Raised    opt.SpendLimit `json:"raised,omitzero"`     // the limits of the request, by people
	Forgotten bool           `json:"forgotten,omitempty"` // the journal has a later attempt, which the reconciler ends
}

// Rides returns whether the events of an objective after one that is recorded go with the result of its workflow. The
// worker records them once Temporal has accepted that, or the reconciler if the worker is lost before.
// Until then the journal shows the first attempt as open if the end of that is one of them, so that nothing
// begins another run. Of a later attempt it may show the one before, from which a retry would begin. In a
// later epoch it may have events of a former run, which only this workflow can set back.
func Rides(s *ObjectiveState) func(done int64) bool {
	return func(done int64) bool { return s.Opened && s.Objective.Attempt <= 1 && s.Epoch <= 1 && done < s.End }
}

// Making is a request to the planner.
type Making struct {
	Key    string `json:"key"`
	Replan bool   `json:"replan,omitempty"` // replaces the plans that have not ended
	Keep   bool   `json:"keep,omitempty"`   // these stay if there are no better ones
	Begun  bool   `json:"begun,omitempty"`  // the objective has had its turn since then
}

// Source returns the source of the events.
func (s *ObjectiveState) Source() string { return opt.InEpoch(s.Objective.ID, s.Epoch) }

// TurnRequest returns the content of the signal to the context.
func (s *ObjectiveState) TurnRequest() TurnRequest {
	t := &s.Turn
	in := TurnRequest{ObjectiveID: s.Objective.ID, Attempt: s.turnAttempt(), N: t.N, Want: t.Want}
	if s.Rules >= rulesRoll {
		in.Answering, in.Answers, in.Works, in.At = true, t.Answers, t.Works, s.Objective.QueuedAt
	}
	return in
}

// turnAttempt returns the attempt under which the context knows the objective.
func (s *ObjectiveState) turnAttempt() int { return max(s.Objective.Attempt, s.Turn.Attempt) }

// Successor returns the state for the next run.
func (s *ObjectiveState) Successor() ObjectiveState {
	after := *s
	after.Leaving = false
	after.Links = nil
	for _, l := range s.Links {
		next := *l
		next.Own = false
		after.Links = append(after.Links, &next)
	}
	return after
}

// ChildState returns the state with which the workflow of a plan begins. That of a rewound
// objective begins with an epoch: the journal may have what the plan has done before.
func (s *ObjectiveState) ChildState(planID string) PlanState {
	o, l := &s.Objective, s.link(planID)
	first := s.Message(planID)
	return PlanState{
		Rules: s.Rules, Plan: *l.Start, Epoch: s.Epoch, Above: s.Epoch, Rewind: s.Epoch > 1, Tenant: o.Tenant, ContextID: o.ContextID, RootID: o.RootID(), Objective: o.Name, Requester: o.Principal,
		Request: s.Asked(), First: &first, Imprint: s.imprint(l.Start), Before: l.Before,
	}
}

// imprint returns a digest by which a plan is known as the one that this attempt at the objective has
// made: after a reset another one may get its id. A client may have renamed it meanwhile.
func (s *ObjectiveState) imprint(p *opt.Plan) string {
	type task struct {
		Name, Description, Executor string
		Input                       json.RawMessage
		Dependencies                []string `json:",omitzero"`
		Uses                        []string `json:",omitempty"`
		Ask                         *opt.Gate
	}
	tasks := []task{}
	for _, t := range p.Tasks {
		tasks = append(tasks, task{t.Name, t.Description, t.Executor, t.Input, t.Dependencies, t.Uses, t.Ask})
	}
	content, err := json.Marshal([]any{s.Objective.RootID(), tasks})
	if err != nil {
		panic(err) // it came from JSON
	}
	return fmt.Sprintf("%x", sha256.Sum256(content))
}

// Message returns the content of the signal to a plan.
func (s *ObjectiveState) Message(planID string) Directed {
	p, l := s.Objective.Plan(planID), s.link(planID)
	d := Directed{Directive: l.Directive, NotesFrom: p.Report.Notes, Shapers: s.Objective.Shapers}
	switch {
	case l.Unheard: // it may have those of an earlier run
		d.NotesFrom = 0
	case l.Begun:
		d.NotesFrom = max(d.NotesFrom, l.Noted)
	}
	d.NotesFrom = min(d.NotesFrom, l.Directive.Notes)
	d.Notes = s.Notes[d.NotesFrom:l.Directive.Notes]
	if (l.Directive.Start || l.Directive.Command != "") && !p.Report.Started {
		d.Inputs = inputs(&s.Objective, p)
	}
	if l.Directive.Command != "" {
		d.Command = &s.Current.Command
	}
	return d
}

// Asked returns the request with its author, nil if there is none.
func (s *ObjectiveState) Asked() *a2a.Message {
	if s.Request == nil {
		return nil
	}
	message := authored(*s.Request, cmp.Or(s.Starter, s.Objective.Principal))
	return &message
}

// replaceRequest has a message take the place of the request. Plans that have begun keep the budget of the one before.
func replaceRequest(s *ObjectiveState, l opt.Letter) {
	s.Limited = s.Limited || s.Rules >= rulesShares && limited(s)
	s.Request, s.Starter = &l.Message, l.Principal
}

// shapedBy notes that a principal has shaped the work.
func (s *ObjectiveState) shapedBy(principal string) {
	o := &s.Objective
	if principal != "" && principal != o.Principal && !slices.Contains(o.Shapers, principal) {
		o.Shapers, s.Shaped = append(slices.Clone(o.Shapers), principal), true
	}
}

// link returns the link to a plan, nil if there is none.
func (s *ObjectiveState) link(planID string) *Link {
	i := slices.IndexFunc(s.Links, func(l *Link) bool { return l.PlanID == planID })
	if i < 0 {
		return nil
	}
	return s.Links[i]
}

// attempt returns the link to a plan if the plan is at the attempt, else nil.
func (s *ObjectiveState) attempt(planID string, attempt int) *Link {
	if p := s.Objective.Plan(planID); p == nil || p.Run != attempt {
		return nil
	}
	return s.link(planID)
}

// desired returns the current directive for a plan, with the number of the
// latest.
func (s *ObjectiveState) desired(l *Link, p *opt.Plan, start bool) Directive {
	o, d := &s.Objective, l.Directive
	if start && !d.Start {
		d.Start, d.Spent = true, spentBeside(o, p)
		if s.Rules >= rulesBudget {
			d.Spent = d.Spent.Plus(s.Used)
		}
		if !p.Started { // by a client
			d.Covered = max(d.Covered, covered(o, p))
		}
	}
	begun := d.Start || p.Started
	d.Hold = !begun && o.Started && !o.Closed() && !o.Met(p)
	d.Command = s.passedTo(p.ID)
	// A command, or an earlier run, may start the plan, which reports that later: its pause lasts as long as that of the objective.
	d.Paused = (begun || l.Unheard || d.Command != "" || d.Paused) && s.pauses()
	d.Stop = cmp.Or(d.Stop, p.Stopping, o.Stopping) // the plan itself, if others replace it
	d.Text = cmp.Or(d.Text, reasonToCancel(o))
	d.Leaf, d.Name, d.Shapers = o.Leaf(p), p.Name, len(o.Shapers)
	d.Shared, d.ReportEnd = s.Turn.Shared, d.ReportEnd || s.leaves(l)
	if begun {
		addSpent(&d, s, p)
		d.Notes = len(s.Notes)
		s.permit(&d, *p.Report)
	}
	return d
}

// pauses reports whether no plan may begin tasks: of a paused objective, or while others are made.
func (s *ObjectiveState) pauses() bool { return s.Objective.Paused || s.replans() }

// leaves reports whether this run does not get the result of a plan that it has begun.
func (s *ObjectiveState) leaves(l *Link) bool { return s.Leaving && l.Begun && l.Own }

// permit sets the permission of a plan that has begun: a new one if it has none, has yielded that and asks, or
// was reset.
func (s *ObjectiveState) permit(d *Directive, r opt.Report) {
	reset := s.Rules >= rulesPermits && r.Epoch > 1 && d.PlanEpoch != r.Epoch
	if reset {
		d.PlanEpoch, d.Permission = r.Epoch, r.Yielded
	}
	if d.Shared && s.Turn.mayWork() && d.Permission <= r.Yielded && (d.Permission == 0 || r.Asks || reset) {
		d.Permission = r.Yielded + 1
	}
}

// covered returns one more than the number of notes that the approvals in the plans before p
// have covered, 0 if there were none. Those that were accepted before p was made say nothing
// about it.
func covered(o *opt.Objective, p *opt.Plan) (most int) {
	before := []*opt.Plan{p}
	for i := 0; i < len(before); i++ {
		for _, b := range o.Before(before[i]) {
			if slices.Contains(before, b) {
				continue
			}
			before = append(before, b)
			if a := b.Report.Approved; a != nil && p.CreatedAt.Millis() < a.At.Millis() {
				most = max(most, a.Notes+1)
			}
		}
	}
	return most
}

// approvals returns what the approvals of a former attempt at a plan have covered, as far as its
// tasks say: none of the notes that came since. nil if there were none.
func approvals(p *opt.Plan) *opt.Approved {
	if slices.ContainsFunc(p.Tasks, func(t *opt.Task) bool { return isApproval(t) }) {
		return &opt.Approved{At: p.UpdatedAt}
	}
	return nil
}

// usedBy returns the usage of all work on an objective so far.
func usedBy(s *ObjectiveState) opt.Usage { return s.Used.Plus(spentBeside(&s.Objective, nil)) }

// reasonToCancel returns the reason of a client who cancels o, "" if there is none.
func reasonToCancel(o *opt.Objective) string {
	if o.Stopping == string(opt.ObjectiveCanceled) && o.Cause == "" {
		return o.Failure
	}
	return ""
}

// spentBeside returns the usage of the plans other than p.
func spentBeside(o *opt.Objective, p *opt.Plan) (sum opt.Usage) {
	for _, other := range o.Plans {
		if other != p && other.Report != nil {
			sum = sum.Plus(other.Report.Spent)
		}
	}
	return sum
}

// addSpent adds to a directive for p the use that counts in its budget beside its own, under rules before [rulesShares].
func addSpent(d *Directive, s *ObjectiveState, p *opt.Plan) {
	if s.Rules >= rulesBudget && s.Rules < rulesShares && limited(s) {
		tellSpent(d, s, p)
	}
}

func tellSpent(d *Directive, s *ObjectiveState, p *opt.Plan) {
	d.Spent, d.Raised, d.Since = s.Used.Plus(spentBeside(&s.Objective, p)), s.Raised, s.Since.Millis()
}

// hearBudget takes from a report the news of a budget.
func hearBudget(s *ObjectiveState, r opt.Report) {
	s.Limited = s.Limited || r.Counted || r.Limited && s.Rules < rulesShares
	s.Raised = s.Raised.Highest(r.Raised)
}

// limited reports whether a budget counts what all plans use.
func limited(s *ObjectiveState) bool {
	return s.Limited || s.Request != nil && opt.BudgetOf(*s.Request) != (opt.Budget{}) || budgetIn(&s.Objective, nil) != nil
}

// budgetIn returns own, the budget of a playbook, or else the one in the plans of o: work that is added has it, too.
func budgetIn(o *opt.Objective, own *opt.Budget) *opt.Budget {
	for _, p := range o.Plans {
		own = cmp.Or(own, p.Budget)
	}
	return own
}

// inputs lists the results of the plans that p depends on, or of the last plan with
// results that it follows in the list.
func inputs(o *opt.Objective, p *opt.Plan) (out []a2a.Artifact) {
	for o.Follows(p) {
		before := o.Before(p)
		if len(before) == 0 {
			return nil
		}
		if p = before[0]; p.Status == opt.PlanCompleted && len(p.Report.Results) > 0 {
			return p.Report.Results
		}
	}
	for _, id := range p.Dependencies {
		if d := o.Plan(id); d != nil {
			out = slices.Concat(out, d.Report.Results)
		}
	}
	return out
}

// timers lists the timers that are wanted.
func (s *ObjectiveState) timers() []Timer {
	var out []Timer
	if s.expires() {
		at := a2a.At(s.IdleSince.Time().Add(time.Duration(s.IdleFor) * time.Second))
		out = append(out, Timer{Key: fmt.Sprintf("%s%d", idleTimer, at.Millis()), At: at, Summary: "Wait to be started"})
	}
	for _, l := range s.Links {
		if !l.RetryAt.IsZero() {
			out = append(out, Timer{Key: l.timer(), At: l.RetryAt, Summary: "Wait for the former run of the plan to end"})
		}
	}
	for _, l := range s.Links {
		if l.awaits(s.Objective.Plan(l.PlanID)) {
			out = append(out, l.goneTimer())
		}
	}
	if c := s.Current; c != nil && (c.Echo || c.PlanID != "") {
		out = appendDeadline(out, c.Command, "Wait for the plans to confirm")
	}
	for _, c := range s.Commands {
		if s.Current == nil && s.overdue(c.PlanID) >= 0 {
			out = appendDeadline(out, c, "Wait for the plan to answer another command")
		}
	}
	return out
}

// appendDeadline adds the timer for the deadline of a command that waits.
func appendDeadline(out []Timer, c opt.Command, summary string) []Timer {
	if c.Deadline.IsZero() {
		return out
	}
	return append(out, Timer{Key: answerTimer + c.ID, At: c.Deadline, Summary: summary})
}

// Beginnings of the keys of timers.
const (
	idleTimer   = "idle:"
	beginTimer  = "begin:"
	answerTimer = "answer:"
	goneTimer   = "gone:"
	turnTimer   = "turn:"
)

// expires reports whether the objective will be canceled at its time unless it is
// started. An objective that was started and waits for its turn does not expire.
func (s *ObjectiveState) expires() bool {
	return s.IdleFor > 0 && s.Idle && s.Objective.Status == opt.ObjectiveSubmitted && s.Objective.Stopping == ""
}

// loseTurn notes that others may have the turn that a rewound objective had: it asks for it again
// before it works. A planner that works is asked again then.
func (s *ObjectiveState) loseTurn() {
	s.Turn.Held = false
	if k := s.Making; k != nil && k.Begun {
		s.Makings++
		k.Key, k.Begun = s.makingKey(), false
	}
	for _, l := range s.Links {
		if !l.Begun {
			l.Directive.Permission = 0
		}
	}
}

// leavingWants returns what an objective wants of which the journal has a later attempt: to leave its
// context, which may have taken it for that attempt, and its end.
func leavingWants(s *ObjectiveState) Wants {
	if s.Turn.Shared && s.Turn.N > s.Turn.Delivered {
		return Wants{Signals: []Signal{{To: ToContext, N: s.Turn.N}}, Forget: true}
	}
	return Wants{Done: &Done{Status: string(s.Objective.Status)}, Forget: true}
}

func (s *ObjectiveState) turnWanted() TurnWant {
	switch {
	case s.Forgotten, s.Objective.Settled():
		return WantLeave
	case s.Objective.Closed():
		return s.Turn.Want // tasks stop with or without the turn
	case s.resting():
		return WantRest
	}
	return WantTurn
}

// resting reports whether nothing can continue: every started plan has ended, or
// has yielded its permission and asks for none.
func (s *ObjectiveState) resting() bool {
	o := &s.Objective
	if s.Begin && !o.Paused || s.Making != nil || s.starts() { // the plan may have begun
		return false
	}
	active := slices.ContainsFunc(s.Links, func(l *Link) bool {
		p := o.Plan(l.PlanID)
		given := p.Started && (l.Directive.Permission > p.Report.Yielded || p.Report.Asks || l.Directive.Permission == 0)
		return !p.Over() && (given || l.isUnsure(s.Epoch)) // a run from before may work
	})
	return !active && len(o.Startable()) == 0
}

// mayBegin reports whether the work, which was started, begins now: the turn has come and no pause
// holds it back, or it has ended before.
func (s *ObjectiveState) mayBegin() bool {
	return s.Begin && (s.Turn.mayWork() && !s.Objective.Paused || s.Objective.Closed())
}

// neverPlanned reports whether no plan was made for the request yet. Plans that clients have
// added before are no plans for it: those that the planner makes come beside them.
func (s *ObjectiveState) neverPlanned() bool {
	return s.Request != nil && s.Makings == 0 && !s.Anew && s.Objective.Attempt == 1
}

// make asks the planner for plans: the first ones, or replacements of those that
// have not ended.
func (s *ObjectiveState) make(replan bool) {
	s.Makings++
	s.Making = &Making{Key: s.makingKey(), Replan: replan, Keep: replan && !s.Anew}
	s.Objective.Planning = true
}

func (s *ObjectiveState) makingKey() string {
	return fmt.Sprintf("%s:plan:%d", s.Objective.RootID(), s.Makings)
}

// makeInTurn begins the planning when the objective has its turn. If all plans
// have ended meanwhile, no others are needed.
func (s *ObjectiveState) makeInTurn() {
	switch {
	case s.Making == nil:
	case s.Objective.Closed():
		s.dropMaking()
	case s.Turn.mayWork():
		s.Making.Begun = true
	}
}

// dropMaking drops the request to the planner.
func (s *ObjectiveState) dropMaking() { s.Making, s.Objective.Planning = nil, false }

// replans reports whether the planner makes replacements.
func (s *ObjectiveState) replans() bool { return s.Making != nil && s.Making.Replan }

// shareFor makes a plan wait for permission if a command starts it behind other objectives.
func (s *ObjectiveState) shareFor(c opt.Command) {
	if !c.QueuedAt.IsZero() && !s.Objective.Started {
		s.Turn.share()
	}
}

// unconfirmed lists the plans that have yet to act upon what they must confirm.
func (s *ObjectiveState) unconfirmed() []string {
	var out []string
	for _, l := range s.Links {
		if p := s.Objective.Plan(l.PlanID); !p.Over() && p.Report.Directive < l.Directive.Echo {
			out = append(out, p.ID)
		}
	}
	return out
}

func (s *ObjectiveState) loadKey() string {
	return fmt.Sprintf("%s:load:%d", s.Objective.RootID(), s.Loads)
}

// done reports whether the workflow may end: everything that it began has ended,
// and no command waits.
func (s *ObjectiveState) done() bool {
	open := slices.ContainsFunc(s.Links, func(l *Link) bool {
		return !l.Begun || !l.confirmed() || !s.Objective.Plan(l.PlanID).Over() && !l.endsAlone()
	})
	return s.Objective.Settled() && !open && s.Current == nil && len(s.Overdue)+len(s.Commands) == 0 && s.Turn.N == s.Turn.Delivered
}

// failure is the event that fails the objective for a reason other than a plan.
func failure(o *opt.Objective, text string) opt.Event {
	return opt.Event{Reason: string(opt.ObjectiveFailed), Status: a2a.AgentMessage(o.ContextID, o.RootID(), ":failure", text)}
}
