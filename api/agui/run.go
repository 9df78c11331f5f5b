package agui

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/api/read"
	"longhaul/api/service"
	"longhaul/api/stream"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// Limits of what a run shows.
const (
	mostMessages   = 200 // of one objective, the latest
	mostObjectives = 20  // of a thread, the latest
	mostInterrupts = 50
	mostSteps      = 32 // at a time; the state has all of them

	settleTime = 50 * time.Millisecond // for which changes are collected before the state is read
)

// A Run sends the events of one run to one client, which may have some already. It is for one
// goroutine.
type Run struct {
	service *service.Service
	call    *call.Call
	in      Input
	feed    feed
	stream  *stream.Stream // nil if there is nothing to follow

	objectiveID string
	status      a2a.TaskStatus    // of the root task, as the client has it
	dirty       <-chan time.Time  // the state has changed: it is read then; nil if it has not
	answered    map[string]string // by gate, the messages of answers that wait for their verdicts
}

// Open does what an input asks for, and follows the objective. A repeat of a run starts nothing
// again. With a position in c.After, which is that of the client, the run continues there.
func Open(ctx context.Context, s *service.Service, c *call.Call, in Input) (_ *Run, err error) {
	if !s.Cards.Streams() {
		return nil, call.ErrNoStreaming
	}
	if err := c.RequireScopes(call.ReadRuns); err != nil {
		return nil, err
	}
	at, continued := parsePosition(c.After)
	c.After, c.Key = "", "" // the run has an id
	c.Active, c.Rules = []string{a2a.ExtensionOPT}, call.Rules{SubscribeToEnded: true}
	r := &Run{service: s, call: c, in: in, answered: map[string]string{}}
	r.feed.in, r.feed.at = &r.in, at
	if at.Over {
		return r, nil
	}
	task, answer, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	if continued {
		r.dirty = time.After(0)
	} else {
		r.feed.add(object{"type": "RUN_STARTED", "threadId": r.in.ThreadID, "runId": r.in.RunID, "protocolVersion": "1.0"})
	}
	if len(r.answered) > 0 {
		r.feed.add(object{"type": "CUSTOM", "name": "longhaul:answer-stored", "value": slices.Sorted(maps.Keys(r.answered))})
	}
	if task == "" {
		err = r.showThread(ctx, nil)
		if answer != nil {
			r.feed.say(answer.MessageID, textOf(answer.Parts), true, 0)
		}
		r.feed.finish(object{"type": "success"})
		return r, err
	}
	p := read.TaskParams{ID: task, History: mostMessages, Scope: shown.ScopeObjective}
	if at.Seq != nothing {
		p.After = &at.Seq
	}
	ref, _ := opt.ParseID(task)
	r.objectiveID = ref.ObjectiveID
	r.stream, err = s.Streams.Subscribe(ctx, c, p)
	return r, err
}

// begin sends what the input has. It returns the root task to follow, or "" and perhaps an
// answer.
func (r *Run) begin(ctx context.Context) (task string, answer *a2a.Message, err error) {
	o, err := r.ofRun(ctx)
	switch operation := r.in.Operation(); {
	case err != nil:
		return "", nil, err
	case operation == "AnswerInterrupt":
		return r.resume(ctx)
	case operation == "SendMessage":
		return r.send(ctx, o != nil)
	case o == nil:
		list, err := r.objectives(ctx, 1)
		if err != nil || len(list) == 0 {
			r.in.RunID = cmp.Or(r.in.RunID, r.in.ThreadID)
			return "", nil, err
		}
		o = list[0]
	}
	r.in.RunID = cmp.Or(r.in.RunID, o.MessageID, o.ID)
	return o.RootID(), nil, nil
}

// ofRun returns the objective that the message of the run began, nil if there is none.
func (r *Run) ofRun(ctx context.Context) (*opt.Objective, error) {
	if r.in.RunID == "" {
		return nil, nil
	}
	id := opt.DerivedObjectiveID(r.call.Tenant, r.call.Principal, r.in.RunID)
	o, err := r.service.Objectives.GetObjective(ctx, r.call, read.GetObjectiveParams{ID: id})
	switch {
	case call.Is(err, call.NotFound):
		return nil, nil
	case err == nil && o.ContextID != r.in.ThreadID:
		return nil, call.InvalidField("threadId", "is not that of the run")
	}
	return o.Objective, err
}

// objectives returns the latest objectives of the thread, the newest first.
func (r *Run) objectives(ctx context.Context, most int) ([]*opt.Objective, error) {
	f := shown.ObjectiveSearch{ContextID: r.in.ThreadID}
	f.Limit = most
	page, err := r.service.Objectives.ListObjectives(ctx, r.call, read.ListObjectivesParams{Filter: f})
	return page.Objectives, err
}

// send sends the message of the input. A thread that waits for its answers takes no other, but
// a repeat is none.
func (r *Run) send(ctx context.Context, repeated bool) (task string, answer *a2a.Message, err error) {
	if !repeated {
		open, err := r.interrupts(ctx, shown.InterruptFilter{ContextID: r.in.ThreadID})
		if err != nil {
			return "", nil, err
		}
		if len(open) > 0 {
			return "", nil, &call.Fault{Kind: call.InvalidState, Reason: "INTERRUPTS_PENDING",
				Message: "The thread waits for answers to its interrupts: send resume, not a message. The first is " + open[0].Gate.ID}
		}
	}
	p, err := r.in.message(r.call)
	if err != nil {
		return "", nil, err
	}
	sent, err := r.service.Messages.SendMessage(ctx, r.call, p)
	if err != nil || sent.Task == nil {
		return "", sent.Message, err
	}
	return sent.Task.ID, nil, nil
}

