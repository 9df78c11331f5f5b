package machine

import (
	"encoding/json"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// The budget of a request limits all plans of its objective. Before a step of a task begins, the plan compares what
// the step needs with what is left: of its own use it has the latest figures, of that of other plans those that the
// objective has told it. Overspend is therefore at most one step for each running task, and what is being reported.
// At a limit the task asks whether more may be used, in between two steps of its round, or fails.

// budget returns the limits on the work, as people have raised them, and what was used of them.
func (m *Plan) budget() (b opt.Budget, spent opt.Usage) {
	return m.State.budget(), m.State.used(m.now)
}

// used returns what all work on the objective has used, as far as the plan knows.
func (s *PlanState) used(at a2a.Time) opt.Usage {
	sum := s.Directive.Spent.Plus(s.spent())
	if since := s.Directive.Since; since > 0 {
		sum.Seconds = (at.Millis() - since) / 1000
	}
	return sum
}

func (s *PlanState) budget() (b opt.Budget) {
	if s.Rules >= rulesBudget && s.Request != nil {
		b = opt.BudgetOf(*s.Request)
		b.SpendLimit = s.Raised.Or(b.SpendLimit)
	}
	return b
}

// limited reports whether a budget counts the usage of the plan.
func (s *PlanState) limited() bool { return s.Limited || s.budget() != opt.Budget{} }

// needs returns what the next step of w needs.
func (w *Work) needs() opt.Usage {
	if w.Opens {
		return opt.Usage{Questions: 1}
	}
	needs := w.Needs
	needs.Seconds = 1
	return needs
}

// holds keeps the task from its next step, w, if that needs more than is left of the budget: the task asks, or
// fails. It reports whether it does.
func (j job) holds(w *Work) bool {
	b, spent := j.plan.budget()
	over := b.Over(spent, w.needs())
	if over == (opt.SpendLimit{}) {
		return false
	}
	w.Running, w.Waiting, w.Held = false, false, true
	j.kept.Work[j.task.ID] = w
	if b.OnExceeded == opt.FailBudget {
		j.overspent("The budget of the request is spent: " + over.Text(spent) + ".")
		return true
	}
	j.plan.askForBudget(j.task, over, spent)
	return true
}

// overspent fails the task, after the work that it has begun elsewhere was canceled.
func (j job) overspent(text string) {
	if j.cancels() {
		j.beginCanceling(opt.Event{})
		j.work().Overspent = text
		return
	}
	j.end(opt.TaskFailed, opt.CodeBudget, text, opt.Event{})
}

// askForBudget opens the gate at which those who have set the budget decide whether it is raised.
func (m *Plan) askForBudget(t *opt.Task, over opt.SpendLimit, spent opt.Usage) {
	s := &m.State
	gate := (&opt.Gate{
		Kind: opt.Approval, Title: "Raise the budget?", Budget: true,
		Description: "The budget of the request is spent: " + over.Text(spent) + ". Accept to raise it as shown, edit the numbers, or reject to stop the task.",
		Actions:     []opt.Action{opt.Accept, opt.Reject, opt.EditAccept},
		Object:      []a2a.Part{a2a.DataPart(over.Next(spent))},
	}).Opened(m.now, s.Plan.Limits.GateTimeout)
	if authors := opt.AuthorsOf(*s.Request); len(authors) > 0 {
		gate.Responders = &opt.Responders{Principals: authors}
	}
	gate.ID, gate.TaskID, gate.ObjectDigest = opt.BudgetGateID(s.Epoch, t.A2AID(), s.N+1), t.A2AID(), gate.Digest()
	m.job(t).move(gate.State(), opt.Event{Gate: &gate, Status: gate.Message(s.ContextID, t.A2AID())})
}

// answerBudget continues after a decision about the budget at t, or after the time for one. closing goes into the
// event that closes the gate. The wait for the answer does not count as time that was used.
func (m *Plan) answerBudget(t *opt.Task, reply opt.Reply, closing opt.Event) {
	var to opt.SpendLimit
	gate, j := *t.Gate, m.job(t)
	object := gate.Object
	if reply.Action == opt.EditAccept {
		object = reply.Edited
	}
	if reply.Action != opt.Accept && reply.Action != opt.EditAccept {
		j.move(opt.TaskWorking, closing)
		j.overspent(strings.TrimSpace("The budget is spent. " + reply.Remark()))
		return
	}
	if len(object) == 1 && json.Unmarshal(object[0].Data, &to) == nil { // else the gate opens again
		if to.Time > 0 {
			to.Time += (m.now.Millis() - gate.RequestedAt.Millis()) / 1000
		}
		m.State.Raised = m.State.Raised.Highest(to)
	}
	j.release(closing)
}

// release continues the task with the step that was held.
func (j job) release(closing opt.Event) {
	w := j.work()
	w.Held, w.Waiting = false, true
	closing.Round, closing.Attempt, closing.Leg = w.Round, w.Attempt, w.Leg
	j.move(opt.TaskWorking, closing)
}

// releaseRaised continues the tasks whose steps were held, and fit in the budget that was raised meanwhile.
func (m *Plan) releaseRaised() (any bool) {
	for _, j := range m.jobs() {
		w := j.work()
		if w == nil || !w.Held || j.task.Gate == nil {
			continue
		}
		if b, spent := m.budget(); b.Over(spent, w.needs()) == (opt.SpendLimit{}) {
			j.release(opt.Event{})
			any = true
		}
	}
	return any
}

// use counts what the task uses, and records it for readers.
func (j job) use(u opt.Usage, e opt.Event) {
	k, id := j.kept, j.task.ID
	k.Spent = made(k.Spent)
	k.Spent[id] = k.Spent[id].Plus(u)
	if !u.IsZero() && j.plan.facts().rules >= rulesUsage {
		e.Kind, e.TaskID, e.Usage = opt.UsageAdded, j.task.A2AID(), &u
		j.plan.record(e)
	}
}

// tellSpent adds to a directive for p what counts in its budget beside its own work.
func tellSpent(s *ObjectiveState, d *Directive, p *opt.Plan) {
	if s.Rules >= rulesBudget && (s.Limited || s.Request != nil && opt.BudgetOf(*s.Request) != (opt.Budget{})) {
		d.Spent, d.Raised, d.Since = s.Used.Plus(spentBeside(&s.Objective, p)), s.Raised, s.Since.Millis()
	}
}
