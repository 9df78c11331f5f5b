package api

import (
	"context"
	"errors"
	"fmt"

	"longhaul/a2a"
	"longhaul/api/wire"
	"longhaul/opt"
)

// converse takes a message that names a task: a reply to a gate, or a note. It
// checks what needs no workflow; the workflow judges.
//
// A finished task takes no message, and a repeated message gets its first answer.
// A reply may finish its task, and its client may not have heard: so a repeat is
// looked for first, as soon as the task is known to be the caller's.
func (s *Server) converse(ctx context.Context, c *call, p wire.SendParams) (*delivery, error) {
	m := p.Message
	hint, err := s.hinted(ctx, c, p)
	if err != nil {
		return nil, err
	}
	taskID, forTask, err := address(m.TaskID, hint)
	if err != nil {
		return nil, err
	}
	v, err := s.task(ctx, c, taskID, opt.TaskWant{})
	if err != nil {
		return nil, err
	}
	if m.ContextID != "" && m.ContextID != v.Task.ContextID {
		return nil, invalid("message.contextId", "is not that of the task")
	}
	key, err := s.letterKey(c)
	if err != nil {
		return nil, err
	}
	if d, err := s.said(ctx, c, v, opt.Letter{Key: key, Message: m}); d != nil || err != nil {
		return d, err
	}
	if v.State.Ended() {
		return nil, errEnded
	}
	if err := s.checkMedia(m); err != nil {
		return nil, err
	}
	letter, err := compose(v, m, forTask)
	if err != nil {
		return nil, err
	}
	letter.Principal, letter.Key = c.Principal, key
	if letter.Reply != nil {
		letter.Reply.DecidedBy, letter.Reply.At = c.Principal, a2a.At(s.cfg.Now())
	}
	return s.tell(ctx, c, v, letter)
}

// address returns the task that a message is addressed to, and the plan task
// under it that it is for, "" if it does not say. The metadata key may do both:
// name the task, and tell which of those under the root task is meant.
func address(taskID, hint string) (to, forTask string, err error) {
	if taskID == "" || taskID == hint {
		return hint, "", nil
	}
	if hint == "" {
		return taskID, "", nil
	}
	root, ok := opt.ParseID(taskID)
	inner, okInner := opt.ParseID(hint)
	if !ok || !okInner || root.TaskID != "" || inner.TaskID == "" || root.ObjectiveID != inner.ObjectiveID {
		return "", "", invalid("message.metadata."+opt.KeyTaskID, "is not a task under the one that message.taskId names")
	}
	return taskID, hint, nil
}

// letterKey returns what makes messages to a task the same message, "" if that is
// their id.
func (s *Server) letterKey(c *call) (string, error) {
	switch {
	case s.cfg.Idempotency != NoRepeats && c.key != "":
		return "key:" + c.key, nil
	case s.cfg.Idempotency == ByMessageID:
		return "", nil
	}
	return s.randomObjectiveID()
}

// said returns the task of a letter that was judged before, or the error that it
// got. Both are nil if it was not.
func (s *Server) said(ctx context.Context, c *call, v opt.TaskView, l opt.Letter) (*delivery, error) {
	w := s.cfg.Watch(v.ObjectiveID)
	j, ok, err := s.cfg.Journal.Judgement(ctx, v.ObjectiveID, c.Principal, l.Once())
	if ok && err == nil {
		err = verdict(j, l.Message)
	}
	if !ok || err != nil {
		w.Close()
		return nil, err
	}
	return &delivery{taskID: v.Task.ID, watch: w}, nil
}

// tell delivers a letter and waits a little for the verdict on it, and for the
// task to follow that.
func (s *Server) tell(ctx context.Context, c *call, v opt.TaskView, l opt.Letter) (*delivery, error) {
	d := &delivery{taskID: v.Task.ID, watch: s.cfg.Watch(v.ObjectiveID)}
	if l.Reply != nil {
		d.gate = l.Reply.GateID
	}
	err := s.send(ctx, l)
	if err == nil {
		d.pending, err = s.judged(ctx, c, v, l, d.watch)
	}
	if err == nil && !d.pending && d.gate != "" {
		err = s.movedOn(ctx, c, d)
	}
	if err != nil {
		d.watch.Close()
		return nil, err
	}
	return d, nil
}

func (s *Server) send(ctx context.Context, l opt.Letter) error {
	ctx, cancel := s.writing(ctx)
	defer cancel()
	err := s.cfg.Engine.Tell(ctx, l)
	if errors.Is(err, opt.ErrUnknown) {
		return errEnded // the journal knows the task, so its workflow was there and is gone
	}
	if err != nil {
		return fmt.Errorf("tell %s: %w", l.ObjectiveID, err)
	}
	return nil
}

// compose makes the letter that carries m to whoever decides about it.
func compose(v opt.TaskView, m a2a.Message, forTask string) (opt.Letter, error) {
	l := opt.Letter{ObjectiveID: v.ObjectiveID, TaskID: v.Task.ID, Message: m}
	if ref, ok := opt.ParseID(v.Task.ID); ok && ref.TaskID != "" {
		l.PlanID = ref.PlanID
	}
	decision, fault := wire.ReadDecision(m)
	if fault != nil {
		return l, fault
	}
	gate, reply, err := answer(v.Gates, m, decision, forTask)
	switch {
	case err != nil:
		return l, err
	case reply == nil && forTask != "": // a note for a task under the root
		ref, _ := opt.ParseID(forTask)
		l.PlanID, l.ForTask = ref.PlanID, forTask
	case reply != nil:
		ref, ok := opt.ParseID(gate.TaskID)
		if !ok {
			return l, fmt.Errorf("gate %s is at %q, which is no task", gate.ID, gate.TaskID)
		}
		l.PlanID, l.Reply = ref.PlanID, reply
		if gate.TaskID != l.TaskID {
			l.ForTask = gate.TaskID
		}
	}
	return l, nil
}
