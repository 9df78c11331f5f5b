package machine

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// An Objective is the machine of one objective. It is for one goroutine.
type Objective struct {
	State ObjectiveState

	now    a2a.Time
	events []opt.Event
}

// NewObjective returns the machine of a new objective with a version of the rules. Its first
// input is Opened.
func NewObjective(o opt.Opening, idleFor int64, rules int) *Objective {
	m := &Objective{State: ObjectiveState{
		Rules: rules, Objective: o.Objective, Opened: rules >= rulesEnd, Request: o.Message, Given: o.Plans, Unplanned: o.Message != nil && len(o.Plans) == 0,
		Idle: o.Idle, IdleFor: idleFor, IdleSince: o.Objective.CreatedAt,
	}}
	if !o.Objective.QueuedAt.IsZero() {
		m.State.Turn = TurnState{Shared: true, Want: WantTurn}
	}
	m.State.Heard = o.Notes
	return m
}

// RestoreObjective returns the machine of an objective that has ended, for a
// command that may retry it, or that was lost: [ObjectiveLost] is its first input then. One that is open
// otherwise was begun again by the same run, which an operator has reset: nothing continues it.
func RestoreObjective(kept opt.Kept, idleFor int64, rules int) *Objective {
	o := kept.Objective
	o.Plans = nil
	switch { // the root task ended in the same state
	case o.Root.Ended(), !o.Status.Ended():
	case o.Reason == opt.ReasonRejected:
		o.Root = opt.TaskRejected
	default:
		o.Root = opt.TaskState(o.Status)
	}
	m := &Objective{State: ObjectiveState{
		Rules: rules, Objective: o, Epoch: kept.Epochs[o.ID], Request: kept.Request, Starter: kept.Starter, IdleFor: idleFor, Kept: &kept, Used: kept.Used,
	}}
	m.State.N = kept.Recorded[m.State.Source()]
	s := &m.State
	s.Forgotten = rules >= rulesReads && !kept.Objective.Status.Ended()
	s.Answered, s.Seen = made(s.Answered), made(s.Seen)
	for _, id := range kept.Heard {
		s.Seen[id] = true
	}
	for _, id := range kept.Answered {
		s.Answered[id] = true
	}
	if !kept.Objective.Started {
		s.Given, s.Unplanned = kept.Given, kept.Request != nil && len(kept.Given) == 0
	}
	for _, p := range kept.Objective.Plans {
		header := *p
		header.Tasks, header.Report = nil, &opt.Report{Attempt: p.Run, Status: p.Status, Reason: p.Reason, Results: p.Results(), Approved: approvals(p)}
		s.Objective.Plans = append(s.Objective.Plans, &header)
		s.Links = append(s.Links, &Link{PlanID: p.ID, Begun: true, Before: kept.UsedBy[p.ID]})
	}
	return m
}

// Rules is the version of the rules in this package. A later rule that would
// change the events or wants of a run that began under an earlier one asks
// State.Rules. A run has the version that its input names, so that each replay has the
// same, and the next run of the same work, too: a list in order under an earlier version may
// be none under a later one.
const Rules = 45

