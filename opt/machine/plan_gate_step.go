package machine

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"longhaul/opt"
)

// gateTimer begins the keys of timers of gates. The rest is the id of the gate and
// the number of the step, from 1.
const gateTimer = "gate:"

func stepKey(g *opt.Gate) string { return fmt.Sprintf("%s%s:%d", gateTimer, g.ID, g.Taken+1) }

// maxSummary bounds the title of a gate in the summary of a timer, in bytes.
const maxSummary = 100

// stepTimer returns the timer of the step that a gate takes next; ok is false if
// there is none, or no gate. A pause does not stop it: people may answer meanwhile.
func stepTimer(g *opt.Gate) (timer Timer, ok bool) {
	if g == nil {
		return Timer{}, false
	}
	next, ok := g.NextStep()
	if !ok {
		return Timer{}, false
	}
	return Timer{Key: stepKey(g), At: next.At, Summary: fmt.Sprintf("%s: %s, step %d of %d", briefly(g), next, g.Taken+1, len(g.Ladder))}, true
}

// briefly returns the title of g, or its first question, on one line.
func briefly(g *opt.Gate) string {
	text := cmp.Or(g.Title, g.Description)
	if g.Title == "" && len(g.Questions) > 0 {
		text = g.Questions[0].Question
	}
	return cut(strings.Join(strings.Fields(cut(text, 4*maxSummary)), " "), maxSummary)
}

// atStep returns the task with the gate whose next step has the timer with a key,
// nil for none.
func (m tasks) atStep(key string) *opt.Task {
	for _, t := range m.State.Plan.Waiting() {
		if _, ok := t.Gate.NextStep(); ok && stepKey(t.Gate) == key {
			return t
		}
	}
	return nil
}

// takeStep takes the next step of t's gate.
func (m tasks) takeStep(t *opt.Task) {
	next, _ := t.Gate.NextStep()
	if next.Kind == opt.Expire {
		m.expire(t, next.Action)
		return
	}
	gate := t.Gate.Stepped(m.now)
	m.moveTask(t, t.State, opt.Event{Reason: t.Reason, Gate: &gate, Status: gate.Message(m.State.ContextID, t.A2AID()), Step: next.Kind})
}

// expire closes t's gate without an answer. An approval is decided by an action:
// the executor gets it as a reply, a task that is only a gate is completed or fails.
// Every other task fails.
func (m tasks) expire(t *opt.Task, action opt.Action) {
	after := opt.Span(time.Duration(t.Gate.Ladder[t.Gate.Taken].After) * time.Second)
	reply := opt.Reply{GateID: t.Gate.ID, Action: action, Feedback: opt.ReasonTimeout, DecidedBy: opt.ByTimer, At: m.now}
	closing := opt.Event{Step: opt.Expire, Decision: m.expired(t, action)}
	m.notes().approve(t, reply)
	switch {
	case t.Ask == nil && t.Gate.Kind == opt.Approval:
		m.applyUnrecorded(opt.Event{Kind: opt.MessageAdded, TaskID: t.A2AID(), Reply: &reply, Verdict: opt.Accepted})
		m.nextRound(t)
		closing.Round, closing.Attempt = t.Gates+1, 1
		m.moveTask(t, opt.TaskWorking, closing)
	case action == opt.Accept:
		m.moveTask(t, opt.TaskWorking, closing)
		said := m.say(t, ":status", fmt.Sprintf("No answer came within %s. The approval counts as accepted.", after))
		m.complete(t, nil, nil, opt.Event{Reason: opt.ReasonTimeout, Status: said})
	default:
		m.end(t, opt.TaskFailed, opt.ReasonTimeout, fmt.Sprintf("No answer came within %s.", after), closing)
	}
}
