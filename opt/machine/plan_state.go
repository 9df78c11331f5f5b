package machine

import (
	"cmp"
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// PlanState is all that a plan knows.
type PlanState struct {
	Rules     int            `json:"rules"` // version of the rules of the run
	Plan      opt.Plan       `json:"plan"`
	N         int64          `json:"n"`                   // of its latest event
	Epoch     int            `json:"epoch,omitempty"`     // of its source; 0 for the first
	Above     int            `json:"above,omitempty"`     // the latest epoch of the objective in a directive
	Rewind    bool           `json:"rewind,omitempty"`    // that has risen, and the plan has not begun its own yet
	Forgotten bool           `json:"forgotten,omitempty"` // its objective does not know it any more
	Foreign   bool           `json:"foreign,omitempty"`   // likewise, and hears that: another plan has its id
	Tenant    string         `json:"tenant"`
	ContextID string         `json:"contextId"`
	RootID    string         `json:"rootId"`
	Imprint   string         `json:"imprint,omitempty"`   // says which plan of this id it is
	Objective string         `json:"objective"`           // its name
	Requester string         `json:"requester,omitempty"` // who asked for the objective
	Shapers   []string       `json:"shapers,omitempty"`   // others who shaped the work
	Request   *a2a.Message   `json:"request,omitempty"`
	Inputs    []a2a.Artifact `json:"inputs,omitempty"` // results of the plans before it
	NoteState
	Directive Directive       `json:"directive"`
	First     *Directed       `json:"first,omitempty"` // the first directive, until the plan has acted upon it
	Seen      map[string]bool `json:"seen,omitempty"`  // letters, so that a repeat changes nothing
	TaskStates
	Why     map[string]string `json:"why,omitempty"`   // reasons of clients for canceling one task, for people, by the id of the A2A task
	Shown   []string          `json:"shown,omitempty"` // artifacts that the root task shows already
	Yielded int64             `json:"yielded,omitempty"`
	Chain   opt.Chain         `json:"chain,omitzero"` // of the decisions of this attempt

	Report    opt.Report         `json:"report"`              // the latest one, sent or to be sent
	Known     opt.Report         `json:"known"`               // what the objective knows or assumes
	After     int64              `json:"after,omitempty"`     // event that must be recorded before Report is sent
	Delivered int64              `json:"told,omitempty"`      // number of the latest delivered report
	Alone     bool               `json:"alone,omitempty"`     // the objective's workflow has ended
	Answer    *opt.CommandAnswer `json:"answer,omitempty"`    // to the latest command
	Raised    opt.SpendLimit     `json:"raised,omitzero"`     // the limits of the request, by people
	RaisedOwn opt.SpendLimit     `json:"raisedOwn,omitzero"`  // the limits of the plan alone
	Before    opt.Usage          `json:"before,omitzero"`     // by earlier attempts at the plan
	Since     a2a.Time           `json:"since,omitzero"`      // when this attempt was started
	Reordered bool               `json:"reordered,omitempty"` // a client has changed the order of its tasks
}

// Rides reports whether the last events go with the result of the workflow, since the run of
// the objective that began it reads that. In a later epoch the journal may have events of a
// former run, which only this workflow can set back.
func (s *PlanState) Rides(int64) bool { return !s.Alone && !s.Directive.ReportEnd && s.Epoch <= 1 }

// reportsEnd reports whether the objective gets the end by signal. After a reset the result may go to a run that is not
// there any more, and the run that is there has begun another run of the plan, in the place of which this one is.
func reportsEnd(s *PlanState) bool {
	return s.Directive.ReportEnd || s.Epoch > 1 && s.Rules >= rulesEnds
}

// Reports reports whether what records the events sends the report that waits for them, too.
func (s *PlanState) Reports() bool { return s.Rules >= rulesGates }

// Patient reports whether a report waits until its events are recorded while a task begins: one that
// ends by then makes it needless.
func (s *PlanState) Patient() bool { return s.Rules >= rulesPatient }

// Under returns the latest epoch of the objective that the plan knows.
func (s *PlanState) Under() int { return s.Above }

// Source returns the source of the events. Each attempt at a plan has its own,
// since the last events of the attempt before may be recorded late.
func (s *PlanState) Source() string {
	return opt.InEpoch(opt.RootID(s.Plan.ID, s.Plan.Run), s.Epoch)
}

// beForeign has the plan end without a word to the journal, for another plan with its id: of another
// attempt at the objective, or of a planner that was asked again after a reset. The report has an
// attempt before all of that plan.
func (s *PlanState) beForeign(d Directive, now a2a.Time) {
	s.Foreign, s.After = true, 0
	s.Report = opt.Report{N: above(s.Report.N, now), Attempt: -1, Directive: d.N, Status: s.Plan.Status}
}

// take takes in a directive with all but its notes and its command.
func (s *PlanState) take(in Directed) {
	d := in.Directive
	for _, principal := range in.Shapers {
		s.shapedBy(principal)
	}
	s.Known.Shapers = in.Shapers
	if d.Epoch > s.Above {
		s.Above, s.Rewind = d.Epoch, true
		s.Alone = s.Alone && s.Rules < rulesEnds // its objective was ended, and is there again
	}
	s.Known.Status, s.Known.Reason = d.assumed(s.Known)
	s.Known.Started = s.Known.Started || d.Start
	s.Raised = s.Raised.Highest(d.Raised)
	s.Known.Raised = d.Raised
	s.Directive = d
	if in.Inputs != nil && !s.Plan.Started {
		s.Inputs = in.Inputs
	}
	if d.Name != "" {
		s.Plan.Name = d.Name
	}
}

// lastWants returns what a plan wants that its objective does not know, nil for any other.
func (s *PlanState) lastWants() *Wants {
	switch {
	case s.Forgotten:
		return &Wants{Done: &Done{Status: string(opt.PlanSkipped)}, Forget: true}
	case s.Foreign:
		return &Wants{Signals: []Signal{{To: s.Plan.ObjectiveID, N: s.Report.N}}, Forget: s.Rules >= rulesFound}
	}
	return nil
}

// takeLeave ends a foreign plan when its objective has heard of that, or cannot.
func (s *PlanState) takeLeave(in Input) {
	switch in := in.(type) {
	case Forgotten: // later: its objective waits for the report
		s.Forgotten = s.Rules < rulesFound
	case Delivered:
		s.Forgotten = in.N == s.Report.N
	}
}

// shapedBy notes that a principal has shaped the work.
func (s *PlanState) shapedBy(principal string) {
	if principal != "" && principal != s.Requester && !slices.Contains(s.Shapers, principal) {
		s.Shapers = append(s.Shapers, principal)
	}
}

// has reports whether there is such work on any task.
func (s *PlanState) has(such func(*Work) bool) bool {
	return slices.ContainsFunc(s.Plan.Tasks, func(t *opt.Task) bool {
		w := s.Work[t.ID]
		return w != nil && such(w)
	})
}

// working reports whether any activity runs.
func (s *PlanState) working() bool { return s.has(func(w *Work) bool { return w.Running }) }

// mayBegin reports whether the plan has permission to begin tasks or needs none.
func (s *PlanState) mayBegin() bool {
	d := s.Directive
	if s.Rules >= rulesPermits && (s.Rewind || s.Epoch > 1 && d.PlanEpoch != s.Epoch) { // it was reset: others may have the turn by now
		return false
	}
	return !d.Shared || d.Permission > s.Yielded
}

// opens reports whether the tasks that may begin are gates, which follow from the input of the run.
// Others begin after all inputs that have arrived, since they do work that cannot be undone.
func (s *PlanState) opens() bool {
	other := func(t *opt.Task) bool { return t.Ask == nil || t.Link != "" }
	return s.Rules >= rulesGates && !slices.ContainsFunc(s.Plan.Ready(), other)
}

// runs reports whether the tasks that may begin run in activities of this plan, in which events may ride.
func (s *PlanState) runs() bool {
	ready := s.Plan.Ready()
	other := func(t *opt.Task) bool { return t.Ask != nil || t.Link != "" || t.Follow || t.Awaits() }
	return s.Rules >= rulesSoon && s.mayBegin() && len(ready) > 0 && !slices.ContainsFunc(ready, other)
}

// yield gives the permission to begin tasks back when nothing in the plan can
// continue, or only clients work on it, so that others in the context may work.
func (s *PlanState) yield() bool {
	works := s.has(func(w *Work) bool { return !w.AtGate && !w.Held })
	waits := s.Plan.Status == opt.PlanBlocked || s.Plan.Status == opt.PlanWorking && !works && len(s.Plan.Ready()) == 0
	if !s.Directive.Shared || !s.Plan.Started || !waits || !s.mayBegin() || s.working() {
		return false
	}
	s.Yielded = s.Directive.Permission
	return true
}

// asks reports whether the plan could continue and waits for permission.
func (s *PlanState) asks() bool {
	if s.mayBegin() || !s.Plan.Started || s.Plan.OnHold() || s.Plan.Status.Ended() || s.Plan.Stopping != "" {
		return false
	}
	return len(s.Plan.Ready()) > 0 || s.has(func(w *Work) bool { return w.Waiting && !w.AtGate })
}

// makeReport makes a report if it has news for the objective, or if the objective has
// asked for a confirmation.
func (s *PlanState) makeReport(now a2a.Time) {
	r := s.Plan.Brief()
	if r.Under = s.Above; s.Rewind {
		r.Under = s.Report.Under
	}
	r.Spent, r.Epoch, r.Approved, r.Shapers = spending{s}.used(), s.Epoch, s.approved(), s.Shapers
	r.Limited, r.Raised = s.Limited || spending{s}.budget() != opt.Budget{}, s.Raised
	r.Short, r.Counted = short(s, now), s.Limited && s.Rules >= rulesShares
	r.Directive, r.Yielded, r.Asks, r.Notes, r.Answer = s.Directive.N, s.Yielded, s.asks(), s.Heard, s.Answer
	if s.Plan.Settled() {
		s.conclude(&r)
	}
	if sameReport(s.Known, r) && s.Known.Directive >= s.Directive.Echo && (!s.Plan.Settled() || s.Report.Status.Ended() && !s.Report.Closing) {
		return
	}
	r.N = s.Report.N + 1
	s.Report, s.Known, s.After = r, r, s.N
}

// short returns the needs of the steps that are held, beside those that are about to begin; none where no other plan may
// leave them more.
func short(s *PlanState, at a2a.Time) (needs opt.Usage) {
	if d := s.Directive; !d.Wait && d.Reserved == (opt.Usage{}) || !s.has(func(w *Work) bool { return w.Held }) {
		return needs
	}
	for _, t := range s.Plan.Tasks {
		switch w := s.Work[t.ID]; {
		case w == nil:
		case w.Held:
			needs = needs.Plus(w.needs())
		case w.Waiting:
			needs = needs.Plus(w.counted())
		}
	}
	budget := spending{s}
	if budget.budget().Over(budget.counted(at), needs) == (opt.SpendLimit{}) { // that of the plan alone holds them
		return opt.Usage{}
	}
	return needs
}

// conclude adds the results and the failure of an ended plan to r.
func (s *PlanState) conclude(r *opt.Report) {
	for _, t := range s.Plan.Tasks {
		if t.Broken() && r.Failure == "" {
			r.Failure = t.Failure
		}
	}
	r.Results, r.Shown = s.Plan.Results(), s.Shown
}

func (s *PlanState) results() results { return results{&s.Plan, s.Inputs, s.Reordered} }

// WorkOf returns the input of the executor for an activity of the plan.
func (s *PlanState) WorkOf(a Activity) opt.Work {
	t := s.Plan.Task(a.Of)
	w := s.Work[t.ID]
	out := opt.Work{
		Tenant: s.Tenant, ContextID: s.ContextID, ObjectiveID: s.Plan.ObjectiveID, PlanID: s.Plan.ID, TaskID: t.A2AID(),
		Objective: s.Objective, Plan: s.Plan.Name, Name: t.Name, Description: t.Description, Executor: t.Executor, Input: t.Input,
		Results: s.results().of(t), Replies: t.Replies, Refined: t.Refined,
		Round: w.Round, Attempt: w.Attempt, Key: fmt.Sprintf("%s:%d", t.A2AID(), w.Round), Trust: opt.Untrusted,
	}
	out.Messages, out.Notes, out.NotesTo = s.messages(t)
	if w.Root {
		out.RootID = s.RootID
	}
	out.Epoch = s.Epoch
	out.Leg, out.Streamed, out.Cancel, out.Memo = w.Leg, w.Streamed, w.Canceling, s.Memos[t.ID].Data
	if w.Canceling {
		out.Reason = s.why(t.A2AID())
	}
	out.SpentHere, out.Spent, out.Reserved = s.Spent[t.ID], spending{s}.all(s.Plan.UpdatedAt), s.Directive.Reserved
	out.Limits = spending{s}.forExecutors(s.Plan.UpdatedAt)
	return out
}

// QuestionOf returns what the activity that looks for a standing decision is asked.
func (s *PlanState) QuestionOf(a Activity, at a2a.Time) opt.StandingQuestion {
	t := s.Plan.Task(a.Of)
	q := opt.StandingQuestion{
		Tenant: s.Tenant, ObjectiveID: s.Plan.ObjectiveID, Gate: s.opening(t, s.Work[t.ID].Asked, at), Requesters: shapers(s),
	}
	if s.Work[t.ID].Asked == nil && countsQuestions(s) {
		q.ContextID, q.Counts = s.ContextID, true
		gate := q.Gate
		if s.results().check(t, &gate); !s.results().mayStand(t, gate) {
			q.Gate.Standing = ""
		}
	}
	return q
}

// countsQuestions reports whether quotas limit the gates of human tasks.
func countsQuestions(s *PlanState) bool {
	return s.Rules >= rulesQuotas && s.Plan.Limits.CountsQuestions
}

// why returns the reason of the client who cancels an A2A task, or the whole work; "" for none.
func (s *PlanState) why(taskID string) string { return cmp.Or(s.Why[taskID], s.Directive.Text) }

// explained returns the message of e, which cancels a task, with the reason of the client before what
// the agent says.
func (s *PlanState) explained(e opt.Event) *a2a.Message {
	why := s.why(e.TaskID)
	if why == "" {
		return e.Status
	}
	if e.Status != nil {
		why += "\n" + e.Status.Text()
	}
	return a2a.AgentMessage(s.ContextID, e.TaskID, ":status", why)
}

// messages lists the messages of clients that t works with: the request, the notes for the
// objective and those for t, each oldest first. It returns how many are notes, and notes for t.
func (s *PlanState) messages(t *opt.Task) (list []a2a.Message, notes, to int) {
	root, own := s.Notes, t.Notes
	if n, all := s.covered(&s.Plan, t, s.Directive.Covered); !all {
		root, own = root[:min(len(root), n.Root)], own[:min(len(own), n.Tasks[t.ID])]
	}
	if s.Request != nil {
		list = append(list, *s.Request)
	}
	return slices.Concat(list, root, own), len(root) + len(own), len(own)
}

// opening returns the gate that is about to open at t, as in [Plan.openGate], without the notes. Its id
// is made from the number of gates before it, so it is the same on every replay.
func (s *PlanState) opening(t *opt.Task, asked *opt.Gate, at a2a.Time) opt.Gate {
	var gate opt.Gate
	if asked == nil {
		gate = s.results().formed(t)
	} else {
		gate = *asked
		gate.Sources, gate.Form, gate.Keep = nil, nil, false
		if s.Rules >= rulesStanding {
			gate.Checks = nil // no executor speaks for them
		}
	}
	if s.Rules >= rulesCalendars {
		gate = gate.Clocked(at, s.Rules >= rulesClocks)
	}
	gate = gate.Opened(at, s.Plan.Limits.GateTimeout)
	gate.ID, gate.TaskID, gate.Standing = opt.GateIDIn(s.Epoch, t.A2AID(), t.Gates+1), t.A2AID(), ""
	if gate.Kind == opt.Approval && s.Rules >= rulesStanding {
		gate.Standing = t.Standing
	}
	gate.ObjectDigest = gate.Digest()
	return gate
}

// keeps reports whether the decision in the original of a fork decides at a gate that is about to open at t,
// which only asks. It does so once: people decide after a retry, after a reset, at later gates of t, and where a client
// has a part in what comes before it.
func keeps(s *PlanState, t *opt.Task, gate *opt.Gate) bool {
	first := t.Gates == 0 && s.Plan.Run <= 1 && s.Epoch <= 1 && !s.Reordered
	byServer := !slices.ContainsFunc(slices.Concat(s.Plan.Before(t), s.Plan.Inputs(t)), byClient)
	return s.Rules >= rulesKept && t.Ask != nil && first && byServer && gate.Keeps(shapers(s)...)
}

// shapers lists all who shaped the work of a plan, also who asked for it.
func shapers(s *PlanState) []string { return slices.Concat(s.Shapers, []string{s.Requester}) }

// seated has the sender of a reply decide in the place of one that it is a deputy for, if it may not itself.
// It returns the groups of who decides then.
func seated(s *PlanState, t *opt.Task, reply *opt.Reply, l opt.Letter) []string {
	reply.For = nil
	if s.Rules < rulesDeputies || t == nil || t.Gate == nil || reply.Action == opt.Ask {
		return l.Groups
	}
	seat := t.Gate.DeputyFor(l.Principal, l.Groups, l.Seats, shapers(s)...)
	if seat == nil {
		return l.Groups
	}
	reply.For = &opt.Seat{AbsenceID: seat.AbsenceID, Principal: seat.Principal, MadeBy: seat.MadeBy}
	return seat.Groups
}

// judge returns the verdict on a reply of a principal that belongs to groups.
func (s *PlanState) judge(t *opt.Task, reply opt.Reply, groups []string) opt.Verdict {
	switch {
	case t == nil || t.Gate == nil || t.Gate.ID != reply.GateID:
		return opt.NotWaiting
	case reply.Action != opt.Ask && reply.For == nil && !t.Gate.Responders.Allow(reply.DecidedBy, groups, shapers(s)...):
		return opt.NotAllowed
	case t.Gate.Kind == opt.Credential && reply.Action == "" && reply.Feedback != "" && len(t.Gate.Actions) > 0: // words
	case t.Gate.Kind != opt.Clarification && !t.Gate.Allows(reply.Action), t.Gate.Kind == opt.Clarification && len(reply.Answers) == 0:
		return opt.NotOffered
	case reply.ObjectDigest != "" && reply.ObjectDigest != t.Gate.ObjectDigest:
		return opt.OtherThing
	case reply.Action != opt.Ask && t.Gate.Voted(reply.DecidedBy):
		return opt.HasVoted
	}
	return opt.Accepted
}

// decided returns the record of a verdict on a reply to the A2A task with an id: the
// next one in the chain of the plan. d has the members that reply does not have. It
// is called once for each reply, before the gate changes, and its result goes into an
// event that is recorded.
//
// A run that began under earlier rules has no chain, since its first records would be
// missing.
func (s *PlanState) decided(taskID string, reply opt.Reply, v opt.Verdict, d opt.Decision) *opt.Decision {
	if s.Rules < rulesChain {
		return nil
	}
	d.ObjectiveID, d.PlanID, d.Attempt, d.TaskID, d.GateID = s.Plan.ObjectiveID, s.Plan.ID, max(s.Plan.Run, 1), taskID, reply.GateID
	d.Action, d.Verdict, d.DecidedBy, d.For, d.Groups, d.DecidedAt = reply.Action, v, reply.DecidedBy, reply.For, reply.Groups, reply.At
	d.MessageID, d.SeenDigest, d.Epoch = reply.MessageID, reply.ObjectDigest, s.Epoch
	if t := s.Plan.Task(taskID); t != nil && t.Gate != nil && t.Gate.ID == reply.GateID {
		d.Kind, d.ObjectDigest = t.Gate.Kind, t.Gate.ObjectDigest
		d.Closed = v == opt.Accepted && reply.Action != opt.Ask && (reply.MessageID == "" || t.Gate.Decides(reply.Action))
	}
	return s.Chain.Add(d)
}

// found is decided for the findings about the object of a gate, which is not open.
func (s *PlanState) found(t *opt.Task, gate opt.Gate, reply opt.Reply, v opt.Verdict) *opt.Decision {
	if v == opt.Accepted {
		reply.GateID = "" // no gate opens
	}
	return s.decided(t.A2AID(), reply, v, opt.Decision{
		Kind: gate.Kind, ObjectDigest: gate.ObjectDigest, Closed: v == opt.Accepted, Checks: gate.Checks,
	})
}

// canceledBy returns what the event that cancels t for a client has beside the move: the decision of
// the client on a gate that is open. A gate at which work elsewhere is watched closes when that has
// stopped, without one.
func (s *PlanState) canceledBy(t *opt.Task, principal string, at a2a.Time) (e opt.Event) {
	if w := s.Work[t.ID]; t.Gate != nil && s.Rules >= rulesCanceled && (w == nil || !w.Running) {
		reply := opt.Reply{GateID: t.Gate.ID, DecidedBy: principal, At: at} // it has no action: to cancel is not to reject
		e = opt.Event{Principal: principal, Decision: s.decided(t.A2AID(), reply, opt.Accepted, opt.Decision{ByHand: true})}
	}
	return e
}

// closedByHand is decided for the open gate of t, which is about to close because a client
// moves t to a state.
func (s *PlanState) closedByHand(t *opt.Task, to opt.TaskState, principal string, at a2a.Time) *opt.Decision {
	var action opt.Action
	switch {
	case t.Gate.Kind != opt.Approval:
	case stops(to):
		action = opt.Reject
	default:
		action = opt.Accept
	}
	reply := opt.Reply{GateID: t.Gate.ID, Action: action, DecidedBy: principal, At: at}
	s.approve(&s.Plan, t, reply)
	return s.decided(t.A2AID(), reply, opt.Accepted, opt.Decision{ByHand: true})
}
