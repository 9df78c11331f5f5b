package machine

import (
	"fmt"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Plan is the machine of one plan. It is for one goroutine.
type Plan struct {
	State PlanState

	now    a2a.Time
	events []opt.Event
}

// PlanState is all that a plan knows.
type PlanState struct {
	Rules     int                  `json:"rules"` // version of the rules of the run
	Plan      opt.Plan             `json:"plan"`
	N         int64                `json:"n"`                   // of its latest event
	Epoch     int                  `json:"epoch,omitempty"`     // of its source; 0 for the first
	Above     int                  `json:"above,omitempty"`     // the latest epoch of the objective in a directive
	Rewind    bool                 `json:"rewind,omitempty"`    // that has risen, and the plan has not begun its own yet
	Forgotten bool                 `json:"forgotten,omitempty"` // its objective does not know it any more
	Foreign   bool                 `json:"foreign,omitempty"`   // likewise, and it reports that: another attempt at the objective has such a plan
	Tenant    string               `json:"tenant"`
	ContextID string               `json:"contextId"`
	RootID    string               `json:"rootId"`
	Objective string               `json:"objective"`           // its name
	Requester string               `json:"requester,omitempty"` // who asked for the objective
	Shapers   []string             `json:"shapers,omitempty"`   // others who shaped the work
	Request   *a2a.Message         `json:"request,omitempty"`
	Inputs    []a2a.Artifact       `json:"inputs,omitempty"`   // results of the plans before it
	Notes     []a2a.Message        `json:"notes,omitempty"`    // messages to the root task
	Shows     map[string]Noted     `json:"shows,omitempty"`    // the notes when an approval opened, by its task
	Approved  map[string]Noted     `json:"approved,omitempty"` // the notes that an approval covered, by its task
	Accepted  a2a.Time             `json:"accepted,omitzero"`  // when the latest approval was
	Heard     int                  `json:"heard,omitempty"`    // how many of Notes came from the objective
	Directive Directive            `json:"directive"`
	First     *Directed            `json:"first,omitempty"` // the first directive, until the plan has acted upon it
	Seen      map[string]bool      `json:"seen,omitempty"`  // letters, so that a repeat changes nothing
	Work      map[string]*Work     `json:"work,omitempty"`  // under way, by task id
	Memos     map[string]opt.Memo  `json:"memos,omitempty"` // of executors, by task id
	Spent     map[string]opt.Usage `json:"spent,omitempty"` // of models, by task id
	Shown     []string             `json:"shown,omitempty"` // artifacts that the root task shows already
	Yielded   int64                `json:"yielded,omitempty"`
	Chain     opt.Chain            `json:"chain,omitzero"` // of the decisions of this attempt

	Report    opt.Report         `json:"report"`           // the latest one, sent or to be sent
	Known     opt.Report         `json:"known"`            // what the objective knows or assumes
	After     int64              `json:"after,omitempty"`  // event that must be recorded before Report is sent
	Delivered int64              `json:"told,omitempty"`   // number of the latest delivered report
	Alone     bool               `json:"alone,omitempty"`  // the objective's workflow has ended
	Answer    *opt.CommandAnswer `json:"answer,omitempty"` // to the latest command
}

// Rides reports whether the last events go with the result of the workflow, since the run of
// the objective that began it reads that. In a later epoch the journal may have events of a
// former run, which only this workflow can set back.
func (s *PlanState) Rides() bool { return !s.Alone && !s.Directive.ReportEnd && s.Epoch <= 1 }

// Under returns the latest epoch of the objective that the plan knows.
func (s *PlanState) Under() int { return s.Above }

// Source returns the source of the events. Each attempt at a plan has its own,
// since the last events of the attempt before may be recorded late.
func (s *PlanState) Source() string {
	return opt.InEpoch(opt.RootID(s.Plan.ID, s.Plan.Run), s.Epoch)
}

func (m *Plan) tasks() tasks { return tasks{m} }
func (m *Plan) legs() legs   { return legs{m.tasks()} }
func (m *Plan) notes() notes { return notes{m} }

// Handle handles one input and returns the events that follow from it.
func (m *Plan) Handle(now a2a.Time, in Input) []opt.Event {
	m.now, m.events = now, nil
	m.State.Plan.Loose = Loose(m.State.Rules)
	if s := &m.State; s.Seen == nil || s.Work == nil { // a stored empty map is nil when it is read
		s.Seen, s.Work = made(s.Seen), made(s.Work)
	}
	if m.State.Foreign {
		m.State.takeLeave(in)
		return nil
	}
	switch in := in.(type) {
	case Opened:
		m.open()
	case Canceled: // its objective stops it with a directive
		m.stop(opt.PlanCanceled)
	case Rewound:
		planRewind{m}.onRewound(in)
	case Forgotten: // unless its objective, which has added it again, has just taken it over
		m.State.Forgotten = !m.State.Rewind
	case Directed:
		m.onDirected(in)
	case Letter:
		m.onLetter(in.Letter)
	case Ended:
		m.tasks().onEnded(in)
	case Followed:
		m.tasks().onFollowed(in)
	case Callback:
		m.legs().onCallback(in.Callback)
	case Watched:
		m.legs().onWatched(in)
	case Elapsed:
		m.tasks().onElapsed(in.Key)
	case Delivered:
		m.onDelivered(in)
	}
	if _, begin := in.(Begin); !m.State.Foreign {
		m.settle(begin)
	}
	return m.events
}

// open begins the plan with its first directive.
func (m *Plan) open() {
	s := &m.State
	s.Known = s.Plan.Brief()
	if s.First != nil {
		first := *s.First
		s.First = nil
		m.onDirected(first)
	}
}

// apply changes the plan and keeps the event for the journal. It panics if the
// model refuses the event, which is a bug in this package.
func (m *Plan) apply(e opt.Event) {
	e.At, e.PlanID = m.now, m.State.Plan.ID
	if err := m.State.Plan.Apply(e); err != nil {
		panic(err)
	}
	switch e.Kind {
	case opt.PlanMoved, opt.PlanStarted, opt.PlanPaused, opt.PlanResumed, opt.PlanStopping:
		e.PlanHead = m.State.Plan.Head()
	}
	m.record(e)
}

// record keeps an event for the journal that changes nothing here.
func (m *Plan) record(e opt.Event) {
	m.State.N++
	e.N = m.State.N
	m.events = append(m.events, e)
}

// onDirected acts upon a directive, unless it has acted upon a later one.
func (m *Plan) onDirected(in Directed) {
	s, d := &m.State, in.Directive
	if d.N <= s.Directive.N { // also one for an earlier attempt
		return
	}
	if s.isForAnother(d, m.now) {
		return
	}
	if fresh := in.NotesFrom + len(in.Notes) - s.Heard; fresh > 0 && in.NotesFrom <= s.Heard {
		m.notes().onNotes(in.Notes[len(in.Notes)-fresh:])
	}
	for _, principal := range in.Shapers {
		m.shapedBy(principal)
	}
	s.Known.Shapers = in.Shapers
	if d.Epoch > s.Above {
		s.Above, s.Rewind = d.Epoch, true
	}
	s.Known.Status, s.Known.Reason = d.assumed(s.Known)
	s.Known.Started = s.Known.Started || d.Start
	s.Directive = d
	if in.Inputs != nil && !s.Plan.Started {
		s.Inputs = in.Inputs
	}
	if d.Name != "" {
		s.Plan.Name = d.Name
	}
	m.applyDirective(d)
	if in.Command != nil && (s.Answer == nil || s.Answer.CommandID != in.Command.ID) {
		s.Answer = m.onCommand(*in.Command)
	} else if in.Command != nil && s.Above > 1 { // an objective that was rewound may not have the answer
		s.Known.Answer = nil
	}
}

// isForAnother reports whether a directive is for another run of the plan than this one. A later
// attempt at the plan waits until this one has ended; its report says so.
func (s *PlanState) isForAnother(d Directive, now a2a.Time) bool {
	switch {
	case d.Root != "" && d.Root != s.RootID:
		s.beForeign(d, now)
	case d.Run > s.Plan.Run:
		s.Directive.N, s.Directive.Echo, s.Directive.ReportEnd = d.N, d.Echo, true
	default:
		return false
	}
	return true
}

// beForeign has the plan end without a word to the journal, for the plan of another attempt at the
// objective that waits in its place. The report is that of an attempt before all of that plan.
func (s *PlanState) beForeign(d Directive, now a2a.Time) {
	s.Foreign, s.After = true, 0
	s.Report = opt.Report{N: above(s.Report.N, now), Attempt: -1, Directive: d.N, Status: s.Plan.Status}
}

// lastWants returns what a plan wants that its objective does not know, nil for any other.
func (s *PlanState) lastWants() *Wants {
	switch {
	case s.Forgotten:
		return &Wants{Done: &Done{Status: string(opt.PlanSkipped)}, Forget: true}
	case s.Foreign:
		return &Wants{Signals: []Signal{{To: s.Plan.ObjectiveID, N: s.Report.N}}}
	}
	return nil
}

// takeLeave ends a foreign plan when its objective has heard of that, or cannot.
func (s *PlanState) takeLeave(in Input) {
	switch in := in.(type) {
	case Forgotten:
		s.Forgotten = true
	case Delivered:
		s.Forgotten = in.N == s.Report.N
	}
}

// shapedBy notes that a principal has shaped the work.
func (m *Plan) shapedBy(principal string) {
	if s := &m.State; principal != "" && principal != s.Requester && !slices.Contains(s.Shapers, principal) {
		s.Shapers = append(s.Shapers, principal)
	}
}

// applyDirective changes the plan to the state in d.
func (m *Plan) applyDirective(d Directive) {
	p := &m.State.Plan
	if d.Stop != "" {
		m.stop(d.Stop)
	}
	if p.Status.Ended() || p.Stopping != "" {
		return
	}
	if d.Start {
		m.start()
	}
	if d.Paused != p.ObjectivePaused {
		m.pause(d.Paused, opt.PausedByObjective)
	}
	switch waits := p.Status == opt.PlanBlocked && p.Reason == opt.BlockedByDependencies; {
	case p.Started:
	case d.Hold && p.Status == opt.PlanPending:
		m.move(opt.PlanBlocked, opt.BlockedByDependencies)
	case !d.Hold && waits:
		m.move(opt.PlanPending, "")
	}
}

func (m *Plan) start() {
	if !m.State.Plan.Started {
		m.apply(opt.Event{Kind: opt.PlanStarted})
	}
}

func (m *Plan) stop(reason string) {
	if p := &m.State.Plan; p.Stopping == "" && !p.Settled() {
		m.apply(opt.Event{Kind: opt.PlanStopping, Reason: reason})
	}
}

func (m *Plan) pause(on bool, by string) {
	kind := opt.PlanResumed
	if on {
		kind = opt.PlanPaused
	}
	m.apply(opt.Event{Kind: kind, Reason: by})
}

func (m *Plan) move(to opt.PlanStatus, reason string) {
	m.apply(opt.Event{Kind: opt.PlanMoved, From: string(m.State.Plan.Status), To: string(to), Reason: reason})
}

// settle applies all consequences: tasks end, the status follows them, and a
// report is made. Tasks begin only after all inputs that have arrived were
// handled, since one of them may be a pause.
func (m *Plan) settle(begin bool) {
	for again := true; again; {
		again = m.legs().cancelAtGates()
		again = m.follow() || again
		again = m.tasks().endDoomed() || again
		again = begin && m.tasks().beginReady() || again
		again = begin && m.tasks().beginWaiting() || again
		again = m.yield() || again
	}
	m.makeReport()
}

// follow makes the status of the plan follow its tasks.
func (m *Plan) follow() bool {
	any := false
	for events := m.State.Plan.Next(m.now); len(events) > 0; events = m.State.Plan.Next(m.now) {
		for _, e := range events {
			m.apply(e)
		}
		any = true
	}
	return any
}

// mayBegin reports whether the plan has permission to begin tasks or needs none.
func (m *Plan) mayBegin() bool {
	d := m.State.Directive
	return !d.Shared || d.Permission > m.State.Yielded
}

// yield gives the permission to begin tasks back when nothing in the plan can
// continue, or only clients work on it, so that others in the context may work.
func (m *Plan) yield() bool {
	s := &m.State
	waits := s.Plan.Status == opt.PlanBlocked || s.Plan.Status == opt.PlanWorking && !m.tasks().works() && len(s.Plan.Ready()) == 0
	if !s.Directive.Shared || !s.Plan.Started || !waits || s.Directive.Permission <= s.Yielded || m.tasks().working() {
		return false
	}
	s.Yielded = s.Directive.Permission
	return true
}

// asks reports whether the plan could continue and waits for permission.
func (m *Plan) asks() bool {
	s := &m.State
	if m.mayBegin() || !s.Plan.Started || s.Plan.OnHold() || s.Plan.Status.Ended() || s.Plan.Stopping != "" {
		return false
	}
	return len(s.Plan.Ready()) > 0 || slices.ContainsFunc(s.Plan.Tasks, func(t *opt.Task) bool {
		w := s.Work[t.ID]
		return w != nil && w.Waiting && !w.AtGate
	})
}

// makeReport makes a report if it has news for the objective, or if the objective has
// asked for a confirmation.
func (m *Plan) makeReport() {
	s := &m.State
	r := s.Plan.Brief()
	if r.Under = s.Above; s.Rewind {
		r.Under = s.Report.Under
	}
	r.Spent, r.Epoch, r.Approved, r.Shapers = s.spent(), s.Epoch, m.notes().approved(), s.Shapers
	r.Directive, r.Yielded, r.Asks, r.Notes, r.Answer = s.Directive.N, s.Yielded, m.asks(), s.Heard, s.Answer
	if s.Plan.Settled() {
		m.conclude(&r)
	}
	if sameReport(s.Known, r) && s.Known.Directive >= s.Directive.Echo && (!s.Plan.Settled() || s.Report.Status.Ended() && !s.Report.Closing) {
		return
	}
	r.N = s.Report.N + 1
	s.Report, s.Known, s.After = r, r, s.N
}

// conclude adds the results and the failure of an ended plan to r.
func (m *Plan) conclude(r *opt.Report) {
	for _, t := range m.State.Plan.Tasks {
		if t.Broken() && r.Failure == "" {
			r.Failure = t.Failure
		}
	}
	r.Results, r.Shown = m.State.Plan.Results(), m.State.Shown
}

// onDelivered notes that a report was delivered, or that the objective's workflow has
// ended.
func (m *Plan) onDelivered(in Delivered) {
	if in.Gone {
		m.State.Alone = true
		if m.State.Epoch > 1 { // it was reset after its objective had ended
			m.stop(string(opt.ObjectiveCanceled))
		}
	}
	m.State.Delivered = max(m.State.Delivered, in.N)
}

// Wants returns what should run or be known outside.
func (m *Plan) Wants() Wants {
	s := &m.State
	if w := s.lastWants(); w != nil {
		return *w
	}
	w := Wants{Rewind: s.Rewind}
	for _, t := range s.Plan.Tasks {
		work := s.Work[t.ID]
		if timer, ok := stepTimer(t.Gate); ok {
			w.Timers = append(w.Timers, timer)
		}
		switch {
		case work == nil:
		case work.Running:
			w.Activities = append(w.Activities, Activity{Key: work.key(t), Kind: work.kind(t), Of: t.ID, Stop: work.stops()})
			if work.watched() {
				w.Activities = append(w.Activities, Activity{Key: work.watchKey(t), Kind: WatchTask, Of: t.ID, With: work.key(t)})
			}
		case work.Waiting && !work.Due.IsZero():
			w.Timers = append(w.Timers, Timer{Key: retryTimer + work.key(t), At: work.Due, Summary: work.waits(t)})
		}
	}
	settled := s.Plan.Settled()
	undelivered := s.Report.N > s.Delivered && !s.Alone && s.Report.N > 0
	if undelivered && (!settled || s.Directive.ReportEnd) {
		w.Signals = append(w.Signals, Signal{To: s.Plan.ObjectiveID, N: s.Report.N, After: s.After})
	}
	if settled && !s.Rewind && len(w.Signals) == 0 && !m.tasks().working() {
		w.Done = &Done{Status: string(s.Plan.Status), Failure: s.Report.Failure}
	}
	return w
}

// Message returns the content of the wanted signal.
func (m *Plan) Message() Reported {
	return Reported{PlanID: m.State.Plan.ID, Report: m.State.Report}
}

// WorkOf returns the input of the executor for an activity of the plan.
func (m *Plan) WorkOf(a Activity) opt.Work {
	s, t := &m.State, m.State.Plan.Task(a.Of)
	w := s.Work[t.ID]
	out := opt.Work{
		Tenant: s.Tenant, ContextID: s.ContextID, ObjectiveID: s.Plan.ObjectiveID, PlanID: s.Plan.ID, TaskID: t.A2AID(),
		Objective: s.Objective, Plan: s.Plan.Name, Name: t.Name, Description: t.Description, Executor: t.Executor, Input: t.Input,
		Results: m.tasks().results(t), Replies: t.Replies, Refined: t.Refined,
		Round: w.Round, Attempt: w.Attempt, Key: fmt.Sprintf("%s:%d", t.A2AID(), w.Round), Trust: opt.Untrusted,
	}
	out.Messages, out.Notes, out.NotesTo = m.notes().messages(t)
	if w.Root {
		out.RootID = s.RootID
	}
	out.Epoch = s.Epoch
	out.Leg, out.Cancel, out.Memo = w.Leg, w.Canceling, s.Memos[t.ID].Data
	out.SpentHere, out.Spent = s.Spent[t.ID], s.Directive.Spent.Plus(s.spent())
	return out
}
