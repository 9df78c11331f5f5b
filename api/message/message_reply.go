package message

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/letter"
	"longhaul/api/push"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/access"
	"longhaul/opt/shown"
)

// deliverToTask delivers a message that names a task: a reply to a gate, or a note. It
// checks what it can; the workflow decides.
//
// An ended task refuses messages, and a repeated message gets its first answer. A
// reply may end its task before the client gets the answer, so a repeat is looked
// up first.
func (s *Messages) deliverToTask(ctx context.Context, c *call.Call, p SendParams) (*Receipt, error) {
	if p.Decision != nil || p.BadDecision != nil {
		if err := c.RequireScopes(call.RespondApprovals); err != nil {
			return nil, err
		}
	}
	v, forTask, err := s.addressee(ctx, c, p)
	if err != nil {
		return nil, err
	}
	d, err := s.deliverTo(ctx, c, v, p, forTask)
	if err != nil {
		return nil, s.withDecided(ctx, c, v, p, err)
	}
	return d, nil
}

// withDecided returns err, the error of a message to v, with who has closed the gate if the message
// is an answer that came too late, to a sender who may answer.
func (s *Messages) withDecided(ctx context.Context, c *call.Call, v shown.TaskView, p SendParams, err error) error {
	f, ok := errors.AsType[*call.Fault](err)
	answers := p.Answers()
	if !ok || answers == nil || c.RequireScopes(call.RespondApprovals) != nil || f != call.ErrNotWaiting && f != call.ErrEnded {
		return err
	}
	gateID := answers.GateID
	if gateID == "" {
		latest, failed := s.Journal.Task(ctx, c.Tenant, v.Task.ID, shown.TaskWant{})
		if failed != nil || latest.Decided == nil {
			return err
		}
		gateID = latest.Decided.GateID
	}
	if taskID, ok := opt.TaskOfGate(gateID); !ok || !call.IsValidID(taskID) {
		return err
	}
	r, failed := s.Journal.Gate(ctx, c.Tenant, gateID)
	if closed := r.Closed(); failed == nil && r.ObjectiveID == v.ObjectiveID && closed != nil {
		return f.Late(closed.Decision)
	}
	return err
}

// deliverTo delivers a message to v, and to the plan task under it that the message is for, "" for
// none.
func (s *Messages) deliverTo(ctx context.Context, c *call.Call, v shown.TaskView, p SendParams, forTask string) (d *Receipt, err error) {
	key := "" // the id of the message
	if !p.Once {
		key, err = s.IDs.Letter(c)
	}
	if err != nil {
		return nil, err
	}
	if d, err := s.judgedBefore(ctx, c, v, opt.Letter{Key: key, Message: p.light}); d != nil || err != nil {
		return d, err
	}
	if v.State.Ended() {
		return nil, call.ErrEnded
	}
	l, err := s.letterTo(ctx, c, v, p, forTask)
	if err != nil {
		return nil, err
	}
	l.Principal, l.Groups, l.Key = c.Principal, c.Groups, key
	if l.Reply != nil {
		l.Reply.DecidedBy, l.Reply.At = c.Principal, a2a.At(s.Now())
		at := slices.IndexFunc(v.Gates, func(g *opt.Gate) bool { return g.ID == l.Reply.GateID })
		if l.Seats, err = s.SeatsAt(ctx, c, v.Gates[at]); err != nil {
			return nil, err
		}
	}
	if err := s.storeContents(ctx, c, l, p.blobs); err != nil {
		return nil, err
	}
	return s.sendLetter(ctx, c, v, l, p.Push)
}

// addressee returns the task that a message is addressed to, and the plan task under it that the
// message is for, "" for none.
func (s *Messages) addressee(ctx context.Context, c *call.Call, p SendParams) (v shown.TaskView, forTask string, err error) {
	hint, err := s.hintedTask(ctx, c, p)
	if err != nil {
		return v, "", err
	}
	id, forTask, err := resolveAddress(p.Message.TaskID, hint)
	if err != nil {
		return v, "", err
	}
	if p.Known != nil && p.Known.Task.ID == id {
		v = *p.Known
	} else if v, err = s.Read.Task(ctx, c, id, shown.TaskWant{}); err != nil {
		return v, "", err
	}
	if p.Message.ContextID != "" && p.Message.ContextID != v.Task.ContextID {
		return v, "", call.InvalidField("message.contextId", "is not that of the task")
	}
	return v, forTask, nil
}

