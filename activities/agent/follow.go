package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/activities"
	"longhaul/opt"
)

const (
	firstPushPoll      = 15 * time.Second // the first wait for an agent that pushes; the later ones grow to longPoll
	longPoll           = 5 * time.Minute
	streamAfterPolls   = 3 // polls without a change after which no worker follows the stream
	askAgainAfterPolls = 8 // polls without a change after an answer, after which the question counts as asked again
)

// pollTask reads the remote task once, and returns the outcome or parks until the next poll.
func (h *handoff) pollTask(ctx context.Context) (activities.Outcome, error) {
	m, r := &h.memo, h.remote()
	h.registerPush(ctx, r)
	task, err := r.get(ctx, m.TaskID)
	if err != nil {
		return activities.Outcome{}, err
	}
	m.Down, m.Missing = nil, 0
	if state := statusDigest(task); state == m.State {
		m.Polls++
	} else {
		m.State, m.Polls = state, 0
	}
	changed, problem := h.changedArtifacts(task)
	if problem != "" {
		h.abandonRemote(ctx)
		return h.end(activities.Failed(CodeTooLarge, problem)), nil
	}
	if o, ended := h.endOutcome(task, changed); ended {
		return o, nil
	}
	if task.Status.State.Interrupted() {
		if o, asks := h.openGate(task, changed); asks {
			return o, nil
		}
	}
	if len(changed) > 0 {
		m.Polls = 0
	}
	if m.Asked != nil { // it has what it waited for
		m.Asked = nil
		o := h.park(0, h.status(task))
		o.Artifacts = changed
		return o, nil
	}
	return h.waitForWork(ctx, r, task, changed)
}

// waitForWork passes a note on, or waits while the agent works.
func (h *handoff) waitForWork(ctx context.Context, r remote, task codec.TaskRead, changed []a2a.Artifact) (activities.Outcome, error) {
	m := &h.memo
	wait, says := h.nextPoll(), ""
	if note, known, ok := h.messages().note(); ok {
		var err error
		if wait, says, err = h.passNote(ctx, r, note, known); err != nil {
			return activities.Outcome{}, err
		}
	} else if m.At.Stream && !h.agent.NoStream && m.Push != "on" && m.Polls < streamAfterPolls {
		return h.relay(ctx, r, task, changed)
	}
	o := h.park(wait, cmp.Or(says, h.status(task)))
	o.Artifacts = changed
	return o, nil
}

// relay follows the stream of the remote task for a while, and parks until the next poll. changed
// are artifacts that the task does not have.
func (h *handoff) relay(ctx context.Context, r remote, task codec.TaskRead, changed []a2a.Artifact) (activities.Outcome, error) {
	v := newRelay(h.agent, &h.memo, h.out, task)
	v.says = func(s a2a.TaskStatus) string { return h.status(codec.TaskRead{Task: a2a.Task{Status: s}}) }
	v.words(task.Status)
	limited, cancel := context.WithTimeout(ctx, streamFor)
	defer cancel()
	err := r.watch(limited, h.memo.TaskID, v.event)
	if ctx.Err() != nil {
		return activities.Outcome{}, ctx.Err()
	}
	wait := h.nextPoll()
	switch t := (*callError)(nil); {
	case errors.Is(err, errChanged):
		wait = 0
	case errors.Is(err, errEnough):
	case errors.As(err, &t) && t.kind == refused:
		h.memo.At.Stream = false // the agent does not stream this task
	case errors.As(err, &t), err == nil, limited.Err() != nil:
	default:
		return activities.Outcome{}, err
	}
	o := h.park(wait, "")
	if !v.said {
		o.Park.Text = h.status(task)
	}
	o.Artifacts = v.notShown(changed)
	return o, nil
}

// registerPush asks the agent, once, to push the states of the remote task.
func (h *handoff) registerPush(ctx context.Context, r remote) {
	m := &h.memo
	if m.Push != "" || !m.At.Push || h.agent.NoPush || h.work.WakeURL == "" {
		return
	}
	if m.Push = "on"; r.push(ctx, m.TaskID, h.work.WakeURL) != nil {
		m.Push = "off" // the task is polled more often instead
	}
}

// nextPoll returns how long to wait before the next poll.
func (h *handoff) nextPoll() time.Duration {
	if h.memo.Push == "on" {
		return min(firstPushPoll<<min(h.memo.Polls, 10), longPoll)
	}
	return h.agent.repeatWait(h.memo.Polls + 1)
}

