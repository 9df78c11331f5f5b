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
		r.note(e.Task.Status)
		if err = r.showThread(ctx, e.Task); err == nil {
			err = r.refresh(ctx)
		}
	case e.Artifact != nil:
		err = r.onArtifact(ctx, *e.Artifact, e.Seq)
	case e.Status != nil:
		r.onStatus(*e.Status, e.Seq)
	}
	r.feed.at.Seq = max(r.feed.at.Seq, e.Seq)
	return err
}

// onArtifact adds a piece of an artifact. If it replaces what the client has, the client needs all
// messages again.
func (r *Run) onArtifact(ctx context.Context, u a2a.ArtifactUpdate, seq int64) error {
	id := artifactID(u.TaskID, u.Artifact.ArtifactID)
	if r.feed.has(id) && !u.Append {
		return r.showThread(ctx, nil)
	}
	r.feed.say(id, textOf(u.Artifact.Parts), u.LastChunk, seq)
	return nil
}

// onStatus adds what the agent says with a status, once. Updates about plans and tasks, which repeat
// the status of the root task, only change the state.
func (r *Run) onStatus(u a2a.StatusUpdate, seq int64) {
	if r.dirty == nil {
		r.dirty = time.After(settleTime)
	}
	if u.Metadata.Has(opt.KeyEvent) {
		return
	}
	r.note(u.Status)
	if !says(u.Status) {
		return
	}
	if m := spoken(*u.Status.Message); !r.feed.has(m.ID) && m.Content != "" {
		r.feed.say(m.ID, m.Content, true, seq)
	}
}

// note keeps the status in which the objective has ended.
func (r *Run) note(s a2a.TaskStatus) {
	r.ended = nil
	if s.State.Terminal() {
		r.ended = &s
	}
}

// showThread adds all messages of the thread. own is the task that the run follows, as the client
// shall have it; nil to read it.
func (r *Run) showThread(ctx context.Context, own *a2a.Task) error {
	list, err := r.objectives(ctx, mostObjectives)
	if err != nil {
		return err
	}
	var all []entry
	for _, o := range slices.Backward(list) {
		if own != nil && own.ID == o.RootID() {
			continue // comes last: the objectives before it are those that the client may have seen
		}
		t, err := r.service.Tasks.GetTask(ctx, r.call, read.TaskParams{ID: o.RootID(), History: mostMessages, Scope: shown.ScopeObjective})
		switch {
		case err == nil:
			all = append(all, entriesOf(t.Task)...)
		case !call.Is(err, call.TaskNotFound): // it was not removed meanwhile
			return err
		}
	}
	if own != nil {
		all = append(all, entriesOf(*own)...)
	}
	r.feed.thread(all)
	return nil
}

// show adds how the state has changed. If another answer was first at a gate whose answer is not judged
// yet, the run ends.
func (r *Run) show(ctx context.Context) (*opt.Objective, error) {
	o, err := r.service.Objectives.GetObjective(ctx, r.call, read.GetObjectiveParams{ID: r.objectiveID})
	if err == nil {
		r.feed.show(o.Objective)
		err = r.judge(ctx)
	}
	return o.Objective, err
}

// judge looks for the verdicts on answers that had none when the run began. If another answer was
// first at a gate, the run ends with who that was.
func (r *Run) judge(ctx context.Context) error {
	for id, message := range r.answered {
		g, err := r.service.Gates.GetInterrupt(ctx, r.call, id)
		if err != nil {
			return err
		}
		own := slices.IndexFunc(g.Replies, func(s shown.GateReply) bool { return s.Decision.MessageID == message })
		if g.Open && own < 0 {
			continue
		}
		delete(r.answered, id)
		if first := g.Closed(); first != nil && (own < 0 || g.Replies[own].Decision.Verdict != opt.Accepted) {
			r.feed.end(failure(call.ErrNotWaiting.Late(first.Decision)))
			return nil
		}
	}
	return nil
}

// refresh adds how the state has changed. If the objective waits for the caller, the run ends with
// its gates. Before that the client gets all messages and the whole state, from which the next run
// continues.
func (r *Run) refresh(ctx context.Context) error {
	r.dirty = nil
	o, err := r.show(ctx)
	if err != nil || r.feed.at.Over || o.Status != opt.ObjectiveBlocked {
		return err
	}
	open, err := r.interrupts(ctx, shown.InterruptFilter{ObjectiveID: o.ID})
	if err != nil || len(open) == 0 {
		return err
	}
	var interrupts []object
	for _, i := range open {
		r.feed.showCall(&i.Gate)
		interrupts = append(interrupts, interruptOf(i))
	}
	r.feed.settle()
	if err := r.showThread(ctx, nil); err != nil {
		return err
	}
	r.feed.showState()
	r.feed.finish(object{"type": "interrupt", "interrupts": interrupts})
	return nil
}

// finish ends the run after the end of the objective, or after its removal.
func (r *Run) finish(ctx context.Context) (err error) {
	if r.ended != nil {
		_, err = r.show(ctx)
	}
	if r.ended == nil || call.Is(err, call.NotFound) {
		r.feed.end(failed("REMOVED", "The work was removed"))
		return nil
	}
	switch s := *r.ended; {
	case err != nil || r.feed.at.Over:
	case s.State == a2a.Completed:
		r.feed.finish(success)
	case s.State == a2a.Canceled:
		r.feed.finish(object{"type": "cancelled"})
	case s.Message != nil && s.Message.Text() != "":
		r.feed.end(failed(string(s.State), s.Message.Text()))
	default:
		r.feed.end(failed(string(s.State), "The work has failed"))
	}
	return err
}