// letterTo returns the letter for a message to a task, if the agent accepts its contents and the
// caller may send it.
func (s *Messages) letterTo(ctx context.Context, c *call.Call, v shown.TaskView, p SendParams, forTask string) (opt.Letter, error) {
	if err := acceptMedia(s.Accepts, p.Message); err != nil {
		return opt.Letter{}, err
	}
	l, err := newLetter(v, p, forTask)
	if refused := mayWrite(c, l); refused != nil && (err == nil || l.Reply != nil) { // mistakes in a reply are for those who may send one
		err = refused
	}
	if err != nil {
		return l, err
	}
	return l, s.refuseLate(ctx, c, l, p.Message)
}

// storeContents stores the large contents of a letter, and of the parts in its reply, if the
// tenant may store more. Work that waits for a small answer continues in any case; a question from
// a person decides nothing.
func (s *Messages) storeContents(ctx context.Context, c *call.Call, l opt.Letter, blobs a2a.Blobs) error {
	if l.Reply != nil {
		edited, more := a2a.Detach(l.Reply.Edited)
		attached, beside := a2a.Detach(l.Reply.Attached)
		l.Reply.Edited, l.Reply.Attached = edited, attached
		blobs = joined(joined(blobs, more), beside)
	}
	if l.Reply == nil || l.Reply.Action == opt.Ask || len(blobs) > 0 {
		if err := s.Quotas.Admit(ctx, c.Tenant, access.StoredBytes); err != nil {
			return err
		}
	}
	return s.Out.StoreBlobs(ctx, l.ObjectiveID, blobs)
}

