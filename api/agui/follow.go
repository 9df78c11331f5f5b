package agui

import (
	"context"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/api/stream"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// on adds what an event of the objective brings.
func (r *Run) on(ctx context.Context, e stream.StreamEvent) (err error) {
	switch {
	case e.Task != nil:
		r.feed.at.Seq = e.Seq
		if err = r.showMessages(ctx, e.Task); err == nil {
			r.note(e.Task.Status)
			err = r.refresh(ctx)
		}
	case e.Artifact != nil:
		err = r.onArtifact(ctx, *e.Artifact, e.Seq)
	case e.Status != nil:
		err = r.onStatus(*e.Status, e.Seq)
	}
	r.feed.at.Seq = max(r.feed.at.Seq, e.Seq)
	return err
}

// onStatus adds what the agent says with a status. Updates about plans and tasks, which repeat
// the status of the root task, only change the state.
func (r *Run) onStatus(u a2a.StatusUpdate, seq int64) error {
	if r.dirty == nil {
		r.dirty = time.After(settleTime)
	}
	if u.Metadata.Has(opt.KeyEvent) {
		return nil
	}
	r.note(u.Status)
	if !says(u.Status) {
		return nil
	}
	m := spoken(*u.Status.Message)
	if r.has(m.ID) || m.Content == "" {
		return nil
	}
	return r.feed.say(m.ID, m.Content, true, seq)
}

// onArtifact adds a piece of an artifact. One that replaces an artifact comes with all messages.
func (r *Run) onArtifact(ctx context.Context, u a2a.ArtifactUpdate, seq int64) error {
	id := artifactID(u.TaskID, u.Artifact.ArtifactID)
	if r.has(id) && !u.Append {
		return r.showMessages(ctx, nil)
	}
	return r.feed.say(id, textOf(u.Artifact.Parts), u.LastChunk, seq)
}

// has reports whether the client has a message, and notes that it has it from now on.
func (r *Run) has(id string) bool {
	if slices.Contains(r.known, id) || slices.Contains(r.feed.at.Texts, id) {
		return true
	}
	r.known = append(r.known, id)
	return false
}

// note keeps the status in which the objective has ended.
func (r *Run) note(s a2a.TaskStatus) {
	r.ended = nil
	if s.State.Terminal() {
		r.ended = &s
	}
}

// showMessages adds all messages of the thread. own is the task that the run follows, as the
// client shall have it; nil to read it.
func (r *Run) showMessages(ctx context.Context, own *a2a.Task) error {
	list, err := r.objectives(ctx, mostObjectives)
	if err != nil {
		return err
	}
	var thread []chatMessage
	for _, o := range slices.Backward(list) {
		if own != nil && own.ID == o.RootID() {
			continue // comes last: the objectives before it are those that the client may have seen
		}
		t, err := r.service.Tasks.GetTask(ctx, r.call, read.TaskParams{ID: o.RootID(), History: mostMessages, Scope: shown.ScopeObjective})
		if call.Is(err, call.TaskNotFound) { // it was removed meanwhile
			continue
		}
		if err != nil {
			return err
		}
		thread = append(thread, messagesOf(t.Task)...)
	}
	if own != nil {
		thread = append(thread, messagesOf(*own)...)
	}
	for _, m := range thread {
		r.has(m.ID)
	}
	return r.feed.add(object{"type": "MESSAGES_SNAPSHOT", "messages": joined(r.in.Messages, thread)})
}

// refresh adds how the state has changed. If the objective waits for the caller, the run ends.
func (r *Run) refresh(ctx context.Context) error {
	r.dirty = nil
	o, err := r.showState(ctx)
	if err == nil {
		err = r.judge(ctx)
	}
	if err != nil || r.feed.at.Over || o.Status != opt.ObjectiveBlocked {
		return err
	}
	open, err := r.interrupts(ctx, shown.InterruptFilter{ObjectiveID: o.ID})
	if err != nil || len(open) == 0 {
		return err
	}
	return r.interrupt(ctx, open)
}

// showState adds how the state has changed since the client got it, and which steps are done.
func (r *Run) showState(ctx context.Context) (*opt.Objective, error) {
	o, err := r.service.Objectives.GetObjective(ctx, r.call, read.GetObjectiveParams{ID: r.objectiveID})
	if err != nil {
		return nil, err
	}
	now, err := stateOf(r.in.State, o.Objective)
	if err != nil {
		return nil, err
	}
	before := r.state
	r.state = now
	if before == nil {
		err = r.showSnapshot()
	} else if changes := diff("", before, now); len(changes) > 0 {
		err = r.feed.add(object{"type": "STATE_DELTA", "delta": changes})
	}
	if err == nil {
		err = r.feed.setSteps(stepsOf(o.Objective))
	}
	return o.Objective, err
}

func (r *Run) showSnapshot() error {
	return r.feed.add(object{"type": "STATE_SNAPSHOT", "snapshot": r.state})
}

// interrupt ends the run with gates. Before that the client gets the whole state, from which the
// next run continues.
func (r *Run) interrupt(ctx context.Context, open []shown.Interrupt) error {
	var interrupts []object
	for _, i := range open {
		interrupts = append(interrupts, interruptOf(i))
		name, args, ok := functionOf(&i.Gate)
		if id := i.Gate.ID; ok && !slices.Contains(r.feed.at.Calls, id) {
			r.feed.at.Calls = append(r.feed.at.Calls, id)
			// a whole call: clients make start, arguments and end of it
			call := object{"type": "TOOL_CALL_CHUNK", "toolCallId": id, "toolCallName": name, "parentMessageId": id, "delta": args}
			if err := r.feed.add(call); err != nil {
				return err
			}
		}
	}
	if err := r.feed.settle(); err != nil {
		return err
	}
	if err := r.showMessages(ctx, nil); err != nil {
		return err
	}
	if err := r.showSnapshot(); err != nil {
		return err
	}
	return r.end(r.finished(object{"type": "interrupt", "interrupts": interrupts}))
}

// finish ends the run after the end of the objective, or after its removal.
func (r *Run) finish(ctx context.Context) error {
	removed := failed("REMOVED", "The work was removed")
	if r.ended == nil {
		return r.end(removed)
	}
	_, err := r.showState(ctx)
	if err == nil {
		err = r.judge(ctx)
	}
	switch s := *r.ended; {
	case call.Is(err, call.NotFound):
		return r.end(removed)
	case err != nil || r.feed.at.Over:
		return err
	case s.State == a2a.Completed:
		return r.end(r.finished(object{"type": "success"}))
	case s.State == a2a.Canceled:
		return r.end(r.finished(object{"type": "cancelled"}))
	case s.Message != nil && s.Message.Text() != "":
		return r.end(failed(string(s.State), s.Message.Text()))
	default:
		return r.end(failed(string(s.State), "The work has failed"))
	}
}

// finished returns the end of a run that has not failed.
func (r *Run) finished(outcome object) object {
	return object{"type": "RUN_FINISHED", "threadId": r.in.ThreadID, "runId": r.in.RunID, "outcome": outcome}
}

// end ends the run.
func (r *Run) end(e object) error {
	if err := r.feed.settle(); err != nil {
		return err
	}
	r.feed.at.Over = true
	return r.feed.add(e)
}

// showAnswer shows a thread without work to follow, and what the agent has answered at once; nil
// for nothing.
func (r *Run) showAnswer(ctx context.Context, m *a2a.Message) error {
	err := r.showMessages(ctx, nil)
	if m != nil && err == nil {
		err = r.feed.say(m.MessageID, textOf(m.Parts), true, 0)
	}
	if err == nil {
		err = r.end(r.finished(object{"type": "success"}))
	}
	return err
}
