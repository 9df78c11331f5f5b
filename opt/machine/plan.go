package machine

import (
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
		m.events = m.State.rewind(m.now, in)
	case Forgotten: // unless its objective, which has added it again, has just taken it over
		m.State.Forgotten = !m.State.Rewind
	case Directed:
		m.onDirected(in)
	case Letter:
		m.onLetter(in.Letter)
	case Ended, Held, Followed, Looked, Callback, Watched:
		m.toJobs(in)
	case Elapsed:
		if !m.takeStep(in.Key) {
			m.toJobs(in)
		}
	case Delivered:
		m.onDelivered(in)
	}
	if !m.State.Foreign {
		m.settle(in)
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
	if e.Kind == opt.TaskMoved && e.To == string(opt.TaskCanceled) {
		e.Status = m.State.explained(e)
	}
	m.applyUnrecorded(e)
	switch e.Kind {
	case opt.PlanMoved, opt.PlanStarted, opt.PlanPaused, opt.PlanResumed, opt.PlanStopping:
		e.PlanHead = m.State.Plan.Head()
	}
	m.record(e)
}

// applyUnrecorded changes the plan without an event: the journal has it, or gets it with another.
func (m *Plan) applyUnrecorded(e opt.Event) {
	e.At, e.PlanID = m.now, m.State.Plan.ID
	if err := m.State.Plan.Apply(e); err != nil {
		panic(err)
	}
}

// record keeps an event for the journal that changes nothing here.
func (m *Plan) record(e opt.Event) {
	m.State.N++
	e.N, e.At, e.PlanID = m.State.N, m.now, m.State.Plan.ID
	m.events = append(m.events, e)
}