// joined returns the contents of a and b.
func joined(a, b a2a.Blobs) a2a.Blobs {
	all := a2a.Blobs{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return all
}

// mayWrite refuses a letter for which the caller lacks the scope: a reply needs
// another one than a note.
func mayWrite(c *call.Call, l opt.Letter) error {
	switch {
	case l.Reply != nil:
		return c.RequireScopes(call.RespondApprovals)
	case l.Comment: // by those who may decide, or talk to the task
		return nil
	}
	return c.RequireScopes(call.CreateRuns)
}

// resolveAddress returns the task that a message is addressed to, and the plan task
// under it that it is for, or "". The metadata key may name the task itself, or a
// plan task under the root task.
func resolveAddress(taskID, hint string) (to, forTask string, err error) {
	if taskID == "" || taskID == hint {
		return hint, "", nil
	}
	if hint == "" {
		return taskID, "", nil
	}
	root, ok := opt.ParseID(taskID)
	inner, okInner := opt.ParseID(hint)
	if !ok || !okInner || root.TaskID != "" || inner.TaskID == "" || root.ObjectiveID != inner.ObjectiveID {
		return "", "", call.InvalidField("message.metadata."+opt.KeyTaskID, "is not a task under the one that message.taskId names")
	}
	return taskID, hint, nil
}

// hintedTask returns the A2A task of the plan task that the metadata of a message
// names. A plan task is another A2A task in each attempt.
func (s *Messages) hintedTask(ctx context.Context, c *call.Call, p SendParams) (string, error) {
	hint := p.Hints.TaskID
	ref, ok := opt.ParseID(hint)
	if !ok || hint != ref.TaskID || hint == p.Message.TaskID {
		return hint, nil
	}
	o, err := s.Journal.Objective(ctx, c.Tenant, ref.ObjectiveID)
	if errors.Is(err, opt.ErrUnknown) {
		return hint, nil
	}
	if err != nil {
		return "", err
	}
	if t, ok := read.TaskIn(o, ref.PlanID, hint); ok {
		hint = t.Task.A2AID()
	}
	return hint, nil
}

// judgedBefore returns the task of a letter that was judged before, or the error of its
// verdict. Both are nil if the letter was not judged.
func (s *Messages) judgedBefore(ctx context.Context, c *call.Call, v shown.TaskView, l opt.Letter) (*Receipt, error) {
	w := s.Watch(v.ObjectiveID)
	j, ok, err := s.Journal.Judgement(ctx, v.ObjectiveID, c.Principal, l.Once())
	if ok && err == nil {
		err = c.Answer.Judged(verdictError(j, l))
	}
	if !ok || err != nil {
		w.Close()
		return nil, err
	}
	return &Receipt{TaskID: v.Task.ID, Watch: w}, nil
}

// sendLetter stores a push config, delivers a letter, and waits a short time for the verdict on
// it and for the task to change.
func (s *Messages) sendLetter(ctx context.Context, c *call.Call, v shown.TaskView, l opt.Letter, push *push.PushRequest) (*Receipt, error) {
	undo, err := s.Pushes.Attach(ctx, c, push, v.Task.ID, l.Once())
	if err != nil {
		return nil, err
	}
	d, err := s.deliverLetter(ctx, c, v, l)
	if errors.Is(err, call.ErrEnded) { // perhaps because of the same letter, which another call has handed over
		early := s.refuseEarly(ctx, c, l) // before the judgement is looked for, which may be recorded meanwhile
		before, failed := s.judgedBefore(ctx, c, v, l)
		if before == nil && failed == nil {
			failed = early
		}
		if before != nil || failed != nil {
			d, err = before, failed
		}
	}
	return d, undo(err)
}

// refuseEarly returns an error that allows a repeat of a letter which found no workflow of a plan, if the journal
// may lack what it has done: a task that a note is for has not begun, which happens later than it can be seen, and
// much later while the database of Temporal fails, or one with a gate has not ended.
func (s *Messages) refuseEarly(ctx context.Context, c *call.Call, l opt.Letter) error {
	if l.PlanID == "" {
		return nil
	}
	state, _, err := s.Journal.Peek(ctx, c.Tenant, cmp.Or(l.ForTask, l.TaskID))
	if err == nil && (state == opt.TaskPending || l.Reply != nil && !state.Ended()) {
		err = fmt.Errorf("deliver a letter to %s, of which not all is recorded: %w", l.PlanID, opt.ErrUnavailable)
	}
	return err
}

// deliverLetter is sendLetter without the push config.
func (s *Messages) deliverLetter(ctx context.Context, c *call.Call, v shown.TaskView, l opt.Letter) (*Receipt, error) {
	d := &Receipt{TaskID: v.Task.ID, Watch: s.Watch(v.ObjectiveID)}
	if l.Reply != nil && l.Reply.Action != opt.Ask {
		d.gate = l.Reply.GateID
	}
	err := s.Out.SendLetter(ctx, l)
	if err == nil {
		d.Pending, err = s.waitForVerdict(ctx, c, v, l, d.Watch)
	}
	if err == nil && !d.Pending && d.gate != "" {
		err = s.waitForMove(ctx, c, d, v)
	}
	if err != nil {
		d.Watch.Close()
		return nil, err
	}
	return d, nil
}

// newLetter returns the letter for a message to a task; beside an error, with the reply that it would be.
func newLetter(v shown.TaskView, p SendParams, forTask string) (opt.Letter, error) {
	l := opt.Letter{ObjectiveID: v.ObjectiveID, TaskID: v.Task.ID, Message: p.light}
	if ref, ok := opt.ParseID(v.Task.ID); ok && ref.TaskID != "" {
		l.PlanID = ref.PlanID
	}
	if p.BadDecision != nil {
		return l, p.BadDecision
	}
	open := v.Gates
	if p.Gate != "" {
		open = slices.DeleteFunc(slices.Clone(open), func(g *opt.Gate) bool { return g.ID != p.Gate })
	}
	gate, reply, err := letter.Answer(open, p.Message, p.Decision, forTask)
	l.Reply = reply
	switch {
	case err != nil:
		return l, err
	case gate != nil:
		l.Comment, forTask = reply == nil, gate.TaskID
	case p.Gate != "":
		return l, call.ErrNotWaiting
	case forTask == "": // a note
		return l, nil
	}
	ref, ok := opt.ParseID(forTask)
	if !ok {
		return l, fmt.Errorf("%q is no task", forTask)
	}
	if l.PlanID = ref.PlanID; forTask != l.TaskID {
		l.ForTask = forTask
	}
	return l, nil
}

// refuseLate refuses m, which would be a note, if it is a decision by word that a
// gate of the task offered before it was closed: the sender must not believe that
// the decision counted.
func (s *Messages) refuseLate(ctx context.Context, c *call.Call, l opt.Letter, m a2a.Message) error {
	word := letter.DecisionWord(m)
	if l.Reply != nil || word == "" {
		return nil
	}
	want := shown.TaskWant{History: -1, Scope: shown.ScopeTask}
	if l.PlanID == "" {
		want.Scope = shown.ScopeObjective // the root task shows all tasks
	}
	v, err := s.Journal.Task(ctx, c.Tenant, cmp.Or(l.ForTask, l.TaskID), want)
	if err == nil && letter.WasOffered(v, word) {
		err = call.ErrNotWaiting
	}
	return err
}

// waitForMove waits until the task of d no longer shows the answered gate, so that the client
// gets the task as it is after its reply. before is the task with the gate.
func (s *Messages) waitForMove(ctx context.Context, c *call.Call, d *Receipt, before shown.TaskView) error {
	return s.Wait.Await(ctx, d.Watch, s.ReplyWait, func() (bool, error) {
		v, err := s.Journal.Task(ctx, c.Tenant, d.TaskID, shown.TaskWant{})
		closed := err == nil && !read.ShowsGate(v, d.gate)
		d.state = v.Task.Status.State
		if closed {
			s.observeAnswer(before, d.gate)
		}
		return closed || waitsForOthers(v, d.gate, c.Principal), err
	})
}

// waitsForOthers reports whether a gate of v is open that a principal has voted at.
func waitsForOthers(v shown.TaskView, gateID, principal string) bool {
	return slices.ContainsFunc(v.Gates, func(g *opt.Gate) bool { return g.ID == gateID && g.Voted(principal) })
}

// waitForVerdict waits for the verdict on a message and returns an error if the message
// was refused. pending is true if there is no verdict in time.
func (s *Messages) waitForVerdict(ctx context.Context, c *call.Call, v shown.TaskView, l opt.Letter, w call.Watch) (pending bool, err error) {
	pending = true
	err = s.Wait.Await(ctx, w, s.ReplyWait, func() (bool, error) {
		j, ok, err := s.Journal.Judgement(ctx, v.ObjectiveID, c.Principal, l.Once())
		if err != nil || !ok {
			return false, err
		}
		pending = false
		return true, c.Answer.Judged(verdictError(j, l))
	})
	if err != nil || !pending {
		return false, err
	}
	state, _, err := s.Journal.Peek(ctx, c.Tenant, v.Task.ID)
	if err == nil && state.Ended() {
		return false, call.ErrEnded // it came too late to be judged
	}
	return true, err
}

// refusals are the errors of the verdicts that refuse a letter, for its sender.
var refusals = map[opt.Verdict]error{
	opt.NotWaiting: call.ErrNotWaiting,
	opt.NotAllowed: call.ErrNotYours,
	opt.OtherThing: call.ErrOtherObject,
	opt.HasVoted:   call.ErrHasVoted,
	opt.NotIdle:    errNotIdle,
	opt.TooLate:    call.ErrEnded,
	opt.NotOffered: call.InvalidField("message.parts", "the gate does not offer this action any more: get the task, whose gate lists its actions"),
}

// verdictError returns the error of a judgement for the sender of l: nil if l was
// accepted.
func verdictError(j shown.Judgement, l opt.Letter) error {
	if !opt.SameContent(j.Digest, l.Message, l.Key) {
		return opt.ErrConflict
	}
	return refusals[j.Verdict]
}

// observeAnswer reports a gate of v that an answer has closed to the observer.
func (s *Messages) observeAnswer(v shown.TaskView, gateID string) {
	i := slices.IndexFunc(v.Gates, func(g *opt.Gate) bool { return g.ID == gateID })
	if i >= 0 && !v.Gates[i].RequestedAt.IsZero() {
		s.Observer.Answered(string(v.Gates[i].Kind), s.Now().Sub(v.Gates[i].RequestedAt.Time()))
	}
}