// status returns the text of a status for clients.
func (h *handoff) status(t codec.TaskRead) string {
	if text := cleanLines(statusText(t.Status), maxPrompt); h.input.Whole && text != "" {
		return text
	}
	way := fmt.Sprintf("(handoff %d of at most %d)", h.memo.Hops.Hops, h.executor.cfg.Agents.Hops)
	if text := cleanLine(statusText(t.Status), maxLine); text != "" {
		return fmt.Sprintf("Agent %s: %s %s", h.agent.name, text, way)
	}
	if t.Status.State == "" {
		return fmt.Sprintf("Agent %s shows the unknown state %q %s.", h.agent.name, cleanLine(t.Received.Word, 40), way)
	}
	return fmt.Sprintf("Agent %s works on the task %s.", h.agent.name, way)
}

// statusText returns the text of the message in a status.
func statusText(s a2a.TaskStatus) string {
	if s.Message == nil {
		return ""
	}
	return s.Message.Text()
}

// changedArtifacts returns the new and the changed artifacts of the remote task. problem says,
// for clients, which limit they exceed.
func (h *handoff) changedArtifacts(t codec.TaskRead) (list []a2a.Artifact, problem string) {
	if len(t.Artifacts) > h.agent.Artifacts {
		return nil, fmt.Sprintf("Agent %s made %d artifacts; the operator allows %d.", h.agent.name, len(t.Artifacts), h.agent.Artifacts)
	}
	bytes := 0
	for _, in := range t.Artifacts {
		a := h.agent.artifact(in)
		content := string(mustJSON(a))
		if bytes += len(content); bytes > h.agent.Bytes {
			return nil, fmt.Sprintf("The artifacts of agent %s have more than the %d bytes that the operator allows.", h.agent.name, h.agent.Bytes)
		}
		if known := digest(content); len(a.Parts) > 0 && h.memo.Seen[in.ArtifactID] != known {
			h.memo.Returned = true
			h.memo.noteSeen(in.ArtifactID, known)
			list = append(list, a)
		}
	}
	return list, ""
}

// endOutcome returns the outcome of a remote task that is over.
func (h *handoff) endOutcome(t codec.TaskRead, changed []a2a.Artifact) (o activities.Outcome, ended bool) {
	reason := cmp.Or(cleanLine(statusText(t.Status), maxLine), "It gave no reason.")
	switch name := h.agent.name; t.Status.State {
	case a2a.Completed:
		o = h.completed(t, changed)
	case a2a.Failed:
		o = activities.Failed(CodeFailed, fmt.Sprintf("Agent %s failed: %s", name, reason))
	case a2a.Canceled:
		o = activities.Failed(CodeCanceled, fmt.Sprintf("The task was canceled at agent %s: %s", name, reason))
	case a2a.Rejected:
		o = activities.Rejected(CodeRejected, fmt.Sprintf("Agent %s rejected the task: %s", name, reason))
	default:
		return activities.Outcome{}, false
	}
	o.Usage = h.memo.At.bill(t)
	return h.end(o), true
}

// bill returns what the agent says that it has spent, nil if it does not say it.
func (e endpoint) bill(t codec.TaskRead) *opt.Usage {
	var b opt.Bill
	err := t.Metadata.Decode(a2a.ExtensionBudget, &b)
	if s := b.Spent; err != nil || !e.Budget || s.IsZero() || !s.Plausible() {
		return nil
	}
	return &b.Spent
}

// completed returns the outcome of a remote task that is completed. What it says last is the result
// if there is no other, or beside it if all is handed over.
func (h *handoff) completed(t codec.TaskRead, changed []a2a.Artifact) activities.Outcome {
	switch m := t.Status.Message; {
	case m == nil || len(m.Parts) == 0:
	case len(t.Artifacts) == 0:
		return h.messageOutcome(m)
	case h.input.Whole:
		id := "answer"
		for slices.ContainsFunc(t.Artifacts, func(a a2a.Artifact) bool { return a.ArtifactID == id }) {
			id += "-"
		}
		changed = append(changed, h.lastWords(id, m))
	}
	return activities.Completed(changed...)
}

// abandonRemote tries to cancel the remote task, whose result is no longer needed.
func (h *handoff) abandonRemote(ctx context.Context) {
	if h.memo.TaskID != "" {
		_, _ = h.remote().cancel(ctx, h.memo.TaskID, "") // the outcome is known without its answer
	}
}

const (
	cancelFor   = 20 * time.Second // how long the leg of a canceled task waits for the agent
	cancelPause = 500 * time.Millisecond
)

