package machine

import (
	"encoding/json"
	"slices"
	"strings"

	"longhaul/opt"
)

// The budget of a request limits all plans of its objective. Before a step of a task begins, its needs are compared
// with the rest: of its own use a plan has the latest figures, of that of other plans those in directives. Overspend
// is therefore at most one step for each running task, and use on its way to other plans.
// At a limit the steps are held, in between two steps of their rounds. One task of a plan asks for all that are.

// Texts about tasks that are held while another one asks.
const (
	heldText     = "Waits until the budget is raised."
	releasedText = "The budget was raised."
)

// needs returns what the next step of w needs.
func (w *Work) needs() opt.Usage {
	if w.Opens {
		return opt.Usage{Questions: 1}
	}
	needs := w.Needs
	needs.Seconds = 1
	return needs
}

// over returns the limits that the next step w of a job would exceed beside others that are about to begin, and the
// use with theirs.
func over(j job, w *Work, others opt.Usage) (opt.SpendLimit, opt.Usage) {
	facts := j.plan.facts()
	spent := facts.spending.all(facts.now).Plus(others)
	return facts.spending.budget().Over(spent, w.needs()), spent
}

// holds keeps the task from its next step, w, if that needs more than is left of the budget: the plan asks, or
// the task fails. It reports whether it does.
func (j job) holds(w *Work) bool {
	over, spent := over(j, w, opt.Usage{})
	if over == (opt.SpendLimit{}) {
		return false
	}
	w.Running, w.Waiting, w.Held = false, false, true
	j.kept.Work[j.task.ID] = w
	facts := j.plan.facts()
	if b := facts.spending.budget(); b.OnExceeded == opt.FailBudget || b.Most.Over(spent, w.needs()) != (opt.SpendLimit{}) {
		j.overspent("The budget of the request is spent: " + over.Text(spent) + ".")
		return true
	}
	switch {
	case facts.rules < rulesPlaybookBudget:
		j.ask(over, spent, opt.Usage{})
	case j.task.Awaits(): // no more
		j.move(opt.TaskWorking, opt.Event{})
	}
	return true
}

// ask opens the gate about the limits in over. others is what other tasks that are held need.
func (j job) ask(over opt.SpendLimit, spent, others opt.Usage) {
	facts := j.plan.facts()
	gate := facts.spending.gate(j.task, over, spent, others, facts.now)
	j.move(gate.State(), opt.Event{Gate: &gate, Status: gate.Message(facts.contextID, j.task.A2AID())})
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

// answerBudget continues after a decision about the budget at the gate of t, or after the time for one. closing goes
// into the event that closes the gate. The wait for the answer does not count as time that was used.
func (m *Plan) answerBudget(t *opt.Task, reply opt.Reply, closing opt.Event) {
	j, object, asked := m.job(t), t.Gate.Object, t.Gate.RequestedAt
	switch reply.Action {
	case opt.Accept:
	case opt.EditAccept:
		object = reply.Edited
	default:
		text := strings.TrimSpace("The budget is spent. " + reply.Remark())
		j.move(opt.TaskWorking, closing)
		j.overspent(text)
		for _, other := range heldIn(m.jobs()) {
			if other.task.Gate == nil { // t has asked for it
				other.overspent(text)
			}
		}
		return
	}
	j.release(closing)
	var raised opt.SpendLimit
	if len(object) != 1 || json.Unmarshal(object[0].Data, &raised) != nil {
		return // the gate opens again
	}
	b := j.plan.facts().spending.budget()
	if raised = b.RaisedTo(raised); raised.Time > b.Time {
		raised.Time += (m.now.Millis() - asked.Millis()) / 1000
	}
	m.State.Raised = m.State.Raised.Highest(raised.Within(b.Most))
}

// release continues the task with the step that was held.
func (j job) release(closing opt.Event) {
	w := j.work()
	if w.Held, w.Waiting = false, true; j.task.Gate == nil {
		j.inform(releasedText)
		return
	}
	closing.Round, closing.Attempt, closing.Leg = w.Round, w.Attempt, w.Leg
	j.move(opt.TaskWorking, closing)
}

// heldIn returns the jobs whose steps are held.
func heldIn(jobs []job) (list []job) {
	for _, j := range jobs {
		if w := j.work(); w != nil && w.Held {
			list = append(list, j)
		}
	}
	return list
}

// due returns the calls and questions of those steps that are about to begin.
func due(jobs []job) (sum opt.Usage) {
	for _, j := range jobs {
		if w := j.work(); w != nil && w.Waiting && j.plan.facts().rules >= rulesPlaybookBudget {
			sum = sum.Plus(opt.Usage{Calls: w.needs().Calls, Questions: w.needs().Questions})
		}
	}
	return sum
}

// releaseFitting continues as many of the tasks whose steps are held as the budget has room for, after it was raised. It
// reports whether there are any.
func releaseFitting(jobs []job) (any bool) {
	for _, j := range heldIn(jobs) {
		if j.task.Gate == nil && j.plan.facts().rules < rulesPlaybookBudget {
			continue
		}
		if over, _ := over(j, j.work(), due(jobs)); over == (opt.SpendLimit{}) {
			j.release(opt.Event{})
			any = true
		}
	}
	return any
}

// askHeld has the first task whose step is held ask for all that are, unless one asks already. Those that no raise
// may help fail.
func askHeld(jobs []job) bool {
	held := heldIn(jobs)
	if len(held) == 0 || held[0].plan.facts().rules < rulesPlaybookBudget || slices.ContainsFunc(held, func(j job) bool { return j.task.Gate != nil }) {
		return false
	}
	first, budget := held[0], held[0].plan.facts().spending.budget()
	_, spent := over(first, first.work(), due(jobs))
	var others opt.Usage
	for _, j := range held {
		if over := budget.Most.Over(spent, j.work().needs()); over != (opt.SpendLimit{}) {
			j.overspent("The budget is spent, and no one may raise it: " + over.Text(spent) + ".")
			return true
		}
		if j != first {
			others = others.Plus(j.work().needs())
		}
	}
	over := budget.Over(spent, first.work().needs().Plus(others))
	if over == (opt.SpendLimit{}) { // there is room for it since the last look
		return false
	}
	first.ask(over, spent, others)
	for _, j := range held[1:] {
		j.inform(heldText)
	}
	return true
}
