package machine

import (
	"cmp"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// An Objective is the machine of one objective. It is for one goroutine.
type Objective struct {
	State ObjectiveState

	now    a2a.Time
	events []opt.Event
}

// ObjectiveState is all that an objective knows, and all that a run of its
// workflow passes to the next.
type ObjectiveState struct {
	Rules     int            `json:"rules"` // version of the rules of the run
	Objective opt.Objective  `json:"objective"`
	N         int64          `json:"n"`                   // of its latest event
	Epoch     int            `json:"epoch,omitempty"`     // of its source; 0 for the first
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
	Shaped    bool           `json:"shaped,omitempty"` // another principal has shaped the work, and no event has said so yet

	Seen      map[string]bool `json:"seen,omitempty"`     // letters, so that a repeat changes nothing
	Answered  map[string]bool `json:"answered,omitempty"` // commands, by id
	Commands  []opt.Command   `json:"commands,omitempty"` // that wait, oldest first
	Current   *Current        `json:"current,omitempty"`  // the one that is being applied
	Overdue   []Overdue       `json:"overdue,omitempty"`  // those that plans have not answered in time
	Links     []*Link         `json:"links,omitempty"`    // to the plans, in their order
	Making    *Making         `json:"making,omitempty"`   // plans that a planner is making
	Makings   int             `json:"makings,omitempty"`  // how often a planner was asked
	Kept      *Kept           `json:"kept,omitempty"`     // the former attempt, for the command that retries the objective
	Loads     int             `json:"loads,omitempty"`    // how often a former attempt was read
	Loading   bool            `json:"loading,omitempty"`
	Ended     int64           `json:"ended,omitempty"` // event that must be recorded before the former attempt is read
	Turn      TurnState       `json:"turn,omitzero"`
	Leaving   bool            `json:"leaving,omitempty"`   // the run is about to continue as new
	Forgotten bool            `json:"forgotten,omitempty"` // the journal has a later attempt, which the reconciler ends
}

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
	Noted     int       `json:"noted,omitempty"`   // how many messages to the root task were delivered with directives
	Found     bool      `json:"found,omitempty"`   // it ran already when the objective, which was rewound, was about to begin it
	Unheard   bool      `json:"unheard,omitempty"` // it may do what an earlier run of the objective has asked for, and has not reported since that was rewound
	Gone      bool      `json:"gone,omitempty"`    // its workflow has ended, and this run will get its result
}

// Making is a request to the planner.
type Making struct {
	Key    string `json:"key"`
	Replan bool   `json:"replan,omitempty"` // replaces the plans that have not ended
	Keep   bool   `json:"keep,omitempty"`   // these stay if there are no better ones
	Begun  bool   `json:"begun,omitempty"`  // the objective has had its turn since then
}

// Current is the command that is being applied.
type Current struct {
	Command opt.Command `json:"command"`
	PlanID  string      `json:"planId,omitempty"`  // the plan whose answer is awaited
	Echo    bool        `json:"echo,omitempty"`    // applied; answered when every plan has confirmed it
	Loading bool        `json:"loading,omitempty"` // the former attempt is being read

	Unchanged bool `json:"unchanged,omitempty"` // with Echo: the command changed nothing
}

// An Overdue command was passed on to a plan that has not answered by its deadline. Others do
// not wait for it. It is answered when that is known: the plan refuses it if it acts later.
type Overdue struct {
	Command opt.Command `json:"command"`
	N       int64       `json:"n"` // of the latest directive that passes it on
}

// NewObjective returns the machine of a new objective with a version of the rules. Its first
// input is Opened.
func NewObjective(o opt.Opening, idleFor int64, rules int) *Objective {
	m := &Objective{State: ObjectiveState{
		Rules: rules, Objective: o.Objective, Request: o.Message, Given: o.Plans, Unplanned: o.Message != nil && len(o.Plans) == 0,
		Idle: o.Idle, IdleFor: idleFor, IdleSince: o.Objective.CreatedAt,
	}}
	if !o.Objective.QueuedAt.IsZero() {
		m.State.Turn = TurnState{Shared: true, Want: WantTurn}
	}
	return m
}

