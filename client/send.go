package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"iter"
	"strings"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/opt"
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
	if m.MessageID == "" {
		m.MessageID = NewMessageID()
	}
	if m.Role == "" {
		m.Role = a2a.RoleUser
	}
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
	send := c.call
	if o.Retry {
		send = c.repeat
	}
	var raw json.RawMessage
	if err := send(ctx, "SendMessage", o.params(m), &raw); err != nil {
		return Event{}, err
	}
	return readEvent("", raw)
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
	c.answers.note(r.GateID, m, e.Task)
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
		f := follower{c: c.caller, retry: c.retry(), send: params, mayResend: o.Retry}
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
		f := follower{c: c.caller, retry: c.retry(), taskID: taskID, after: after}
		f.run(ctx, yield)
	}
}
