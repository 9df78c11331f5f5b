package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/activities"
	"longhaul/opt"
)

// A memo holds the state of the remote task. It is stored in histories: add fields,
// never rename one.
type memo struct {
	At        endpoint   `json:"at"`
	ContextID string     `json:"contextId,omitempty"` // of the remote task; before the first answer the one that is proposed
	MessageID string     `json:"messageId,omitempty"` // of the message that starts the remote task
	TaskID    string     `json:"taskId,omitempty"`    // the remote one; "" before the answer to the message
	Sends     int        `json:"sends,omitempty"`     // messages that have started a remote task of this task
	Since     int64      `json:"since,omitempty"`     // when this remote task was begun, in ms
	Hops      Hops       `json:"hops"`
	Rest      opt.Budget `json:"rest,omitzero"`     // of the budget, when MessageID was made: a message that is sent again has the same
	Allowed   bool       `json:"allowed,omitempty"` // the budget has room for this call, which is counted

	Sought bool              `json:"sought,omitempty"` // the message may have arrived although there was no answer: look for its task first
	Push   string            `json:"push,omitempty"`   // "on" or "off" after the attempt to register for push notifications
	Polls  int               `json:"polls,omitempty"`  // polls without a change
	State  string            `json:"state,omitempty"`  // digest of the status at the latest poll
	Seen   map[string]string `json:"seen,omitempty"`   // digests of artifacts that are in the task, by remote id

	Asked    *question `json:"asked,omitempty"`    // that a gate of the task waits with
	Answered string    `json:"answered,omitempty"` // digest of the status that was answered
	Problem  string    `json:"problem,omitempty"`  // why the agent refused the last answer

	Missing int       `json:"missing,omitempty"` // polls at which the agent did not know the task
	Down    *downtime `json:"down,omitempty"`    // the agent cannot be reached

	Returned  bool     `json:"returned,omitempty"`  // the agent has returned an artifact, or a piece of one
	Asks      []ask    `json:"asks,omitempty"`      // its questions, oldest first
	Passed    []string `json:"passed,omitempty"`    // digests of the notes that it has, or has not taken
	NoteTries int      `json:"noteTries,omitempty"` // how often the next one was sent without success
	Resends   int      `json:"resends,omitempty"`   // how often it got the task again after it had lost it
	LostAt    int      `json:"lostAt,omitempty"`    // the round whose gate asks whether it gets the task again

	Ended bool `json:"ended,omitempty"` // the remote task is over: another run of the task starts another one
}

// A downtime is a time for which an agent could not be reached.
type downtime struct {
	Round   int   `json:"round"`
	Attempt int   `json:"attempt"`
	Since   int64 `json:"since"` // in ms
	Times   int   `json:"times"`
}

// A handoff is one leg of a task.
type handoff struct {
	executor *Executor
	agent    *Agent
	input    input
	work     activities.Work
	out      activities.Stream
	memo     memo
}

// messages returns the messages of the task to the agent.
func (h *handoff) messages() messages { return messages{&h.work, &h.input, &h.memo, h.agent.name} }

// remote returns the client for the interface in the memo.
func (h *handoff) remote() remote {
	secrets := activities.Secrets([]string{h.work.CallbackURL, h.work.WakeURL})
	return remote{http: h.executor.cfg.HTTP, agent: h.agent, at: h.memo.At, secrets: secrets, log: h.executor.cfg.Log}
}

func (h *handoff) now() time.Time { return h.executor.cfg.Now() }

// leg runs the leg that the memo asks for.
func (h *handoff) leg(ctx context.Context) (activities.Outcome, error) {
	if h.memo.Ended {
		h.memo = memo{At: h.memo.At, ContextID: h.memo.ContextID, Sends: h.memo.Sends}
	}
	switch m := &h.memo; {
	case m.LostAt != 0 && h.work.Round > m.LostAt:
		return h.afterLoss(), nil
	case m.MessageID == "":
		return h.chooseEndpoint(ctx)
	case !h.agent.allows(m.At.URL):
		return h.onDisallowed(), nil
	case h.now().Sub(time.UnixMilli(m.Since)) > h.agent.MaxWait:
		h.abandonRemote(ctx)
		return h.end(activities.Failed(CodeTooLong, fmt.Sprintf("Agent %s took longer than %v.", h.agent.name, h.agent.MaxWait))), nil
	case m.TaskID == "":
		return h.startRemote(ctx)
	case m.Asked != nil && h.work.Round > m.Asked.Round:
		return h.answer(ctx)
	}
	return h.pollTask(ctx)
}

