package machine

import (
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// CommandState is what an objective keeps of the commands of clients.
type CommandState struct {
	Answered map[string]bool `json:"answered,omitempty"` // by id
	Commands []opt.Command   `json:"commands,omitempty"` // that wait, oldest first
	Current  *Current        `json:"current,omitempty"`  // the one that is being applied
	Overdue  []Overdue       `json:"overdue,omitempty"`  // those that plans have not answered in time
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

// knows reports whether a command has come before.
func (s *CommandState) knows(id string) bool {
	waits := slices.ContainsFunc(s.Commands, func(w opt.Command) bool { return w.ID == id }) ||
		slices.ContainsFunc(s.Overdue, func(w Overdue) bool { return w.Command.ID == id })
	return s.Answered[id] || waits || s.Current != nil && s.Current.Command.ID == id
}

// next makes the command current that comes next after the one before was answered. One for a plan that
// has not answered another in time waits, up to its own deadline.
func (s *CommandState) next(now a2a.Time) bool {
	i := slices.IndexFunc(s.Commands, func(c opt.Command) bool { return s.overdue(c.PlanID) < 0 || expired(now, c) })
	if s.Current != nil || i < 0 {
		return false
	}
	s.Current = &Current{Command: s.Commands[i]}
	s.Commands = slices.Delete(s.Commands, i, i+1)
	return true
}

// expired reports whether the deadline of a command has come.
func expired(now a2a.Time, c opt.Command) bool {
	return !c.Deadline.IsZero() && now.Millis() >= c.Deadline.Millis()
}

// overdue returns the index of the overdue command of a plan, negative if there is none.
func (s *CommandState) overdue(planID string) int {
	return slices.IndexFunc(s.Overdue, func(o Overdue) bool { return planID != "" && o.Command.PlanID == planID })
}

// passedTo returns the id of the current command if it was passed on to a plan, else "".
func (s *CommandState) passedTo(planID string) string {
	if s.Current == nil || s.Current.PlanID != planID {
		return ""
	}
	return s.Current.Command.ID
}

// starts reports whether a command that was passed on may start its plan.
func (s *CommandState) starts() bool {
	return s.Current != nil && s.Current.PlanID != "" && s.Current.Command.Status == string(opt.PlanWorking) ||
		slices.ContainsFunc(s.Overdue, func(c Overdue) bool { return c.Command.Status == string(opt.PlanWorking) })
}

// queuedAt returns the time of the place in the queue of the context that came with the command which
// has started a plan.
func (s *CommandState) queuedAt(planID string) (at a2a.Time) {
	if c := s.Current; c != nil && c.PlanID == planID {
		at = c.Command.QueuedAt
	} else if i := s.overdue(planID); i >= 0 {
		at = s.Overdue[i].Command.QueuedAt
	}
	return at
}

// confirm answers the current, applied command: at once, or, nil, when every plan has confirmed it.
func (s *CommandState) confirm(confirm bool) *opt.CommandAnswer {
	if confirm {
		s.Current.Echo = true
		return nil
	}
	return &opt.CommandAnswer{}
}

// commands carries out the commands of an objective, one after another, and answers them.
type commands struct {
	state     *ObjectiveState
	now       a2a.Time
	objective commanded
}

// A commanded objective is what its commands see of it beside its state.
type commanded interface {
	apply(opt.Event)
	carryOut(opt.Command) *opt.CommandAnswer // nil if the answer comes later
	changePlan(opt.Command)
	revise(*opt.Change)
}

// take takes in a command. A repeat changes nothing: its answer is in the
// journal, or will be. A command that ends the objective does not wait for
// others.
func (m commands) take(c opt.Command) {
	if m.state.knows(c.ID) {
		return
	}
	switch ends := opt.ObjectiveStatus(c.Status).Ended(); {
	case c.Kind == opt.UpdateObjective && ends && !m.state.Objective.Status.Ended():
		former := m.state.Current
		m.state.Current = &Current{Command: c}
		m.begin()
		m.state.Current = former
	case c.Kind == opt.CancelTask:
		m.state.Commands = slices.Insert(m.state.Commands, 0, c)
	default:
		if c.Kind == opt.Replan && m.state.Current != nil && m.state.Current.PlanID != "" {
			m.waitNoMore() // a plan that does not answer is a reason to make others
		}
		m.state.Commands = append(m.state.Commands, c)
	}
}

// beginNext begins the next command, after an objective that was lost has left its context.
func (m commands) beginNext() bool {
	if m.state.Lost || !m.state.next(m.now) {
		return false
	}
	m.begin()
	return true
}

// waitNoMore has other commands continue while the plan of the current one has not answered.
func (m commands) waitNoMore() {
	m.state.Overdue = append(m.state.Overdue, Overdue{Command: m.state.Current.Command, N: m.state.link(m.state.Current.PlanID).Directive.N})
	m.state.Current = nil
}

// elapse handles the end of the time that a command is waited for, if it is current.
func (m commands) elapse(id string) {
	switch c := m.state.Current; {
	case c == nil || c.Command.ID != id:
	case c.Echo:
		m.answer(opt.CommandAnswer{Waiting: m.state.unconfirmed(), Unchanged: c.Unchanged})
	case c.PlanID != "":
		m.waitNoMore()
	}
}

// report answers the current or overdue command of a plan that has answered it in a report. An overdue one
// is refused if the plan has acted upon a later directive, and so will not answer.
func (m commands) report(planID string, r opt.Report) {
	if id := m.state.passedTo(planID); id != "" && r.Answer != nil && r.Answer.CommandID == id {
		m.onPlanAnswer(*r.Answer)
	}
	i := m.state.overdue(planID)
	if i < 0 {
		return
	}
	c, late := m.state.Overdue[i], opt.CommandAnswer{Refusal: &opt.Refusal{Code: opt.RefusedLate, At: m.now}}
	switch {
	case r.Answer != nil && r.Answer.CommandID == c.Command.ID:
		m.answerOverdue(i, *r.Answer)
	case r.Directive > c.N:
		m.answerOverdue(i, late)
	}
}

// answerOverdue answers an overdue command.
func (m commands) answerOverdue(i int, a opt.CommandAnswer) {
	former, c := m.state.Current, m.state.Overdue[i].Command
	m.state.Overdue = slices.Delete(m.state.Overdue, i, i+1)
	m.state.Current = &Current{Command: c, PlanID: c.PlanID}
	m.onPlanAnswer(a)
	m.state.Current = former
}

// begin refuses the current command, applies it, or passes it on to its
// plan.
func (m commands) begin() {
	o, c := &m.state.Objective, m.state.Current.Command
	p := o.Plan(c.PlanID)
	ofPlan := p != nil && !p.Over() && (c.Kind != opt.UpdatePlan || c.Status != "")
	err := Admit(o, c)
	if err == nil {
		if c.Shapes(isFirst(o, p)) {
			m.state.shapedBy(c.Principal)
		}
		err = m.refused(c, p, ofPlan)
	}
	switch {
	case err != nil:
		m.answer(opt.CommandAnswer{Refusal: opt.RefusalOf(err)})
	case ofPlan:
		m.state.shareFor(c)
		m.state.Current.PlanID = p.ID
	case Unchanged(o, p, c) && c.Status == string(opt.ObjectiveBlocked) && len(m.state.unconfirmed()) > 0:
		m.state.Current.Echo, m.state.Current.Unchanged = true, true // it is already paused, and not every plan has confirmed that
	case Unchanged(o, p, c):
		m.answer(opt.CommandAnswer{Unchanged: true})
	default:
		m.carryOut(c)
	}
}

// isFirst reports whether a command begins work, at the objective or at its plan.
func isFirst(o *opt.Objective, p *opt.Plan) bool {
	return !o.Started || o.Status.Ended() || p != nil && (!p.Started || p.Status.Ended())
}

// refused returns the refusal of an admitted command that comes too late.
func (m commands) refused(c opt.Command, p *opt.Plan, ofPlan bool) error {
	switch {
	case ofPlan && expired(m.now, c):
		return &opt.Refusal{Code: opt.RefusedLate, At: m.now}
	case ofPlan:
		return nil
	case p != nil && p.Over() && c.Kind != opt.UpdatePlan:
		return planEnded()
	}
	return late(m.now, c)
}

// carryOut carries out the current command, which belongs to the objective.
func (m commands) carryOut(c opt.Command) {
	if a := m.objective.carryOut(c); a != nil {
		m.answer(*a)
	}
}

// load takes in the former attempt, for the current command that waits for it.
func (m commands) load(in Loaded) {
	if !m.state.Loading || in.Key != m.state.loadKey() {
		return
	}
	m.state.Loading, m.state.Kept = false, &in.Kept
	if m.state.Current != nil && m.state.Current.Loading {
		m.carryOut(m.state.Current.Command)
	}
}

// finish answers a command that every plan has confirmed, or whose plan
// has ended without an answer.
func (m commands) finish() bool {
	ended := opt.CommandAnswer{Refusal: opt.RefusalOf(planEnded())}
	if i := slices.IndexFunc(m.state.Overdue, func(o Overdue) bool { return m.state.Objective.Plan(o.Command.PlanID).Over() }); i >= 0 {
		m.answerOverdue(i, ended)
		return true
	}
	switch c := m.state.Current; {
	case c == nil:
		return false
	case c.Echo && len(m.state.unconfirmed()) == 0:
		m.answer(opt.CommandAnswer{Unchanged: c.Unchanged})
	case c.PlanID != "" && m.state.Objective.Plan(c.PlanID).Over():
		m.answer(ended)
	default:
		return false
	}
	return true
}

// onPlanAnswer answers the current command as its plan has. The objective
// then changes the plan's name and text, if the command does.
func (m commands) onPlanAnswer(a opt.CommandAnswer) {
	c := m.state.Current.Command
	if a.Refusal == nil {
		change := planChange(m.state.Objective.Plan(c.PlanID), c)
		if c.Kind == opt.UpdatePlan && !change.Empty() {
			m.objective.changePlan(c)
			a.Unchanged = false
		}
		if !a.Unchanged {
			m.objective.revise(nil)
		}
	}
	m.answer(a)
}

// answer records the answer to the current command.
func (m commands) answer(a opt.CommandAnswer) {
	c := m.state.Current.Command
	a.CommandID, a.Digest, a.Revision = c.ID, c.Digest, m.state.Objective.Revision
	m.state.Answered[a.CommandID] = true
	m.state.Current = nil
	m.objective.apply(opt.Event{Kind: opt.CommandAnswered, Answer: &a, Principal: c.Principal, Reason: string(c.Kind)})
}