// RestoreObjective returns the machine of an objective that has ended, for a
// command that may retry it, or that was lost.
func RestoreObjective(kept Kept, idleFor int64, rules int) *Objective {
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
		Rules: rules, Objective: o, Epoch: kept.Epochs[o.ID], Request: kept.Request, IdleFor: idleFor, Kept: &kept,
	}}
	m.State.N = kept.Recorded[m.State.Source()]
	s := &m.State
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
		s.Links = append(s.Links, &Link{PlanID: p.ID, Begun: true})
	}
	return m
}

// Rules is the version of the rules in this package. A later rule that would
// change the events or wants of a run that began under an earlier one asks
// State.Rules. A run has the version that its input names, so that each replay has the
// same, and the next run of the same work, too: a list in order under an earlier version may
// be none under a later one.
const Rules = 4

// rulesChain is the version of the rules from which on a plan records its decisions
// in a chain.
const rulesChain = 2

// rulesOrder is the version of the rules from which on plans and tasks without dependencies
// of their own keep their place in the list.
const rulesOrder = 3

// Loose reports whether work under a version of the rules is [opt.Objective.Loose].
func Loose(rules int) bool { return rules < rulesOrder }

// rulesShapers is the version of the rules from which on an objective records at once who has
// shaped its work, and not only with its next event.
const rulesShapers = 4

// Source returns the source of the events.
func (s *ObjectiveState) Source() string { return opt.InEpoch(s.Objective.ID, s.Epoch) }

func (m *Objective) commands() commands { return commands{m} }
func (m *Objective) plans() plans       { return plans{m} }

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
		m.stopFor(in.Principal, opt.ObjectiveCanceled)
	case Rewound:
		objectiveRewind{m}.onRewound(in)
	case Forgotten:
		m.State.Forgotten = true
	case Letter:
		m.onLetter(in.Letter)
	case Command:
		m.commands().onCommand(in.Command)
	case Reported:
		m.plans().onReported(in)
	case ChildStarted, ChildRefused, ChildEnded, PlanLost:
		m.plans().onChild(in)
	case ObjectiveLost:
		m.onLost()
	case Made:
		m.plans().onMade(in)
	case Loaded:
		m.commands().onLoaded(in)
	case Turn:
		m.onTurn(in)
	case Elapsed:
		m.plans().onElapsed(in.Key)
	case Delivered:
		m.plans().onDelivered(in)
	case Leaving:
		m.State.Leaving = true
	}
	m.settle()
	return m.events
}

// made returns m, or an empty map for none.
func made[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return m
}

// settle applies all consequences: the next command is applied, the work begins,
// the status follows the plans, and the directives are updated.
func (m *Objective) settle() {
	for again := true; again; {
		again = m.follow()
		again = m.commands().nextCommand() || again
		again = m.beginInTurn() || again
		m.plans().makeInTurn()
		m.recordShapers()
		again = m.plans().direct() || again
		again = m.commands().finishCommand() || again
	}
	m.requestTurn()
}