// onDisallowed returns the outcome for an interface that the operator does not allow any more.
func (h *handoff) onDisallowed() activities.Outcome {
	if h.input.Whole { // the agent is elsewhere now
		return h.onLost()
	}
	return h.end(activities.Failed(CodeCard, "The operator does not allow the interface of agent "+h.agent.name+" any more."))
}

// chooseEndpoint chooses the interface and the message id before anything is sent, so that the
// task can look for its remote task by these ids after a crash.
func (h *handoff) chooseEndpoint(ctx context.Context) (activities.Outcome, error) {
	m := &h.memo
	if m.At.URL == "" {
		c, err := h.executor.cardCache.get(ctx, h.remote())
		if err != nil {
			return activities.Outcome{}, err
		}
		at, problem := h.agent.chooseEndpoint(c)
		if problem != "" {
			return h.end(activities.Failed(CodeCard, problem)), nil
		}
		m.At = at
	}
	way, to := hopsOf(h.work.Messages), digest(m.At.URL, h.input.Skill)
	b, needs := h.work.Budget(), opt.Usage{Output: 1, Cost: 1, Calls: 1}
	if m.Allowed {
		needs.Calls = 0 // counted, and the rest is that after the answer
	}
	rest, mayTry := b.Left(h.work.Counted().Plus(opt.Usage{Calls: needs.Calls}))
	switch {
	case h.work.Limits != nil && b.Over(h.work.Counted(), needs) != (opt.SpendLimit{}): // the plan asks, and begins the next leg after the answer
		m.Allowed = true
		o := h.park(0, "")
		o.Park.Needs = needs
		return o, nil
	case !mayTry:
		return h.end(activities.Failed(CodeBudget, "The budget of the request is spent.")), nil
	case way.Hops >= h.executor.cfg.Agents.Hops:
		return h.end(activities.Failed(CodeHops, fmt.Sprintf("The work was handed over %d times already, and at most %d are allowed.", way.Hops, h.executor.cfg.Agents.Hops))), nil
	case slices.Contains(way.To, to), slices.Contains(way.Objectives, h.work.ObjectiveID):
		return h.end(activities.Failed(CodeLoop, fmt.Sprintf("The work was handed over to agent %s already: it would go round in a loop.", h.agent.name))), nil
	}
	m.Sends++
	m.Hops = way.withHop(h.work.ObjectiveID, to)
	m.Rest = opt.Budget{SpendLimit: m.At.limits(rest), OnExceeded: b.OnExceeded}
	m.MessageID = h.messages().startID()
	m.ContextID = cmp.Or(m.ContextID, h.messages().context())
	m.Since = h.now().UnixMilli()
	handsOver := h.park(0, fmt.Sprintf("The task is handed over to agent %s (A2A %s).", h.agent.name, m.At.Version))
	handsOver.Park.Needs = needs
	return handsOver, nil
}

// startRemote sends the message, unless the agent has it already.
func (h *handoff) startRemote(ctx context.Context) (activities.Outcome, error) {
	m, r := &h.memo, h.remote()
	if h.work.Try > 1 || h.work.Attempt > 1 || m.Sought {
		switch t, _, err := r.find(ctx, m.ContextID, m.MessageID); {
		case err != nil:
			return activities.Outcome{}, err
		case t.ID != "":
			m.TaskID, m.ContextID = t.ID, cmp.Or(t.ContextID, m.ContextID)
			return h.park(0, ""), nil
		}
	}
	got, err := r.send(ctx, h.messages().start(), h.input.Accept)
	if err != nil {
		m.Sought = true
		return activities.Outcome{}, err
	}
	m.Down = nil
	if got.Message != nil {
		return h.end(h.messageOutcome(got.Message)), nil
	}
	m.TaskID, m.ContextID = got.Task.ID, cmp.Or(got.Task.ContextID, m.ContextID)
	return h.park(0, fmt.Sprintf("Agent %s has the task.", h.agent.name)), nil
}

// messageOutcome returns the outcome for an agent that answers with a message in place of a
// task.
func (h *handoff) messageOutcome(m *a2a.Message) activities.Outcome {
	if len(m.Parts) == 0 {
		return activities.Failed(CodeFailed, fmt.Sprintf("Agent %s answered with an empty message.", h.agent.name))
	}
	return activities.Completed(h.lastWords("answer", m))
}