// resume answers the interrupts that the input names, all of which it reads before. A task at a gate
// that its person leaves open and that cannot be rejected is canceled. It returns the root task above
// the last interrupt.
func (r *Run) resume(ctx context.Context) (task string, _ *a2a.Message, err error) {
	var do []func() error
	for _, e := range r.in.Resume {
		root, f, err := r.taking(ctx, e)
		if err != nil {
			return "", nil, err
		}
		task, do = root, append(do, f)
	}
	for _, f := range do {
		if err := f(); err != nil {
			return "", nil, err
		}
	}
	return task, nil, nil
}

// taking returns the root task of an interrupt, and what takes a reply to it.
func (r *Run) taking(ctx context.Context, e reply) (root string, do func() error, err error) {
	g, err := r.service.Gates.GetInterrupt(ctx, r.call, e.ID)
	if err != nil {
		return "", nil, err
	}
	ref, _ := opt.ParseID(g.TaskID)
	root = opt.RootID(ref.ObjectiveID, ref.Attempt)
	switch {
	case g.ContextID != r.in.ThreadID:
		return "", nil, call.InvalidField("threadId", "is not that of the interrupt "+e.ID)
	case e.Status == "cancelled" && !g.Open:
		return root, func() error { return nil }, nil // nothing is left to do
	case e.Status == "cancelled" && !g.Gate.Allows(opt.Reject):
		return root, func() error {
			_, err := r.service.TaskWork.CancelTask(ctx, r.call, read.TaskParams{ID: g.TaskID})
			return err
		}, nil
	}
	p, err := e.answer(r.call, &g.Gate)
	return root, func() error { return r.answer(ctx, p) }, err
}

func (r *Run) answer(ctx context.Context, p gate.AnswerParams) error {
	taskID, _ := opt.TaskOfGate(p.ID)
	r.call.Answer = &call.Answering{TaskID: taskID, GateID: p.ID}
	out, err := r.service.Gates.AnswerInterrupt(ctx, r.call, p)
	if out.Pending {
		r.answered[p.ID] = out.MessageID
	}
	return err
}

// interrupts returns the gates that the caller may answer.
func (r *Run) interrupts(ctx context.Context, f shown.InterruptFilter) ([]shown.Interrupt, error) {
	f.Limit = mostInterrupts
	page, err := r.service.Gates.ListInterrupts(ctx, r.call, gate.InterruptListParams{Mine: true, Filter: f})
	return slices.DeleteFunc(page.Interrupts, func(i shown.Interrupt) bool {
		return i.Gate.Kind == opt.Credential && len(i.Gate.Actions) == 0 || r.answered[i.Gate.ID] != ""
	}), err
}

// Close ends the run for this client. The work continues.
func (r *Run) Close() {
	if r.stream != nil {
		r.stream.Close()
	}
}

// Next waits for the next events, as server-sent events. Its errors are those of
// [stream.Stream.Next].
func (r *Run) Next(ctx context.Context, idle <-chan time.Time) (string, error) {
	for {
		if text, err := r.feed.take(); text != "" || err != nil {
			return text, err
		}
		if r.feed.at.Over {
			return "", io.EOF
		}
		wait := idle
		if r.dirty != nil {
			wait = r.dirty
		}
		e, err := r.stream.Next(ctx, wait)
		switch {
		case errors.Is(err, stream.ErrIdle) && r.dirty != nil:
			err = r.refresh(ctx)
		case errors.Is(err, io.EOF):
			err = r.finish(ctx)
		case err == nil:
			err = r.on(ctx, e)
		}
		if err != nil {
			return "", err
		}
	}
}

func (r *Run) on(ctx context.Context, e stream.StreamEvent) (err error) {
	switch {
	case e.Task != nil:
		r.feed.at.Seq = e.Seq
		r.status = e.Task.Status
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
	r.status = u.Status
	if !says(u.Status) {
		return
	}
	if m := spoken(*u.Status.Message); !r.feed.has(m.ID) && m.Content != "" {
		r.feed.say(m.ID, m.Content, true, seq)
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
			r.feed.end(Failure(call.ErrNotWaiting.Late(first.Decision)))
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
	r.feed.add(object{"type": "STATE_SNAPSHOT", "snapshot": r.feed.state})
	r.feed.finish(object{"type": "interrupt", "interrupts": interrupts})
	return nil
}

// finish ends the run after the end of the objective, or after its removal.
func (r *Run) finish(ctx context.Context) (err error) {
	ended := r.status.State.Terminal()
	if ended {
		_, err = r.show(ctx)
	}
	if !ended || call.Is(err, call.NotFound) {
		r.feed.end(failed("REMOVED", "The work was removed"))
		return nil
	}
	switch outcome := map[a2a.TaskState]string{a2a.Completed: "success", a2a.Canceled: "cancelled"}[r.status.State]; {
	case err != nil || r.feed.at.Over:
	case outcome != "":
		r.feed.finish(object{"type": outcome})
	default:
		text := "The work has failed"
		if m := r.status.Message; m != nil {
			text = cmp.Or(m.Text(), text)
		}
		r.feed.end(failed(string(r.status.State), text))
	}
	return err
}