// The versions of the rules from which on something holds, as each says.
const (
	rulesChain          = 2  // a plan records its decisions in a chain
	rulesOrder          = 3  // plans and tasks without dependencies of their own keep their place in the list
	rulesShapers        = 4  // an objective records at once who has shaped its work, and not only with its next event
	rulesCanceled       = 5  // a gate that is closed by the cancel of its task alone has a decision
	rulesGates          = 6  // a plan of which nothing but gates begins opens these with its first events, and what records events of a plan sends its report, too
	rulesUsage          = 7  // the usage of models has events, and the end of an objective has their sum
	rulesPatient        = 8  // a plan that has just begun a task waits with its report
	rulesEnd            = 13 // the last events of an objective go with its result
	rulesSoon           = 15 // the first events of a plan may ride in the activity of its first task
	rulesStanding       = 16 // standing decisions are looked up before a gate opens about which they may decide
	rulesNotes          = 17 // a note ends the wait of a task that asks for it
	rulesBudget         = 18 // plans keep the budget of the request, and count what others use as it is reported
	rulesFound          = 19 // an objective sends its directive to each run of a plan that it finds in place of its own, also to one of an attempt before, which ends then
	rulesDeputies       = 19 // deputies decide in the place of others
	rulesCalendars      = 20 // steps of a gate may count working time
	rulesPlaybookBudget = 21 // plans have the budget of their playbook, and what it holds back asks at one gate
	rulesLimits         = 22 // events with the use of a plan say what the request may use
	rulesCollected      = 24 // a task keeps what it has made when it asks a person, for those that wait for it
	rulesKept           = 25 // a fork keeps decisions of its original where its playbook says so
	rulesShares         = 26 // plans at the same time share the rest of a budget
	rulesQuotas         = 27 // a step that a quota holds back says so, legs that take in work elsewhere are known, and quotas hold back the questions of human tasks
	rulesClocks         = 28 // steps of a gate may have calendars of their own, and working time counts between a late step and the next
	rulesReorder        = 30 // clients may change the order of tasks that have not begun
	rulesCheck          = 33 // an objective has it checked that a plan is gone
	rulesTime           = 34 // plans count how long their tasks run
	rulesLookAgain      = 35 // a human task whose question has waited for a budget looks for standing decisions and for room in the quotas again
	rulesBusy           = 35 // a plan that asks for a raise of its own budget leaves it to others to ask for one of the budget that they share
	rulesTimeouts       = 36 // the wait for a worker is no part of the time of a task that Temporal has timed out
	rulesAlone          = 36 // an objective that is begun again since a plan seemed lost does not wait for it if it runs
	rulesReads          = 37 // the run of a retry that has read the retry itself, since it was reset, ends, and a rewound objective does not wait for ever for the result of a plan
	rulesTimedOut       = 38 // the error of an executor is none of these, also with that code
	rulesReplaced       = 38 // a retry leaves out plans that come after a question that was replaced
	rulesAsks           = 39 // a rewound objective that is alone asks its context for the turn
	rulesEnds           = 39 // a plan in a later epoch reports its end by signal, and one that has found no objective reports to it again once that was reset
	rulesOver           = 42 // a plan that was reset after its end does not wait for its objective, and what an attempt at a task took before the leg in which it ends is counted at once
	rulesPermits        = 43 // a plan that was reset needs a new permission
	rulesRoll           = 44 // a context that an operator has ended or reset asks all its members whether they work before it gives the turn to any.
	rulesLeave          = 45 // a context that is about to continue as new sends no more of its roll: the next run does
)

// Loose reports whether work under a version of the rules is [opt.Objective.Loose].
func Loose(rules int) bool { return rules < rulesOrder }

func (m *Objective) commands() commands { return commands{&m.State, m.now, m} }

// Handle handles one input and returns the events that follow from it.
func (m *Objective) Handle(now a2a.Time, in Input) []opt.Event {
	m.now, m.events = now, nil
	m.State.Objective.Loose = Loose(m.State.Rules)
	if s := &m.State; s.Seen == nil || s.Answered == nil { // a stored empty map is nil when it is read
		s.Seen, s.Answered = made(s.Seen), made(s.Answered)
	}
	switch in := in.(type) {
	case Opened:
		m.onOpened()
	case Canceled:
		m.stop(in.event(&m.State.Objective))
	case Rewound:
		m.events = m.State.rewind(m.now, in)
	case Forgotten:
		m.State.Forgotten = true
	case Letter:
		m.onLetter(in.Letter)
	case Command:
		m.commands().take(in.Command)
	case Reported:
		m.onReported(in)
	case ChildStarted, ChildRefused, ChildEnded:
		m.onChild(in)
	case PlanLost, Checked, Asked:
		onMissing(m, in)
	case ObjectiveLost:
		m.onLost()
	case Made:
		m.onMade(in)
	case Loaded:
		m.commands().load(in)
	case Turn:
		m.onTurn(in)
	case Elapsed:
		m.onElapsed(in.Key)
	case Delivered:
		m.onDelivered(in)
	case Leaving:
		m.State.Leaving = true
	}
	m.settle()
	return m.events
}

// settle applies all consequences: the next command is applied, the work begins,
// the status follows the plans, and the directives are updated. Who has shaped the work is recorded for
// those who look for gates that they may answer, if no other event has done so.
// At the end the context gets a request if what the objective wants of it has changed.
func (m *Objective) settle() {
	s := &m.State
	for again := true; again; {
		again = follow(s.Objective.Next, m.now, m.apply)
		again = m.commands().beginNext() || again
		if s.mayBegin() {
			m.begin()
			again = true
		}
		s.makeInTurn()
		if s.Shaped && s.Rules >= rulesShapers && !s.Objective.Status.Ended() { // the end of an objective stays its last event
			m.apply(opt.Event{Kind: opt.ObjectiveChanged, Revision: s.Objective.Revision})
		}
		again = m.direct() || again
		again = m.commands().finish() || again
	}
	if s.Turn.Shared {
		ask(s, m.now)
	}
}

