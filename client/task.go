package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/opt"
	"longhaul/opt/wire"
)

// SendOptions say how to send a message.
type SendOptions struct {
	// ReturnImmediately has the agent answer at once, not when the task has ended
	// or waits for a person. Streams always begin at once.
	ReturnImmediately bool
	// History is how many messages of the task's history to return; negative: the
	// agent's default.
	History int
	// Retry sends the message again, with the same id, while the agent cannot be
	// reached. Use it for agents that recognize a repeated message by its id, as
	// Longhaul does; others might do the work twice.
	Retry bool
}

// params returns the params of a send.
func (o SendOptions) params(m a2a.Message) any {
	m.MessageID, m.Role = cmp.Or(m.MessageID, NewMessageID()), cmp.Or(m.Role, a2a.RoleUser)
	return codec.V10.Send(codec.Send{Message: m, ReturnAtOnce: o.ReturnImmediately, History: historyLength(o.History)})
}

func historyLength(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}

// NewMessageID returns a random, unique id for a message.
func NewMessageID() string { return "msg-" + strings.ToLower(rand.Text()) }

// Send sends a message and returns the task or the message in the answer. A
// message without an id gets a new one, one without a role is the user's.
func (c *Client) Send(ctx context.Context, m a2a.Message, o SendOptions) (Event, error) {
	send := c.caller.once
	if o.Retry {
		send = c.caller.repeat
	}
	var raw json.RawMessage
	if err := send(ctx, request{method: "SendMessage", content: o.params(m)}, &raw); err != nil {
		return Event{}, err
	}
	return readEvent("", raw)
}

// A Reply is a person's answer at a gate: an Action at an approval, or Answers to
// questions.
type Reply wire.Reply

// Message returns the message that sends r to a waiting task. It panics if an
// answer is not JSON.
func (r Reply) Message(taskID string) a2a.Message {
	return a2a.Message{MessageID: NewMessageID(), TaskID: taskID, Role: a2a.RoleUser, Parts: []a2a.Part{a2a.DataPart(r)}}
}

// TextAnswer returns the answer to a question in plain words.
func TextAnswer(questionID, text string) opt.Answer {
	raw, err := json.Marshal(text)
	if err != nil {
		panic("client: text without a JSON form: " + err.Error())
	}
	return opt.Answer{ID: questionID, Answer: raw}
}

// Answer sends r to a waiting task and returns the task as it then is; "" is the task of
// the gate that r names. While the agent cannot be reached, the same answer is sent again,
// and counts once. If no worker is available, the answer is stored: the task that is
// returned shows [ReplyPending], and [Client.Wait] of this client waits for the verdict.
//
// The error is an [*Error] with [CodeUnsupported] if the task does not wait or the gate was
// closed meanwhile, with [CodeInvalidParams] if the gate does not take such an answer, and
// with the Reason [ReasonObject] if r has a Digest and the object has changed.
func (c *Client) Answer(ctx context.Context, taskID string, r Reply) (*a2a.Task, error) {
	if taskID == "" {
		taskID, _ = opt.TaskOfGate(r.GateID)
	}
	if taskID == "" {
		return nil, errors.New("an answer needs the id of its task, or of a gate")
	}
	m := r.Message(taskID)
	e, err := c.Send(ctx, m, SendOptions{ReturnImmediately: true, Retry: true})
	switch {
	case err != nil:
		return nil, err
	case e.Task == nil:
		return nil, errors.New("the agent answered with a message and no task")
	}
	if gateID := cmp.Or(r.GateID, gateOf(e.Task)); ReplyPending(e.Task.Metadata) {
		c.pending.Store(gateID, m.MessageID)
	} else {
		c.pending.Delete(gateID)
	}
	return e.Task, nil
}

// Stream sends a message, like Send, and yields what happens: either one message,
// or the task and then its events. After a broken connection the stream resumes
// at the last event; if the agent does not have that position any more, the
// current task comes first. The stream ends when the task has ended or needs
// input, or with an error, which comes last.
func (c *Client) Stream(ctx context.Context, m a2a.Message, o SendOptions) iter.Seq2[Event, error] {
	params := o.params(m)
	return func(yield func(Event, error) bool) {
		f := follower{c: c.caller, retry: &retry{c: c.caller}, send: params, mayResend: o.Retry}
		f.run(ctx, yield)
	}
}

// Subscribe yields the task and then its events until it has ended. If after is
// the ID of an event, only later events are yielded; if the agent does not have
// that position any more, the current task comes first. A broken connection
// resumes in the same way. For a task that has already ended, the task is
// yielded. An error comes last.
func (c *Client) Subscribe(ctx context.Context, taskID, after string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := follower{c: c.caller, retry: &retry{c: c.caller}, taskID: taskID, after: after}
		f.run(ctx, yield)
	}
}

type taskParams struct {
	ID            string `json:"id"`
	HistoryLength *int   `json:"historyLength,omitempty"`
	Metadata      any    `json:"metadata,omitempty"`
}

// Get returns a task with at most history messages of its history; negative: the
// agent's default.
func (c *Client) Get(ctx context.Context, taskID string, history int) (*a2a.Task, error) {
	return c.task(ctx, "GetTask", taskParams{ID: taskID, HistoryLength: historyLength(history)})
}