// onDirected acts upon a directive, unless it has acted upon a later one.
func (m *Plan) onDirected(in Directed) {
	s, d := &m.State, in.Directive
	if d.N <= s.Directive.N { // also one for an earlier attempt
		return
	}
	if d.Imprint != "" && d.Imprint != s.Imprint || d.Run > s.Plan.Run && s.Rules >= rulesFound {
		s.beForeign(d, m.now)
		return
	}
	if d.Run > s.Plan.Run { // under earlier rules: for the attempt after this one, which has ended
		s.Directive.N, s.Directive.Echo, s.Directive.ReportEnd = d.N, d.Echo, true
		return
	}
	if d.Epoch > s.Above { // the objective was rewound, and may have got its messages in another order
		s.Heard = 0
	}
	if fresh := in.NotesFrom + len(in.Notes) - s.Heard; fresh > 0 && in.NotesFrom <= s.Heard {
		m.onNotes(in.Notes[len(in.Notes)-fresh:], max(d.Epoch, s.Above) > 1)
	}
	s.take(in)
	m.applyDirective(d)
	if in.Command != nil && (s.Answer == nil || s.Answer.CommandID != in.Command.ID) {
		s.Answer = m.onCommand(*in.Command)
	} else if in.Command != nil && s.Above > 1 { // an objective that was rewound may not have the answer
		s.Known.Answer = nil
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
		m.State.Since = m.now
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
// handled, since one of them may be a pause. Gates of a plan that has just begun open at once.
func (m *Plan) settle(in Input) {
	begun, begin := in.(Begin)
	begin = begin && !(begun.Unrecorded && m.State.Rules >= rulesPermits) // the journal may refuse the epoch, which another run has begun
	_, opened := in.(Opened)
	for again := true; again; {
		again = m.cancelAtGates()
		again = releaseFitting(m.jobs()) || again
		again = follow(m.State.Plan.Next, m.now, m.apply) || again
		again = m.endDoomed() || again
		again = endWaiting(m) || again
		again = (begin || opened && m.State.opens()) && m.beginTasks() || again
		again = m.State.yield() || again
	}
	countTime(m, in)
	m.State.makeReport(m.now)
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
	w := Wants{Rewind: s.Rewind, Soon: s.runs()}
	for _, j := range m.jobs() {
		j.addWants(&w)
	}
	settled := s.Plan.Settled()
	undelivered := s.Report.N > s.Delivered && !s.Alone && s.Report.N > 0
	if undelivered && (!settled || reportsEnd(s)) {
		w.Signals = append(w.Signals, Signal{To: s.Plan.ObjectiveID, N: s.Report.N, After: s.After})
	}
	if settled && !s.Rewind && len(w.Signals) == 0 && !s.working() {
		w.Done = &Done{Status: string(s.Plan.Status), Failure: s.Report.Failure}
	}
	return w
}

// Message returns the content of the wanted signal.
func (m *Plan) Message() Reported {
	return Reported{PlanID: m.State.Plan.ID, Report: m.State.Report}
}

// job returns the job of a task, and jobs those of all in their order.
func (m *Plan) job(t *opt.Task) job { return job{t, &m.State.TaskStates, m} }

func (m *Plan) jobs() (all []job) {
	for _, t := range m.State.Plan.Tasks {
		all = append(all, m.job(t))
	}
	return all
}

func (m *Plan) toJobs(in Input) {
	for _, j := range m.jobs() {
		j.handle(in)
	}
}

// facts, leaf and show are for jobs; see [home].
func (m *Plan) facts() facts {
	return facts{now: m.now, n: m.State.N, contextID: m.State.ContextID, rootID: m.State.RootID, rules: m.State.Rules, limits: m.State.Plan.Limits, spending: spending{&m.State}}
}

func (m *Plan) leaf(t *opt.Task) bool { return m.State.Directive.Leaf && m.State.Plan.Leaf(t) }

func (m *Plan) show(artifactID string) {
	if s := &m.State; !slices.Contains(s.Shown, artifactID) {
		s.Shown = append(s.Shown, artifactID)
	}
}

// beginTasks begins the tasks that may begin now, and the attempts and rounds that wait.
func (m *Plan) beginTasks() (any bool) {
	s := &m.State
	if s.mayBegin() {
		for _, t := range s.Plan.Ready() {
			m.job(t).begin()
			any = true
		}
	}
	if s.Plan.Stopping != "" || s.Plan.Status.Ended() {
		return any
	}
	may := s.mayBegin() && !s.Plan.OnHold()
	for _, j := range m.jobs() {
		any = j.resume(may) || any
	}
	return askHeld(m.jobs()) || any
}

// endDoomed stops the work of tasks that must end.
func (m *Plan) endDoomed() (any bool) {
	for _, t := range m.State.Plan.Doomed() {
		any = m.job(t).cancel(opt.Event{}) || any
	}
	return any
}

// endWaiting cancels a plan that was reset after its end, when it would wait for its objective, which directs it no more.
func endWaiting(m *Plan) bool {
	s, p := &m.State, &m.State.Plan
	waits := !p.Started || p.OnHold() || s.asks()
	if !s.Directive.Over || s.Rules < rulesOver || p.Stopping != "" || p.Status.Ended() || s.working() || !waits {
		return false
	}
	m.stop(string(opt.ObjectiveCanceled)) // as one that finds no objective
	return true
}

// cancelAtGates cancels the work elsewhere of doomed tasks at gates, before the tasks
// end.
func (m *Plan) cancelAtGates() (any bool) {
	for _, t := range m.State.Plan.DoomedAtGates() {
		j := m.job(t)
		j.drop() // a leg that watches at the gate
		if j.cancels() {
			j.beginCanceling(opt.Event{})
			any = true
		}
	}
	return any
}

// countTime records how long the tasks of a plan ran.
func countTime(m *Plan, in Input) {
	_, rewound := in.(Rewound) // the events are those of the run before
	spent := map[string]*opt.Usage{}
	for _, e := range m.events {
		if e.Kind == opt.UsageAdded {
			spent[e.TaskID] = e.Usage
		}
	}
	for _, j := range m.jobs() {
		if rewound {
			restart(j)
			continue
		}
		id := j.task.A2AID()
		switch seconds := count(j, spent[id] != nil); {
		case seconds == 0:
		case spent[id] != nil:
			spent[id].Ran = seconds
		default:
			m.record(opt.Event{Kind: opt.UsageAdded, TaskID: id, Usage: &opt.Usage{Ran: seconds}})
		}
	}
}
