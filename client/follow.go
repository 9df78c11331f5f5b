package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"

	"longhaul/a2a"
)

// errCut is the reason to reconnect after a stream that ended before its task.
var errCut = &brokenError{errors.New("the stream ended before the task")}

// A follower yields the events of one task, over one connection or more.
type follower struct {
	c     *caller
	retry *retry

	send      any // the params that begin the stream; nil for a subscription
	mayResend bool

	taskID          string // "" until the agent names it
	after           string // id of the last event
	state           a2a.TaskState
	endedAtQuestion bool // the last event was the task, which needs input and has no pending reply
	complete        bool // the stream is complete
}

// run yields events until the stream is over.
func (f *follower) run(ctx context.Context, yield func(Event, error) bool) {
	for {
		err := f.connect(ctx, yield)
		if f.complete {
			return
		}
		if isTransient(err) && (f.mayResend || !f.sending()) {
			err = f.retry.wait(ctx, err)
		}
		if err != nil {
			yield(Event{}, err)
			return
		}
	}
}

// connect yields the events of one connection. It returns why the connection
// ended; ignore that if f is over.
func (f *follower) connect(ctx context.Context, yield func(Event, error) bool) error {
	s, err := f.open(ctx)
	if err != nil {
		if refused, ok := errors.AsType[*Error](err); ok && !f.sending() && refused.Code == CodeUnsupported {
			return f.yieldEnded(ctx, yield, err)
		}
		return err
	}
	defer s.close()
	for n, sending := 0, f.sending(); ; n++ {
		e, err := s.next()
		if err != nil {
			return f.onBreak(ctx, yield, err, n, sending)
		}
		f.noteEvent(e)
		f.complete = !yield(e, nil) || f.isLast(e, sending)
		if f.complete {
			return nil
		}
	}
}

// isLast reports whether e is the last event of the stream. sending says that e
// answers the message.
func (f *follower) isLast(e Event, sending bool) bool {
	switch {
	case e.Message != nil, f.state.Terminal():
		return true
	case f.send == nil || f.state != a2a.InputRequired:
		return false
	}
	// If the message was a reply, the stream may begin with the task as it was
	// before the reply and with changes of its plans. Then the stream continues;
	// otherwise the agent ends it.
	_, around := ChangeOf(e.Metadata())
	return e.Status != nil && !around || f.endedAtQuestion && !sending
}

// onBreak handles a connection that failed with err after n events.
func (f *follower) onBreak(ctx context.Context, yield func(Event, error) bool, err error, n int, sending bool) error {
	cut := errors.Is(err, io.EOF)
	switch {
	case cut && sending && f.endedAtQuestion:
		f.complete = true
		return nil
	case cut && n == 0 && !sending:
		return f.yieldEnded(ctx, yield, errCut)
	case cut:
		return errCut
	case f.endedAtQuestion:
		f.after = "" // get the task again, to see whether it still needs input
	}
	return err
}

func (f *follower) open(ctx context.Context) (*stream, error) {
	if f.sending() {
		return f.c.open(ctx, "SendStreamingMessage", f.send, "")
	}
	return f.c.open(ctx, "SubscribeToTask", taskParams{ID: f.taskID}, f.after)
}

// sending reports whether the message must still be sent, as far as f knows.
func (f *follower) sending() bool { return f.send != nil && f.taskID == "" }

// noteEvent records the position after e, and what e says of the task.
func (f *follower) noteEvent(e Event) {
	before := f.state
	f.taskID = cmp.Or(f.taskID, e.TaskID())
	if s, ok := e.TaskStatus(); ok {
		f.state = s.State
		f.endedAtQuestion = e.Task != nil && s.State == a2a.InputRequired && !ReplyPending(e.Metadata())
	}
	f.retry.answered()
	if f.state != before || e.ID != f.after {
		f.retry.progress()
	}
	f.after = cmp.Or(e.ID, f.after)
}

// yieldEnded yields the task if it has ended: an ended task has no stream. Otherwise it returns
// err.
func (f *follower) yieldEnded(ctx context.Context, yield func(Event, error) bool, err error) error {
	var raw json.RawMessage
	if err := f.c.once(ctx, request{method: "GetTask", content: taskParams{ID: f.taskID, HistoryLength: historyLength(0)}}, &raw); err != nil {
		return err
	}
	e, readErr := readEvent("", json.RawMessage(`{"task":`+string(raw)+`}`))
	switch {
	case readErr != nil:
		return readErr
	case !e.Task.Status.State.Terminal():
		return err
	}
	f.complete = true
	yield(e, nil)
	return nil
}
