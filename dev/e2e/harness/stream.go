package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
)

// An Event is one event of a stream, byte for byte.
type Event struct {
	ID   int64 // 0 if it has none
	Data string
}

// An eventBody has the members of an event that tests read.
type eventBody struct {
	Result struct {
		Task         *Task `json:"task"`
		StatusUpdate *struct {
			Status   wireStatus `json:"status"`
			Metadata struct {
				OpenWOP struct {
					Interrupt *Gate `json:"interrupt"`
				} `json:"openwop"`
				Progress *int `json:"longhaul/v1/progress"`
			} `json:"metadata"`
		} `json:"statusUpdate"`
	} `json:"result"`
	Error *RPCError `json:"error"`
}

func (e Event) body() (s eventBody) {
	if err := json.Unmarshal([]byte(e.Data), &s); err != nil {
		s.Error = &RPCError{Message: fmt.Sprintf("event %d is no JSON: %v", e.ID, err)}
	}
	return s
}

// State returns the state in e, "" if there is none.
func (e Event) State() string {
	s := e.body()
	switch {
	case s.Result.Task != nil:
		return s.Result.Task.State
	case s.Result.StatusUpdate != nil:
		return shortState(s.Result.StatusUpdate.Status.State)
	}
	return ""
}

// Progress reports whether e says how far a task is that works on: the journal has no
// separate event for it.
func (e Event) Progress() bool {
	u := e.body().Result.StatusUpdate
	return u != nil && u.Metadata.Progress != nil && e.State() == "WORKING"
}

// Task returns the task that e shows, nil if it is an update.
func (e Event) Task() *Task { return e.body().Result.Task }

// Gate returns the gate at which the task begins to wait, nil if e has none.
func (e Event) Gate() *Gate {
	if u := e.body().Result.StatusUpdate; u != nil {
		return u.Metadata.OpenWOP.Interrupt
	}
	return nil
}

// A Stream is an open stream of events.
type Stream struct {
	from   string // the address of the server
	body   io.ReadCloser
	lines  *bufio.Reader
	cancel context.CancelFunc
}

// Fresh as the event to subscribe after begins with the current task.
const Fresh int64 = -1

// Subscribe opens a stream of a task: all events after one, or the task and the
// events after it if after is Fresh.
func (c *Client) Subscribe(ctx context.Context, taskID string, after int64) (*Stream, error) {
	header := map[string]string{}
	if after != Fresh {
		header["Last-Event-ID"] = strconv.FormatInt(after, 10)
	}
	return c.stream(ctx, "SubscribeToTask", map[string]any{"id": taskID}, header)
}

// SendStream sends a message and opens a stream of the task that it began, which comes first.
func (c *Client) SendStream(ctx context.Context, m Message) (*Stream, error) {
	return c.stream(ctx, "SendStreamingMessage", m.params(), nil)
}

// stream calls a method that answers with events.
func (c *Client) stream(ctx context.Context, method string, params any, header map[string]string) (*Stream, error) {
	ctx, cancel := context.WithCancel(ctx)
	res, err := c.post(ctx, method, params, header)
	if err != nil {
		cancel()
		return nil, err
	}
	if res.StatusCode == http.StatusOK && strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return &Stream{from: res.Request.URL.Host, body: res.Body, lines: bufio.NewReader(res.Body), cancel: cancel}, nil
	}
	defer cancel()
	defer res.Body.Close()
	if _, err := answer(res); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return nil, fmt.Errorf("%s answers %s, which is no stream", method, res.Status)
}

// Next returns the next event. It returns io.EOF if the server ended the stream,
// and another error if the stream broke. An incomplete event is dropped.
func (s *Stream) Next() (Event, error) {
	var e Event
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return Event{}, err
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && e.Data != "":
			if rpc := e.body().Error; rpc != nil {
				return e, rpc
			}
			return e, nil
		case name == "id":
			if e.ID, err = strconv.ParseInt(value, 10, 64); err != nil {
				return e, fmt.Errorf("event id %q: %w", value, err)
			}
		case name == "data":
			e.Data += value
		}
	}
}

// Close ends the stream.
func (s *Stream) Close() {
	s.cancel()
	s.body.Close()
}