// follow makes the objective's status follow its plans, and the root task both.
func (m *Objective) follow() bool {
	any := false
	o := &m.State.Objective
	for events := o.Next(m.now); len(events) > 0; events = o.Next(m.now) {
		for _, e := range events {
			m.apply(e)
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
		e.Head, e.Text = o.Head(), o.Text()
	case opt.PlanChanged:
		e.Text = o.Plan(e.PlanID).Text()
	case opt.PlanMoved:
		e.PlanHead = o.Plan(e.PlanID).Head()
	}
	m.record(e)
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
}

// onOpened records that the objective exists, and begins the work unless it waits
// for a client to start it.
func (m *Objective) onOpened() {
	s := &m.State
	opening := opt.Opening{Objective: s.Objective, Message: s.Request, Plans: s.Given}
	e := opening.Event()
	s.N++
	m.events = append(m.events, e)
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
	if s.Begin = !m.mayWork() || o.Paused; s.Begin {
		return
	}
	given := s.Given
	s.Given = nil
	to := opt.ObjectiveWorking
	if len(given) == 0 && (s.Unplanned || len(o.Plans) == 0 && s.Request != nil) {
		to = opt.ObjectivePlanning
	}
	if !o.Status.May(to) { // a client already works on a plan by hand; the tables have no direct move
		m.move(opt.ObjectiveBlocked, opt.BlockedByOperator)
	}
	if to == opt.ObjectiveWorking {
		m.move(to, "")
		m.plans().addFirst(given)
		return
	}
	m.moveToPlanning()
	m.plans().make(len(o.Plans) > 0 && !m.neverPlanned())
}

// neverPlanned reports whether no plan was made for the request yet. Plans that clients have
// added before are no plans for it: those that the planner makes come beside them.
func (m *Objective) neverPlanned() bool {
	s := &m.State
	return s.Request != nil && s.Makings == 0 && !s.Anew && s.Objective.Attempt == 1
}

// moveToPlanning shows that plans are being made: the first ones, or
// replacements.
func (m *Objective) moveToPlanning() {
	reason := ""
	if len(m.State.Objective.Plans) > 0 {
		reason = opt.Replanning
	}
	m.move(opt.ObjectivePlanning, reason)
}

// beginInTurn begins the work when its turn has come, and no pause holds it back.
func (m *Objective) beginInTurn() bool {
	o := &m.State.Objective
	if !m.State.Begin || (!m.mayWork() || o.Paused) && !o.Closed() {
		return false
	}
	m.begin()
	return true
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

func (m *Objective) move(to opt.ObjectiveStatus, reason string) {
	m.apply(opt.Event{Kind: opt.ObjectiveMoved, From: string(m.State.Objective.Status), To: string(to), Reason: reason})
}

// stop ends the objective after its plans have ended.
func (m *Objective) stop(as opt.ObjectiveStatus, cause string, text *a2a.Message) {
	m.stopBy(opt.Event{Reason: string(as), Cause: cause, Status: text})
}

// stopFor is stop, for a principal.
func (m *Objective) stopFor(principal string, as opt.ObjectiveStatus) {
	m.stopBy(opt.Event{Reason: string(as), Principal: principal})
}

func (m *Objective) stopBy(e opt.Event) {
	if !m.State.Objective.Closed() {
		e.Kind = opt.ObjectiveStopping
		m.plans().dropMaking()
		m.apply(e)
	}
}

// onLost ends an objective whose former workflow was ended by an operator: its plans that
// have started failed, and the others are skipped.
func (m *Objective) onLost() {
	s := &m.State
	s.Kept = nil // a retry needs it as it is after this
	if s.Objective.Status.Ended() {
		return
	}
	at := m.now.Millis()
	s.Lost = true
	s.Turn = TurnState{Shared: true, Want: WantTurn, N: at, Delivered: at} // its context may have given it the turn
	m.stop(opt.ObjectiveFailed, opt.Terminated, m.say(":terminated", opt.TerminatedText))
	for _, l := range s.Links {
		switch p := s.Objective.Plan(l.PlanID); {
		case p.Over():
		case p.Started, p.Status == opt.PlanWorking: // by hand
			m.plans().lost(l)
		default:
			m.plans().movePlan(p, opt.PlanSkipped, opt.Terminated)
			p.Report = &opt.Report{Attempt: p.Run, Status: p.Status, Reason: p.Reason}
		}
	}
}

// fail fails the objective for a reason other than a plan.
func (m *Objective) fail(text string) {
	m.stop(opt.ObjectiveFailed, "", m.say(":failure", text))
}

// say returns an agent's message on the root task. Its id ends in suffix, which
// is used once in an attempt.
func (m *Objective) say(suffix, text string) *a2a.Message {
	o := &m.State.Objective
	return &a2a.Message{
		MessageID: o.RootID() + suffix, ContextID: o.ContextID, TaskID: o.RootID(), Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart(text)},
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
		m.shapedBy(l.Principal)
		if starts {
			e.Reason = opt.Begins
		}
	}
	m.apply(e)
	switch {
	case e.Verdict != opt.Noted:
	case starts:
		s.Request, s.Starter = &l.Message, l.Principal
		m.start(l.QueuedAt)
	default:
		s.Notes = append(s.Notes, authored(l.Message, l.Principal))
	}
}

// Asked returns the request with its author, nil if there is none.
func (s *ObjectiveState) Asked() *a2a.Message {
	if s.Request == nil {
		return nil
	}
	message := authored(*s.Request, cmp.Or(s.Starter, s.Objective.Principal))
	return &message
}

// shapedBy notes that a principal has shaped the work.
func (m *Objective) shapedBy(principal string) {
	o := &m.State.Objective
	if principal != "" && principal != o.Principal && !slices.Contains(o.Shapers, principal) {
		o.Shapers, m.State.Shaped = append(slices.Clone(o.Shapers), principal), true
	}
}

// recordShapers records who has shaped the work, for those who look for gates that they may
// answer, if no other event has said so. The end of an objective stays its last event.
func (m *Objective) recordShapers() {
	s := &m.State
	if s.Shaped && s.Rules >= rulesShapers && !s.Objective.Status.Ended() {
		m.apply(opt.Event{Kind: opt.ObjectiveChanged, Revision: s.Objective.Revision})
	}
}

// authored returns a message with its author, for executors.
func authored(message a2a.Message, principal string) a2a.Message {
	message.Metadata = message.Metadata.With(opt.KeyAuthor, principal)
	return message
}

// Wants returns what should run or be known outside.
func (m *Objective) Wants() Wants {
	var w Wants
	s := &m.State
	if s.Forgotten {
		return Wants{Done: &Done{Status: string(s.Objective.Status)}, Forget: true}
	}
	if s.Making != nil && s.Making.Begun {
		w.Activities = append(w.Activities, Activity{Key: s.Making.Key, Kind: MakePlans, Of: s.Objective.ID})
	}
	if s.Loading {
		w.Activities = append(w.Activities, Activity{Key: m.commands().loadKey(), Kind: LoadKept, Of: s.Objective.ID, After: s.Ended})
	}
	w.Timers = m.plans().timers()
	for _, l := range s.Links {
		p := s.Objective.Plan(l.PlanID)
		switch {
		case !l.Begun && l.RetryAt.IsZero():
			w.Children = append(w.Children, Child{PlanID: l.PlanID, Attempt: p.Run, Try: l.Try, N: l.Directive.N, After: l.After})
		case l.Begun && !p.Over() && l.Directive.N > l.Delivered:
			w.Signals = append(w.Signals, Signal{To: l.PlanID, N: l.Directive.N, After: l.Changed, Notes: l.Directive.Notes})
		}
		w.Bound = w.Bound || l.Own && !p.Over() && (l.Gone || !l.Directive.ReportEnd || l.Delivered < l.Directive.N)
	}
	w.Signals = append(w.Signals, s.Turn.signals()...)
	if m.done() {
		w.Done = &Done{Status: string(s.Objective.Status), Failure: s.Objective.Failure}
	}
	return w
}

// done reports whether the workflow may end: everything that it began has ended,
// and no command waits.
func (m *Objective) done() bool {
	s := &m.State
	open := slices.ContainsFunc(s.Links, func(l *Link) bool { return !l.Begun || !s.Objective.Plan(l.PlanID).Over() })
	return s.Objective.Settled() && !open && s.Current == nil && len(s.Overdue)+len(s.Commands) == 0 && s.Turn.N == s.Turn.Delivered
}