// cancelRemote cancels the remote task. The outcome says whether the agent has confirmed it.
func (h *handoff) cancelRemote(ctx context.Context) activities.Outcome {
	unknown := activities.Failed(CodeNotToldOf, fmt.Sprintf("Agent %s was asked to cancel the task, but could not confirm it: its state is unknown.", h.agent.name))
	m, r := &h.memo, h.remote()
	ctx, stop := context.WithTimeout(ctx, cancelFor)
	defer stop()
	if m.TaskID == "" && m.MessageID != "" && !m.Ended {
		t, known, err := r.find(ctx, m.ContextID, m.MessageID)
		if err != nil || !known {
			return unknown
		}
		m.TaskID = t.ID
	}
	if m.TaskID == "" || m.Ended {
		return activities.Failed(CodeStopped, fmt.Sprintf("Agent %s has no open task for it.", h.agent.name))
	}
	task, err := r.cancel(ctx, m.TaskID, h.work.Reason)
	for {
		if err == nil {
			if o, over := h.stopOutcome(task); over {
				return o
			}
		}
		if activities.Sleep(ctx, cancelPause) != nil {
			return unknown
		}
		task, err = r.get(ctx, m.TaskID)
	}
}

// stopOutcome returns the outcome of a canceled task if the remote task is over.
func (h *handoff) stopOutcome(t codec.TaskRead) (activities.Outcome, bool) {
	changed, problem := h.changedArtifacts(t)
	switch state := t.Status.State; {
	case state == a2a.Canceled:
		o := activities.Failed(CodeStopped, fmt.Sprintf("Agent %s confirmed that it canceled the task.", h.agent.name))
		o.Usage = h.memo.At.bill(t)
		return o, true
	case state == a2a.Completed && problem != "":
		return activities.Failed(CodeTooLarge, problem), true
	}
	return h.endOutcome(t, changed)
}

// prompt returns the question in a status for people.
func prompt(s a2a.TaskStatus) string {
	return cmp.Or(cleanLines(statusText(s), maxPrompt), "The agent asks for input without a question.")
}

// onLost returns the outcome for a remote task that the agent does not know any more.
func (h *handoff) onLost() activities.Outcome {
	m, does := &h.memo, h.agent.OnLost
	if does == "" && h.input.Whole {
		does = Resend
	}
	switch {
	case h.atCredential(): // a gate of its own asks, after this one is closed
		m.Asked = nil
		return h.park(0, "")
	case does == Fail:
		return h.lost()
	case does == Resend && len(h.work.Replies) == 0 && m.untouched():
		return h.resend()
	}
	m.LostAt, m.Asked = h.work.Round, nil
	return activities.Keeping(activities.WaitFor(opt.Gate{
		Kind:        opt.Clarification,
		Description: "The agent does not know the task any more. If it gets the task again, with the questions and answers so far, it may repeat what it has done.",
		Questions: []opt.Question{{
			ID: "lost", Question: fmt.Sprintf("Agent %s has lost the task: %s, or %s?", h.agent.name, sendAgain, stopIt),
			Schema: mustJSON(map[string]any{"type": "string", "enum": []string{sendAgain, stopIt}}),
		}},
		Responders: h.messages().lostResponders(h.agent.Operators),
	}), *m)
}

// afterLoss returns the outcome after the answer to whether a lost task is sent again.
func (h *handoff) afterLoss() activities.Outcome {
	answer := ""
	if reply, ok := h.reply(h.memo.LostAt); ok && len(reply.Answers) == 1 {
		_ = json.Unmarshal(reply.Answers[0].Answer, &answer) // "" if it is not a text
	}
	if answer == sendAgain {
		return h.resend()
	}
	return h.lost()
}

func (h *handoff) lost() activities.Outcome {
	return h.end(activities.Failed(CodeLost, fmt.Sprintf("Agent %s does not know the task any more that it was given.", h.agent.name)))
}

// resend forgets the remote task, so that the next leg starts another one.
func (h *handoff) resend() activities.Outcome {
	h.memo.forget()
	return h.park(0, fmt.Sprintf("Agent %s does not know the task any more, and gets it again.", h.agent.name))
}

// maxNoteTries is how often a note is sent to an agent that does not take it.
const maxNoteTries = 5

// passNote sends a note of a client to an agent that works: another one would take it for the answer
// to a question. It returns how long to wait for the next look, and a text for clients if the agent
// does not take the note.
func (h *handoff) passNote(ctx context.Context, r remote, note a2a.Message, known string) (wait time.Duration, says string, err error) {
	m, arrived := &h.memo, false
	if h.work.Try > 1 || m.NoteTries > 0 { // it may have arrived before
		task, err := r.history(ctx, m.TaskID)
		if err != nil {
			return 0, "", err
		}
		arrived = hasMessage(task, note.MessageID)
	}
	if !arrived {
		_, err = r.send(ctx, note, h.input.Accept)
	}
	if err != nil {
		t, ok := errors.AsType[*callError](err)
		if !ok {
			return 0, "", err
		}
		if m.NoteTries++; t.kind != refused && m.NoteTries < maxNoteTries {
			return h.agent.repeatWait(m.NoteTries), "", nil
		}
		says = fmt.Sprintf("Agent %s does not take a message while it works: %s", h.agent.name, t.text)
	}
	m.Passed, m.NoteTries = append(m.Passed, known), 0
	return 0, says, nil
}
