package machine

import (
	"encoding/json"
	"strings"

	"longhaul/opt"
)

// The budget of a request limits all plans of its objective. Before a step of a task begins, the plan compares what
// the step needs with what is left: of its own use it has the latest figures, of that of other plans those in
// directives. Overspend is therefore at most one step for each running task, and what is being reported.
// At a limit the task asks whether more may be used, in between two steps of its round, or fails.

// needs returns what the next step of w needs.
func (w *Work) needs() opt.Usage {
	if w.Opens {
		return opt.Usage{Questions: 1}
	}
	needs := w.Needs
	needs.Seconds = 1
	return needs
}

// over returns the limits that the next step w of a job would exceed, and what was used.
func over(j job, w *Work) (opt.SpendLimit, opt.Usage) {
	facts := j.plan.facts()
	spent := facts.spending.all(facts.now)
	return facts.spending.budget().Over(spent, w.needs()), spent
}

// holds keeps the task from its next step, w, if that needs more than is left of the budget: the task asks, or
// fails. It reports whether it does.
func (j job) holds(w *Work) bool {
	over, spent := over(j, w)
	if over == (opt.SpendLimit{}) {
		return false
	}
	w.Running, w.Waiting, w.Held = false, false, true
	j.kept.Work[j.task.ID] = w
	facts := j.plan.facts()
	if facts.spending.budget().OnExceeded == opt.FailBudget {
		j.overspent("The budget of the request is spent: " + over.Text(spent) + ".")
		return true
	}
	gate := facts.spending.gate(j.task, over, spent, facts.now)
	j.move(gate.State(), opt.Event{Gate: &gate, Status: gate.Message(facts.contextID, j.task.A2AID())})
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

// answerBudget continues after a decision about the budget, or after the time for one, and returns the limits to
// which it is raised. closing goes into the event that closes the gate. The wait for the answer does not count as
// time that was used.
func (j job) answerBudget(reply opt.Reply, closing opt.Event) (raised opt.SpendLimit) {
	object, asked := j.task.Gate.Object, j.task.Gate.RequestedAt
	switch reply.Action {
	case opt.Accept:
	case opt.EditAccept:
		object = reply.Edited
	default:
		j.move(opt.TaskWorking, closing)
		j.overspent(strings.TrimSpace("The budget is spent. " + reply.Remark()))
		return raised
	}
	j.release(closing)
	if len(object) != 1 || json.Unmarshal(object[0].Data, &raised) != nil {
		return opt.SpendLimit{} // the gate opens again
	}
	if raised.Time > 0 {
		raised.Time += (j.plan.facts().now.Millis() - asked.Millis()) / 1000
	}
	return raised
}

// release continues the task with the step that was held.
func (j job) release(closing opt.Event) {
	w := j.work()
	w.Held, w.Waiting = false, true
	closing.Round, closing.Attempt, closing.Leg = w.Round, w.Attempt, w.Leg
	j.move(opt.TaskWorking, closing)
}

// releaseFitting continues the tasks whose steps were held, and fit in the budget that was raised meanwhile. It
// reports whether there are any.
func releaseFitting(jobs []job) (any bool) {
	for _, j := range jobs {
		w := j.work()
		if w == nil || !w.Held || j.task.Gate == nil {
			continue
		}
		if over, _ := over(j, w); over == (opt.SpendLimit{}) {
			j.release(opt.Event{})
			any = true
		}
	}
	return any
}