// Cancel cancels a task and returns its current state, which may be before the
// task has stopped. Canceling it again changes nothing. The reason, "" for none, reaches people and
// all work below the task, at agents that have [a2a.ExtensionCancel].
func (c *Client) Cancel(ctx context.Context, taskID, reason string) (*a2a.Task, error) {
	p := taskParams{ID: taskID}
	if reason != "" {
		p.Metadata = CancelMetadata(reason)
	}
	t, err := c.task(ctx, "CancelTask", p)
	if refused, ok := errors.AsType[*Error](err); ok && refused.Code == CodeTaskNotCancelable && refused.Info["state"] == string(a2a.Canceled) {
		return c.Get(ctx, taskID, 0) // perhaps an earlier try of this call has canceled it, and its answer was lost
	}
	return t, err
}

// CancelMetadata returns the metadata of a CancelTask with a reason.
func CancelMetadata(reason string) a2a.Metadata {
	return a2a.Metadata(nil).With(a2a.ExtensionCancel, map[string]string{"reason": reason})
}

func (c *Client) task(ctx context.Context, method string, params any) (*a2a.Task, error) {
	var raw json.RawMessage
	if err := c.caller.call(ctx, method, params, &raw); err != nil {
		return nil, err
	}
	return readTask(method, raw)
}

func readTask(method string, raw json.RawMessage) (*a2a.Task, error) {
	t, err := codec.Peer.Task(raw)
	if err != nil {
		return nil, fmt.Errorf("read the result of %s: %w", method, err)
	}
	return &t.Task, nil
}

// Wait waits until a task has ended or waits for a person, and returns it. Restarts of the
// agent do not disturb it, as with [Client.Subscribe]. A gate to which this client has sent
// an answer that is not judged yet is not waited at: Wait returns after the verdict, with
// the same gate if the answer was refused. To wait for less than ctx allows, give ctx a
// deadline: the task is not affected.
func (c *Client) Wait(ctx context.Context, taskID string) (*a2a.Task, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for e, err := range c.Subscribe(ctx, taskID, "") {
		if err != nil {
			return nil, err
		}
		s, ok := e.TaskStatus()
		if !ok || !s.State.Terminal() && !s.State.Interrupted() {
			continue
		}
		t, err := c.Get(ctx, taskID, -1)
		if err == nil {
			t, err = c.afterAnswer(ctx, t)
		}
		switch {
		case err != nil:
			return nil, err
		case t.Status.State.Terminal(), waitsForPerson(t):
			return t, nil
		}
	}
	return c.Get(ctx, taskID, -1)
}

// afterAnswer returns t, or if it waits at a gate to which c has sent an answer that is not
// judged yet, the task once it is judged or the task does not wait there any more. The
// list of decisions has every verdict, whereas a stream says nothing about a refusal.
func (c *Client) afterAnswer(ctx context.Context, t *a2a.Task) (*a2a.Task, error) {
	for attempt := 1; waitsForPerson(t); attempt++ {
		gateID := gateOf(t)
		messageID, pending := c.pending.Load(gateID)
		if !pending {
			return t, nil
		}
		judged, err := c.hasDecision(ctx, gateID, messageID.(string))
		if err != nil {
			return nil, err
		}
		if judged {
			c.pending.CompareAndDelete(gateID, messageID)
		} else if err := sleep(ctx, c.caller.cfg.Backoff(attempt)); err != nil {
			return nil, err
		}
		if t, err = c.Get(ctx, t.ID, -1); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// gateOf returns the id of the gate that t shows, "" for none.
func gateOf(t *a2a.Task) string {
	if g, ok := Gate(t.Metadata); ok {
		return g.ID
	}
	return ""
}

// waitsForPerson reports whether t waits for a person. A root task shows its former state for a
// moment after its gate was closed.
func waitsForPerson(t *a2a.Task) bool {
	_, open := Gate(t.Metadata)
	_, closed := Decided(t.Metadata)
	return t.Status.State.Interrupted() && (open || !closed)
}

// ListOptions select tasks. Zero members select everything.
type ListOptions struct {
	ContextID string        `json:"contextId,omitempty"`
	State     a2a.TaskState `json:"-"`
	Since     a2a.Time      `json:"statusTimestampAfter,omitzero"` // status not older than this
	PageSize  int           `json:"pageSize,omitzero"`             // zero: the agent's default
	PageToken string        `json:"pageToken,omitempty"`           // of a Page
	History   int           `json:"-"`                             // messages of each task; negative: the agent's default
	Artifacts bool          `json:"includeArtifacts,omitempty"`
}

// listParams are the params of a list: its options, those as A2A writes them that are named
// otherwise or have other words there.
type listParams struct {
	ListOptions
	Status        string `json:"status,omitempty"`
	HistoryLength *int   `json:"historyLength,omitempty"`
}

// List returns a page of tasks, latest status change first.
func (c *Client) List(ctx context.Context, o ListOptions) (*Page[a2a.Task], error) {
	params := listParams{ListOptions: o, HistoryLength: historyLength(o.History)}
	if o.State != "" {
		params.Status = codec.V10.State(o.State)
	}
	l := list[a2a.Task]{member: "tasks", read: func(raw json.RawMessage) (a2a.Task, error) {
		t, err := codec.Peer.Task(raw)
		return t.Task, err
	}}
	return result(&l.Page, c.caller.call(ctx, "ListTasks", params, &l))
}

// Call calls any method and returns its result as it came. It is repeated while
// the agent cannot be reached, so use it for idempotent methods.
func (c *Client) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	var raw json.RawMessage
	err := c.caller.call(ctx, method, params, &raw)
	return raw, err
}
