package agui

import (
	"context"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/api/agui/protocol"
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
		r.feed.At.Seq = e.Seq
		r.note(e.Task.Status)
		if err = r.showThread(ctx, e.Task); err == nil {
			err = r.refresh(ctx)
		}
	case e.Artifact != nil:
		if r.feed.Artifact(*e.Artifact, e.Seq) {
			err = r.showThread(ctx, nil)
		}
	case e.Status != nil:
		r.onStatus(*e.Status, e.Seq)
	}
	r.feed.At.Seq = max(r.feed.At.Seq, e.Seq)
	return err
}

// onStatus adds what the agent says with a status. Updates about plans and tasks, which repeat
// the status of the root task, only change the state.
func (r *Run) onStatus(u a2a.StatusUpdate, seq int64) {
	if r.dirty == nil {
		r.dirty = time.After(settleTime)
	}
	if !u.Metadata.Has(opt.KeyEvent) {
		r.note(u.Status)
		r.feed.Status(u.Status, seq)
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
	thread, err := r.thread(ctx, own)
	if err == nil {
		r.feed.Thread(thread)
	}
	return err
}

func (r *Run) thread(ctx context.Context, own *a2a.Task) (all []protocol.Message, err error) {
	list, err := r.objectives(ctx, mostObjectives)
	if err != nil {
		return nil, err
	}
	for _, o := range slices.Backward(list) {
		if own != nil && own.ID == o.RootID() {
			continue // comes last: the objectives before it are those that the client may have seen
		}
		t, err := r.service.Tasks.GetTask(ctx, r.call, read.TaskParams{ID: o.RootID(), History: mostMessages, Scope: shown.ScopeObjective})
		if call.Is(err, call.TaskNotFound) { // it was removed meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, protocol.MessagesOf(t.Task)...)
	}
	if own != nil {
		all = append(all, protocol.MessagesOf(*own)...)
	}
	return all, nil
}

// show adds how the state has changed. If another answer was first at a gate whose answer is not judged
// yet, the run ends.
func (r *Run) show(ctx context.Context) (*opt.Objective, error) {
	o, err := r.service.Objectives.GetObjective(ctx, r.call, read.GetObjectiveParams{ID: r.objectiveID})
	if err == nil {
		r.feed.Show(o.Objective)
		err = r.judge(ctx)
	}
	return o.Objective, err
}

// refresh adds how the state has changed. If the objective waits for the caller, the run ends.
func (r *Run) refresh(ctx context.Context) error {
	r.dirty = nil
	o, err := r.show(ctx)
	if err != nil || r.feed.At.Over || o.Status != opt.ObjectiveBlocked {
		return err
	}
	open, err := r.interrupts(ctx, shown.InterruptFilter{ObjectiveID: o.ID})
	if err != nil || len(open) == 0 {
		return err
	}
	thread, err := r.thread(ctx, nil)
	if err == nil {
		r.feed.Interrupt(open, thread)
	}
	return err
}

// finish ends the run after the end of the objective, or after its removal.
func (r *Run) finish(ctx context.Context) (err error) {
	if r.ended != nil {
		_, err = r.show(ctx)
	}
	if r.ended == nil || call.Is(err, call.NotFound) {
		r.feed.Fail("REMOVED", "The work was removed")
		return nil
	}
	switch s := *r.ended; {
	case err != nil || r.feed.At.Over:
	case s.State == a2a.Completed:
		r.feed.Success("success")
	case s.State == a2a.Canceled:
		r.feed.Success("cancelled")
	case s.Message != nil && s.Message.Text() != "":
		r.feed.Fail(string(s.State), s.Message.Text())
	default:
		r.feed.Fail(string(s.State), "The work has failed")
	}
	return err
}

// showAnswer shows a thread without work to follow, and what the agent has answered at once; nil
// for nothing.
func (r *Run) showAnswer(ctx context.Context, m *a2a.Message) error {
	err := r.showThread(ctx, nil)
	if m != nil {
		r.feed.Answer(m)
	}
	r.feed.Success("success")
	return err
}