// All returns the events of a task after one, up to the one that ends it. The
// task must have ended; it is an error if the stream ends before.
func (c *Client) All(ctx context.Context, taskID string, after int64) ([]Event, error) {
	s, err := c.Subscribe(ctx, taskID, after)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var all []Event
	for {
		e, err := s.Next()
		if errors.Is(err, io.EOF) {
			if len(all) == 0 && after == 0 || len(all) > 0 && !ended(all[len(all)-1].State()) {
				return all, fmt.Errorf("the stream of %s from %s ended after %d events, before the task", taskID, s.from, len(all))
			}
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
}

// After returns the events that come after one.
func After(events []Event, id int64) []Event {
	i := slices.IndexFunc(events, func(e Event) bool { return e.ID > id })
	if i < 0 {
		return nil
	}
	return events[i:]
}

// Differ describes how events that were followed over several connections differ
// from the whole stream on one connection; "" if they are the same. If followed
// begins with a task, it is compared with the events after that task.
func Differ(whole, followed []Event) string {
	if len(followed) == 0 {
		return "no events"
	}
	want := whole
	if followed[0].Task() != nil {
		want, followed = After(whole, followed[0].ID), followed[1:]
	}
	return cmp.Diff(want, followed)
}

// A Follower follows a task to its end and resumes as often as necessary. It
// belongs to the test that began it.
type Follower struct {
	TaskID string

	client *Client
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	events  []Event
	changed chan struct{} // closed, and replaced, with every event
	resumes int
	err     error
}

// Follow begins to follow a task after an event, or from the current task if
// after is Fresh. It runs in the background until ctx ends or the task has ended;
// an unknown task is an error.
func (c *Client) Follow(ctx context.Context, taskID string, after int64) *Follower {
	ctx, cancel := context.WithCancel(ctx)
	f := &Follower{TaskID: taskID, client: c, cancel: cancel, done: make(chan struct{}), changed: make(chan struct{})}
	go func() {
		defer close(f.done)
		defer cancel()
		err := f.run(ctx, after)
		f.mu.Lock()
		f.err = err
		f.mu.Unlock()
	}()
	return f
}

func (f *Follower) run(ctx context.Context, last int64) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		s, err := f.client.Subscribe(ctx, f.TaskID, last)
		if err == nil {
			var end bool
			last, end, err = f.read(s, last)
			s.Close()
			if end {
				return err
			}
		}
		if last == Fresh && Reason(err) == "UNSUPPORTED_OPERATION" { // the task has ended, before a call has come through
			last = 0
			continue
		}
		var rpc *RPCError
		if errors.As(err, &rpc) && !rpc.Unavailable() {
			return fmt.Errorf("follow %s after event %d: %w", f.TaskID, last, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("follow %s after event %d: %w", f.TaskID, last, ctx.Err())
		case <-tick.C:
		}
		f.mu.Lock()
		f.resumes++
		f.mu.Unlock()
	}
}

// read keeps the events of one connection. It fails for good if numbers do not
// grow, or if a snapshot comes in place of a resumption.
func (f *Follower) read(s *Stream, last int64) (now int64, end bool, err error) {
	for {
		e, err := s.Next()
		if err != nil {
			return last, false, err
		}
		f.add(e)
		switch {
		case e.ID <= last:
			return last, true, fmt.Errorf("follow %s: event %d came after event %d: %s", f.TaskID, e.ID, last, e.Data)
		case last != Fresh && e.Task() != nil:
			return last, true, fmt.Errorf("follow %s: a snapshot instead of what follows on event %d: %s", f.TaskID, last, e.Data)
		}
		last = e.ID
		if ended(e.State()) {
			return last, true, nil
		}
	}
}

func (f *Follower) add(e Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, e)
	close(f.changed)
	f.changed = make(chan struct{})
}

// Events returns the events so far.
func (f *Follower) Events() []Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.events)
}

// Resumes returns how often the stream had to be opened again.
func (f *Follower) Resumes() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.resumes
}

// Until waits for an event for which is returns true, among earlier and later
// events, and returns it.
func (f *Follower) Until(ctx context.Context, is func(Event) bool) (Event, error) {
	for seen := 0; ; {
		f.mu.Lock()
		events, changed := f.events, f.changed
		f.mu.Unlock()
		for ; seen < len(events); seen++ {
			if is(events[seen]) {
				return events[seen], nil
			}
		}
		select {
		case <-changed:
		case <-f.done:
			if _, err := f.Wait(ctx); err != nil {
				return Event{}, err
			}
			if events := f.Events(); seen == len(events) {
				return Event{}, fmt.Errorf("task %s ended without it", f.TaskID)
			}
		case <-ctx.Done():
			return Event{}, fmt.Errorf("task %s, after %d events: %w", f.TaskID, seen, ctx.Err())
		}
	}
}

// UntilState waits until the task is, or was, in a state.
func (f *Follower) UntilState(ctx context.Context, state string) (Event, error) {
	e, err := f.Until(ctx, func(e Event) bool { return e.State() == state })
	if err != nil {
		return e, fmt.Errorf("wait for state %s: %w", state, err)
	}
	return e, nil
}

// Wait waits for the end of the task and returns all events.
func (f *Follower) Wait(ctx context.Context) ([]Event, error) {
	select {
	case <-f.done:
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.events, f.err
	case <-ctx.Done():
		return f.Events(), fmt.Errorf("task %s has not ended: %w", f.TaskID, ctx.Err())
	}
}

// Stop stops following.
func (f *Follower) Stop() {
	f.cancel()
	<-f.done
}
