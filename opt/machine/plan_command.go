package machine

import (
	"fmt"

	"longhaul/opt"
)

// onCommand applies a command that belongs to the plan, or refuses it, and
// returns the answer.
func (m *Plan) onCommand(c opt.Command) *opt.CommandAnswer {
	answer := &opt.CommandAnswer{CommandID: c.ID, Digest: c.Digest}
	err := late(m.now, c)
	if err == nil && c.Kind == opt.OrderTasks && m.State.Rules < rulesReorder {
		err = &opt.SpecError{Field: "tasks", Problem: "keep their order in work that began before the server was updated"}
	}
	if err == nil {
		err = AdmitToPlan(&m.State.Plan, c)
	}
	if err != nil {
		answer.Refusal = opt.RefusalOf(err)
		return answer
	}
	before := m.State.N
	stopped := m.applyCommand(c)
	answer.Unchanged = m.State.N == before && !stopped
	return answer
}

// applyCommand applies an admitted command. It reports whether it has asked an
// activity to stop, whose end comes later.
func (m *Plan) applyCommand(c opt.Command) (stopped bool) {
	p := &m.State.Plan
	switch c.Kind {
	case opt.UpdatePlan:
		m.moveByClient(opt.PlanStatus(c.Status))
	case opt.AddTasks:
		tasks, err := p.NewTasks(c.Tasks)
		if err != nil {
			panic(err) // it was admitted
		}
		m.apply(opt.Event{Kind: opt.TasksAdded, Tasks: tasks})
	case opt.OrderTasks:
		if order, _ := opt.Reordered(p, c.Order); len(order) > 0 { // it was admitted
			m.State.Reordered = true
			m.apply(opt.Event{Kind: opt.TasksOrdered, Order: order, Principal: c.Principal})
		}
	case opt.LinkTask:
		m.apply(opt.Event{Kind: opt.TaskLinked, TaskID: p.Task(c.TaskID).A2AID(), Link: c.Link, Follow: c.Follow})
	case opt.MoveTask:
		m.moveTaskByClient(p.Task(c.TaskID), c)
	case opt.CancelTask:
		if t := p.Task(c.TaskID); !t.State.Ended() {
			if m.State.Why[t.A2AID()] == "" && c.Text != "" { // the first one stays
				m.State.Why = made(m.State.Why)
				m.State.Why[t.A2AID()] = c.Text
			}
			return m.job(t).cancel(m.State.canceledBy(t, c.Principal, m.now))
		}
	}
	return false
}

// moveByClient carries out a client's new status of the plan.
func (m *Plan) moveByClient(to opt.PlanStatus) {
	p := &m.State.Plan
	switch to {
	case opt.PlanWorking:
		if p.Paused {
			m.pause(false, opt.PausedByClient)
		}
		m.start()
	case opt.PlanBlocked:
		if !p.Paused && (p.Started || p.Status == opt.PlanWorking) {
			m.pause(true, opt.PausedByClient)
		}
	default:
		if to != p.Status {
			m.move(to, "")
		}
	}
}

// moveTaskByClient moves a task for a client. A running attempt at it is stopped,
// and its result is dropped. A gate that is open there is closed by a decision of the client.
func (m *Plan) moveTaskByClient(t *opt.Task, c opt.Command) {
	to := opt.TaskState(c.Status)
	if t.State == to {
		return
	}
	if to == opt.TaskWorking && t.Gate != nil && t.Gate.Kind == opt.Credential && t.Ask == nil {
		m.authorizeByHand(t, c)
		return
	}
	j := m.job(t)
	j.yield()
	e := opt.Event{Reason: opt.ByHand, Principal: c.Principal}
	if t.Gate != nil {
		e.Decision = m.State.closedByHand(t, to, c.Principal, m.now)
	}
	if c.Text != "" {
		e.Status = j.say(fmt.Sprintf(":status-%d", m.State.N), c.Text)
	}
	j.move(to, e)
}

// authorizeByHand continues t, which waits for an authorization: that a client moves it to
// working says that the authorization was given.
func (m *Plan) authorizeByHand(t *opt.Task, c opt.Command) {
	reply := opt.Reply{GateID: t.Gate.ID, Action: opt.Accept, Feedback: c.Text, DecidedBy: c.Principal, At: m.now}
	e := opt.Event{Principal: c.Principal, Decision: m.State.decided(t.A2AID(), reply, opt.Accepted, opt.Decision{ByHand: true}), Round: t.Gates + 1, Attempt: 1}
	m.applyUnrecorded(opt.Event{Kind: opt.MessageAdded, TaskID: t.A2AID(), Reply: &reply, Verdict: opt.Accepted})
	m.job(t).answered()
	m.job(t).move(opt.TaskWorking, e)
}