// lastWords returns an artifact with the parts of a message.
func (h *handoff) lastWords(id string, m *a2a.Message) a2a.Artifact {
	return a2a.Artifact{ArtifactID: id, Name: h.agent.name, Parts: m.Parts, Metadata: h.agent.originMetadata()}
}

// park returns the outcome of a leg after which the task waits for d, also at its open gate. If the
// task is canceled then, cancelRemote runs. A note ends the wait, unless the agent is in trouble.
func (h *handoff) park(d time.Duration, says string) activities.Outcome {
	o := activities.ParkFor(d, h.memo, says)
	m := &h.memo
	o.OnCancel, o.Park.Notes = true, h.input.Whole && m.Down == nil && m.Missing == 0 && m.NoteTries == 0 // whose notes the agent gets
	if h.atCredential() {
		o.State = opt.TaskAuthRequired
	}
	return o
}

// atCredential reports whether the task waits at the gate for an authorization, which stays open
// while the remote task is looked at.
func (h *handoff) atCredential() bool {
	q := h.memo.Asked
	return q != nil && q.Kind == opt.Credential && q.Round == h.work.Round
}

// end returns o, and ends the remote task in the memo: another run of the task starts
// another one.
func (h *handoff) end(o activities.Outcome) activities.Outcome {
	h.memo.Ended = true
	return activities.Keeping(o, h.memo)
}

// onCallError returns the outcome of a leg in which a call failed.
func (h *handoff) onCallError(err error) (activities.Outcome, error) {
	t, ok := errors.AsType[*callError](err)
	if !ok {
		return activities.Outcome{}, err
	}
	m, name := &h.memo, h.agent.name
	switch {
	case t.kind == busy:
		o := h.park(t.after, fmt.Sprintf("Agent %s asks to wait.", name))
		o.Park.Notes = false
		return o, nil
	case t.kind == unreachable, t.kind == denied && m.TaskID != "":
		return h.onUnreachable(t)
	case t.code == codeNotFound && m.TaskID != "" && m.Missing < 5:
		m.Missing++
		return h.park(time.Duration(m.Missing)*firstPoll, ""), nil
	case t.code == codeNotFound && m.TaskID != "":
		return h.onLost(), nil
	}
	end := failures[t.kind]
	return h.end(activities.Failed(end.code, fmt.Sprintf(end.format, name, t.text))), nil
}

// failures says how a task ends by errors of calls that no repeat helps, with the name of the agent and the text of
// the error.
var failures = map[callErrorKind]struct{ code, format string }{
	denied:   {CodeDenied, "Agent %[1]s is not to be used with these credentials or at this address. %[2]s"},
	refused:  {CodeRefused, "Agent %[1]s refuses the message: %[2]s"},
	tooLarge: {CodeTooLarge, "The answer of agent %[1]s is too large."},
	unproven: {CodeUnproven, "Agent %[1]s is not used: %[2]s"},
}

// onUnreachable parks the task while the agent cannot be reached. The attempt fails when that
// lasts too long, or at once if the agent was never reached and does not stand behind this server.
func (h *handoff) onUnreachable(t *callError) (activities.Outcome, error) {
	m, now := &h.memo, h.now()
	failed := &activities.Error{Code: CodeAway, Message: fmt.Sprintf("Agent %s cannot be used. %s", h.agent.name, t.text)}
	patience := h.agent.Patience
	if h.input.Whole {
		patience = max(patience, h.agent.MaxWait)
	} else if m.Sends == 0 {
		return activities.Outcome{}, failed
	}
	if m.Down == nil || m.Down.Round != h.work.Round || m.Down.Attempt != h.work.Attempt {
		m.Down = &downtime{Round: h.work.Round, Attempt: h.work.Attempt, Since: now.UnixMilli()}
	}
	if now.Sub(time.UnixMilli(m.Down.Since)) > patience {
		return activities.Outcome{}, failed
	}
	m.Down.Times++
	return h.park(h.agent.repeatWait(m.Down.Times), failed.Message+" It is tried again."), nil
}

// statusDigest returns a text that changes when the status of a task does.
func statusDigest(t codec.TaskRead) string {
	return digest(string(t.Received.Status))
}