// follow applies events until none follow any more. It reports whether there were any.
func follow(next func(a2a.Time) []opt.Event, now a2a.Time, apply func(opt.Event)) (any bool) {
	for events := next(now); len(events) > 0; events = next(now) {
		for _, e := range events {
			apply(e)
		}
		any = true
	}
	return any
}

// apply changes the objective and keeps the event for the journal. It panics if
// the model refuses the event, which is a bug in this package.
func (m *Objective) apply(e opt.Event) {
	o := &m.State.Objective
	e.At = m.now
	if err := o.Apply(e); err != nil {
		panic(err)
	}
	switch e.Kind {
	case opt.ObjectiveMoved, opt.ObjectiveStopping, opt.ObjectivePaused, opt.ObjectiveResumed, opt.ObjectiveRetried, opt.ObjectiveQueued:
		e.Head = o.Head()
	case opt.ObjectiveChanged:
		e.Head, e.Text = m.State.Objective.Head(), o.Text()
	case opt.PlanChanged:
		e.Text = o.Plan(e.PlanID).Text()
	case opt.PlanMoved:
		e.PlanHead = o.Plan(e.PlanID).Head()
	case opt.TaskMoved:
		if u := usedBy(&m.State); opt.TaskState(e.To).Ended() && !u.IsZero() && m.State.Rules >= rulesUsage {
			e.Usage = &u
		}
	}
	m.record(e)
}

// use records the usage of a planner; nil for none.
func (m *Objective) use(u *opt.Usage) {
	if u != nil && !u.IsZero() && m.State.Rules >= rulesUsage {
		m.State.Used = m.State.Used.Plus(*u)
		m.record(opt.Event{Kind: opt.UsageAdded, At: m.now, Usage: u})
	}
}

// record keeps an event for the journal that changes nothing here.
func (m *Objective) record(e opt.Event) {
	if m.State.Shaped && e.Head == nil {
		e.Head = m.State.Objective.Head()
	}
	m.State.Shaped = false
	m.State.N++
	e.N = m.State.N
	m.events = append(m.events, e)
	if e.Kind == opt.ObjectiveMoved && m.State.Objective.Status.Ended() {
		m.State.End = e.N
	}
}

// onOpened records that the objective exists, and begins the work unless it waits
// for a client to start it.
func (m *Objective) onOpened() {
	s := &m.State
	opening := opt.Opening{Objective: s.Objective, Message: s.Request, Plans: s.Given}
	e := opening.Event()
	s.N++
	m.events = append(m.events, e)
	notes := s.Heard
	s.Heard = nil
	for _, l := range notes {
		m.onLetter(l)
	}
	if !s.Idle {
		m.begin()
	}
}

// begin starts the work once the objective has its turn: with the plans that are
// known, or by making some.
func (m *Objective) begin() {
	s, o := &m.State, &m.State.Objective
	s.Idle = false
	if o.Started || o.Closed() {
		s.Begin = false
		return
	}
	if s.Begin = !s.Turn.mayWork() || o.Paused; s.Begin {
		return
	}
	given := s.Given
	s.Given, s.Since = nil, m.now
	to := opt.ObjectiveWorking
	if len(given) == 0 && (s.Unplanned || len(o.Plans) == 0 && s.Request != nil) {
		to = opt.ObjectivePlanning
	}
	if !o.Status.May(to) { // a client already works on a plan by hand; the tables have no direct move
		m.move(opt.ObjectiveBlocked, opt.BlockedByOperator)
	}
	m.move(to, "")
	if to == opt.ObjectiveWorking {
		m.addFirst(given)
		return
	}
	s.make(len(o.Plans) > 0 && !s.neverPlanned())
}

// start starts the objective, behind others if it has a place in the queue of its
// context.
func (m *Objective) start(queuedAt a2a.Time) {
	if !queuedAt.IsZero() && !m.State.Objective.Started {
		m.queue(queuedAt)
	}
	m.begin()
}

// endPause ends the pause by a client, if there is one.
func (m *Objective) endPause() {
	if m.State.Objective.Paused {
		m.apply(opt.Event{Kind: opt.ObjectiveResumed})
	}
}

// queue makes the objective wait for its turn, since the time of its place.
func (m *Objective) queue(at a2a.Time) {
	m.apply(opt.Event{Kind: opt.ObjectiveQueued, QueuedAt: at})
	m.State.Turn.share()
}

