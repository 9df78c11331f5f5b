package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"iter"
	"strings"

	"longhaul/a2a"
)

// SendOptions say how to send a message.
type SendOptions struct {
	// ReturnImmediately has the agent answer at once, not when the task has
	// ended or waits for somebody. Streams always begin at once.
	ReturnImmediately bool
	// History is how many messages of the task's history to return; negative
	// leaves it to the agent.
	History int
	// Retry sends the message again, with the same id, while the agent cannot
	// be reached. It is for agents that know a message again by its id, as
	// Longhaul does; others might do the work twice.
	Retry bool
}

type sendParams struct {
	Message       wireMessage       `json:"message"`
	Configuration sendConfiguration `json:"configuration"`
}

type sendConfiguration struct {
	HistoryLength     *int `json:"historyLength,omitempty"`
	ReturnImmediately bool `json:"returnImmediately,omitempty"`
}

func (o SendOptions) params(m a2a.Message) sendParams {
	if m.MessageID == "" {
		m.MessageID = NewMessageID()
	}
	if m.Role == "" {
		m.Role = a2a.RoleUser
	}
	return sendParams{toWire(m), sendConfiguration{historyLength(o.History), o.ReturnImmediately}}
}

func historyLength(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}

// NewMessageID returns an id for a message that nobody else will choose.
func NewMessageID() string { return "msg-" + strings.ToLower(rand.Text()) }

// Send sends a message and returns the task or the message that it came to. A
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

// Stream sends a message, like Send, and yields what happens: either one
// message, or the task and then its events. A broken connection is taken up
// again where it broke; if the agent does not know the place any more, the
// task as it stands comes first. The stream ends when the task has ended or
// needs input, or with an error, which comes last.
func (c *Client) Stream(ctx context.Context, m a2a.Message, o SendOptions) iter.Seq2[Event, error] {
	params := o.params(m)
	return func(yield func(Event, error) bool) {
		f := follower{c: c, retry: c.retry(), send: &params, mayResend: o.Retry}
		f.run(ctx, yield)
	}
}

// Subscribe yields the task and then its events until it has ended. after is
// the ID of the last event that is known already: then only later ones are
// yielded, unless the agent does not know the place any more and begins with the
// task as it stands. A broken connection is taken up again in the same way. Of
// a task that has ended before, the task is yielded. An error comes last.
func (c *Client) Subscribe(ctx context.Context, taskID, after string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := follower{c: c, retry: c.retry(), taskID: taskID, after: after}
		f.run(ctx, yield)
	}
}
