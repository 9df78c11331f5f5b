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
	case opt.LinkTask:
		m.apply(opt.Event{Kind: opt.TaskLinked, TaskID: p.Task(c.TaskID).A2AID(), Link: c.Link, Follow: c.Follow})
	case opt.MoveTask:
		m.moveTaskByClient(p.Task(c.TaskID), c)
	case opt.CancelTask:
		if t := p.Task(c.TaskID); !t.State.Ended() {
			return m.tasks().cancel(t)
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
		m.legs().authorizeByHand(t, c)
		return
	}
	if w := m.State.Work[t.ID]; w != nil {
		if w.Running {
			w.Stop = true
		} else {
			delete(m.State.Work, t.ID)
		}
	}
	e := opt.Event{Reason: opt.ByHand, Principal: c.Principal}
	if t.Gate != nil {
		e.Decision = m.closedByHand(t, to, c.Principal)
	}
	if c.Text != "" {
		e.Status = m.tasks().say(t, fmt.Sprintf(":status-%d", m.State.N), c.Text)
	}
	m.tasks().moveTask(t, to, e)
}