func (m *Objective) move(to opt.ObjectiveStatus, reason string) {
	if to == opt.ObjectivePlanning && len(m.State.Objective.Plans) > 0 {
		reason = opt.Replanning // of those that have not ended
	}
	m.apply(opt.Event{Kind: opt.ObjectiveMoved, From: string(m.State.Objective.Status), To: string(to), Reason: reason})
}

// stop ends the objective after its plans have ended. e has the status to end with as its reason.
func (m *Objective) stop(e opt.Event) {
	if !m.State.Objective.Closed() {
		e.Kind = opt.ObjectiveStopping
		m.State.dropMaking()
		m.apply(e)
	}
}

// onLost ends an objective whose former workflow was ended by an operator: its plans that
// have started failed, and the others are skipped.
func (m *Objective) onLost() {
	s := &m.State
	s.Kept, s.Forgotten = nil, false // a retry needs it as it is after this
	if s.Objective.Status.Ended() {
		return
	}
	at := m.now.Millis()
	s.Lost = true
	s.Turn = TurnState{Shared: true, Want: WantTurn, N: at, Delivered: at} // its context may have given it the turn
	m.stop(opt.Event{Reason: string(opt.ObjectiveFailed), Cause: opt.Terminated, Status: a2a.AgentMessage(s.Objective.ContextID, s.Objective.RootID(), ":terminated", opt.TerminatedText)})
	for _, l := range s.Links {
		switch p := s.Objective.Plan(l.PlanID); {
		case p.Over():
		case p.Started, p.Status == opt.PlanWorking: // by hand
			m.lost(l)
		default:
			m.movePlan(p, opt.PlanSkipped, opt.Terminated)
			p.Report = &opt.Report{Attempt: p.Run, Status: p.Status, Reason: p.Reason}
		}
	}
}

// onLetter handles a message: it starts an objective that waits to be started, or
// is added to the conversation. A repeated letter changes nothing.
func (m *Objective) onLetter(l opt.Letter) {
	s, o := &m.State, &m.State.Objective
	key := l.ID()
	if s.Seen[key] {
		return
	}
	s.Seen[key] = true
	starts := s.Idle && !s.Begin && !o.Started && !o.Closed()
	e := opt.Event{
		Kind: opt.MessageAdded, TaskID: l.TaskID, ForTask: l.ForTask, Message: &l.Message, Principal: l.Principal, Key: l.Key,
		Reply: l.Reply, Verdict: opt.Noted,
	}
	switch {
	case l.Reply != nil: // gates belong to plans
		e.Verdict = opt.NotWaiting
	case l.Begins && !starts:
		e.Verdict = opt.NotIdle
	case o.Status.Ended() || l.TaskID != o.RootID():
		e.Verdict = opt.TooLate
	}
	if e.Verdict == opt.Noted {
		for _, principal := range append([]string{l.Principal}, l.Shapers...) {
			s.shapedBy(principal)
		}
		if starts {
			e.Reason = opt.Begins
		}
	}
	m.apply(e)
	switch {
	case e.Verdict != opt.Noted:
	case starts:
		replaceRequest(s, l)
		m.start(l.QueuedAt)
	default:
		s.Notes = append(s.Notes, authored(l.Message, l.Principal))
	}
}

// onTurn handles a turn from the context.
func (m *Objective) onTurn(in Turn) {
	s := &m.State
	if in.Tenant != s.Objective.Tenant {
		return
	}
	attempt, rewound := s.turnAttempt(), s.Epoch > 1
	if retried := in.Attempt > attempt && rewound && !s.Objective.Status.Ended(); s.Rules >= rulesRoll {
		takeTurn(s, in, retried)
	} else if s.Turn.take(in, attempt, rewound, retried) {
		s.loseTurn()
	}
}

// Wants returns what should run or be known outside.
func (m *Objective) Wants() Wants {
	var w Wants
	s := &m.State
	if s.Forgotten {
		return leavingWants(s)
	}
	if s.Making != nil && s.Making.Begun {
		w.Activities = append(w.Activities, Activity{Key: s.Making.Key, Kind: MakePlans, Of: s.Objective.ID})
	}
	if s.Loading {
		w.Activities = append(w.Activities, Activity{Key: s.loadKey(), Kind: LoadKept, Of: s.Objective.ID, After: s.Ended})
	}
	w.Timers = s.timers()
	for _, l := range s.Links {
		l.addWants(&w, s.Objective.Plan(l.PlanID))
	}
	addTurnWants(s, &w)
	if s.done() {
		w.Done = &Done{Status: string(s.Objective.Status), Failure: s.Objective.Failure}
	}
	return w
}
