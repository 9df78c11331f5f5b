package stream

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// eventPage is how many events a stream reads at a time, which bounds the memory
// for a slow reader.
const eventPage = 100

// Errors of Stream.Next that are no failures.
var (
	ErrIdle    = errors.New("nothing happened") // for a while
	ErrClosing = errors.New("the service is closing")
)

// A Stream is an open stream of one task. It reads the journal when its reader
// asks for an event. It is for one goroutine.
type Stream struct {
	journal     Journal
	read        read.Reader
	wait        call.Waiter
	watch       call.Watch // nil for a stream of one message
	tenant      string
	objectiveID string
	taskID      string
	contextID   string
	ends        func(a2a.TaskState) bool // the stream ends with an event of this state
	hierarchy   *hierarchy               // nil for a stream of a plan task
	knowsOPT    bool                     // the client understands the extension
	numbered    bool                     // events say their number

	callerCheck   call.CallerCheck
	releaseStream func()       // ends its place in the quota of the caller; nil for none
	first         *StreamEvent // sent before all others; nil for a resumed stream
	page          []shown.Recorded
	seq           int64     // of the last event read from a page
	gate          *opt.Gate // at which the task waited at seq; nil for none, or if it was not read
	notified      bool      // by the watch, and the journal was not read since
	setBack       bool      // the journal has set the objective or a plan back
	over          bool      // the task has ended: no later event will be recorded
	done          bool      // nothing more is sent, except first
}

// A StreamEvent is one event of a stream.
type StreamEvent struct {
	a2a.Event
	Seq       int64          // after which a client can resume; 0 for none
	Objective *opt.Objective // that the metadata of Event.Task carries; nil for none
}

// A Journal has the events of objectives.
type Journal interface {
	Peek(ctx context.Context, tenant, id string) (opt.TaskState, int64, error)
	Objective(ctx context.Context, tenant, id string) (*opt.Objective, error)
	Events(ctx context.Context, objectiveID string, after int64, limit int) ([]shown.Recorded, error)
}

// Streams opens streams.
type Streams struct {
	Journal Journal
	Read    read.Reader
	Wait    call.Waiter
	Watch   func(objectiveID string) call.Watch
}

// Permitted opens a stream that has the permit of a call until it is closed.
func Permitted(c *call.Call, open func() (*Stream, error)) (out *Stream, err error) {
	permit, err := c.PermitStream()
	if err != nil {
		return nil, err
	}
	defer func() {
		if out == nil {
			permit.Drop()
		}
	}()
	if out, err = open(); err != nil {
		return nil, err
	}
	out.releaseStream, out.callerCheck = permit.Begin()
	return out, nil
}

// OfMessage returns the stream of an answer that is one message.
func OfMessage(m *a2a.Message) *Stream {
	return &Stream{first: &StreamEvent{Event: a2a.Event{Message: m}}, done: true}
}

// A StreamStart describes the stream to open.
type StreamStart struct {
	ID      string
	Watch   call.Watch // attached before anything was read or written
	History int
	Scope   shown.HistoryScope
	After   *int64 // resume after this event: no snapshot, no gap
	Send    bool   // the stream of a send, which ends when the task needs input
	Gate    string // that was just answered, so that it does not end the stream
	Pending bool   // a reply was sent and is not judged yet
}

// Subscribe opens a stream of a task that exists.
func (s Streams) Subscribe(ctx context.Context, c *call.Call, p read.TaskParams) (*Stream, error) {
	ref, ok := opt.ParseID(p.ID)
	if !ok {
		return nil, call.TaskUnknown(p.ID)
	}
	return Permitted(c, func() (*Stream, error) {
		return s.Open(ctx, c, StreamStart{ID: p.ID, Watch: s.Watch(ref.ObjectiveID), History: p.History, Scope: p.Scope, After: p.After})
	})
}

// Open opens a stream, which then owns the watch. All errors are found here,
// before anything is sent.
func (s Streams) Open(ctx context.Context, c *call.Call, start StreamStart) (out *Stream, err error) {
	defer func() {
		if err != nil {
			start.Watch.Close()
		}
	}()
	v, err := s.Read.Task(ctx, c, start.ID, shown.TaskWant{History: start.History, Scope: start.Scope, Artifacts: true})
	if err != nil {
		return nil, err
	}
	out = &Stream{
		journal: s.Journal, read: s.Read, wait: s.Wait, watch: start.Watch, tenant: c.Tenant,
		objectiveID: v.ObjectiveID, taskID: start.ID, contextID: v.Task.ContextID, over: v.State.Ended(),
		ends: func(state a2a.TaskState) bool {
			return state.Terminal() || state == a2a.InputRequired && (start.Send || c.Rules.InterruptEnds)
		},
		knowsOPT: c.KnowsOPT(), numbered: c.Knows(a2a.ExtensionStream), setBack: v.Rewound,
	}
	after, ok, err := s.resumeAfter(ctx, c, start.After, v)
	switch {
	case err != nil:
		return nil, err
	case ok:
		return out, out.resume(ctx, v, after)
	case out.over && !start.Send && !c.Rules.SubscribeToEnded:
		return nil, call.ErrEnded
	}
	t, err := s.Read.Show(ctx, c, v)
	if err != nil {
		return nil, err
	}
	gap := (start.After != nil || c.After != "") && after != v.Seq
	t.Metadata = t.Metadata.WithIf(out.numbered && gap, a2a.ExtensionStream, read.Position{Sequence: v.Seq, Gap: true})
	return out, out.begin(ctx, start, v, t)
}

// resume makes s begin after an event that its reader has seen.
func (s *Stream) resume(ctx context.Context, v shown.TaskView, after int64) (err error) {
	s.seq = after
	switch {
	case v.IsRoot && after == v.Seq:
		s.hierarchy, err = s.hierarchyIn(ctx, v, nil)
	case v.IsRoot:
		s.hierarchy, err = s.hierarchyAfter(ctx, after)
	}
	return err
}

// begin makes s begin with a snapshot: t, which v shows.
func (s *Stream) begin(ctx context.Context, start StreamStart, v shown.TaskView, t read.Task) (err error) {
	if v.IsRoot && !s.over {
		s.hierarchy, err = s.hierarchyIn(ctx, v, t.Objective)
	}
	t.Metadata = t.Metadata.WithIf(start.Pending, opt.KeyReplyPending, true)
	s.first, s.seq = &StreamEvent{Event: a2a.Event{Task: &t.Task}, Seq: v.Seq, Objective: t.Objective}, v.Seq
	needsInput := t.Status.State == a2a.InputRequired && !start.Pending && !read.ShowsGate(v, start.Gate)
	s.done = s.over || start.Send && needsInput
	return err
}

// number adds the number of an update to its metadata, if the client asked for that.
func (s *Stream) number(e a2a.Event, seq int64) a2a.Event {
	switch at := (read.Position{Sequence: seq}); {
	case !s.numbered:
	case e.Status != nil:
		e.Status.Metadata = e.Status.Metadata.With(a2a.ExtensionStream, at)
	case e.Artifact != nil:
		e.Artifact.Metadata = e.Artifact.Metadata.With(a2a.ExtensionStream, at)
	}
	return e
}

// resumeAfter returns the number of the last event that a client has seen, from
// its params or the Last-Event-ID that browsers send. ok is false if the number
// is invalid, no event comes after it, or the journal has no such event: the client has it from
// a journal that was lost and rebuilt. Then the stream begins with a snapshot.
func (s Streams) resumeAfter(ctx context.Context, c *call.Call, param *int64, v shown.TaskView) (after int64, ok bool, err error) {
	if param != nil {
		after = *param
	} else if after, err = strconv.ParseInt(c.After, 10, 64); err != nil {
		return 0, false, nil
	}
	switch {
	case after < 0 || after > v.Seq || after == v.Seq && v.State.Ended():
		return after, false, nil
	case after == 0 || after == v.Seq:
		return after, true, nil
	}
	next, err := s.Journal.Events(ctx, v.ObjectiveID, after-1, 1)
	return after, len(next) > 0 && next[0].Seq == after, err
}

// Next waits for the next event. It returns io.EOF at the end of the stream,
// ErrClosing when the service closes before that, and ErrIdle when idle, which may
// be nil, is ready first. It is a fault if the caller is not accepted any more.
func (s *Stream) Next(ctx context.Context, idle <-chan time.Time) (StreamEvent, error) {
	if first := s.first; first != nil {
		s.first = nil
		return *first, nil
	}
	for !s.done {
		if s.wait.IsClosing() {
			return StreamEvent{}, ErrClosing
		}
		if err := s.callerCheck.Check(); err != nil {
			return StreamEvent{}, err
		}
		for len(s.page) > 0 {
			r := s.page[0]
			s.page, s.seq = s.page[1:], r.Seq
			whole, err := s.whole(ctx, r)
			if err != nil {
				return StreamEvent{}, err
			}
			if e, ok := s.event(whole); ok {
				if err := s.continueIfSetBack(ctx); err != nil {
					return StreamEvent{}, err
				}
				err := s.read.AttachEvent(ctx, s.objectiveID, e)
				return StreamEvent{Event: s.number(e, r.Seq), Seq: r.Seq}, err
			}
		}
		var err error
		if s.page, err = s.journal.Events(ctx, s.objectiveID, s.seq, eventPage); err != nil {
			return StreamEvent{}, err
		}
		switch {
		case len(s.page) > 0:
			s.notified = false
		case s.over:
			return StreamEvent{}, io.EOF
		default:
			if err := s.waitForEvents(ctx, idle); err != nil {
				return StreamEvent{}, err
			}
		}
	}
	return StreamEvent{}, io.EOF
}

// continueIfSetBack continues a stream after the end of its task if the journal shows that this
// task was set back later. A plan that is set back after the end of its objective does not
// continue the stream of that: the objective stays as it ended, and its end comes last.
func (s *Stream) continueIfSetBack(ctx context.Context) error {
	if !s.done || !s.setBack {
		return nil
	}
	for at := s.seq; ; {
		page, err := s.journal.Events(ctx, s.objectiveID, at, eventPage)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, r := range page {
			at = r.Seq
			if r.Event.Kind != opt.SourceRewound {
				continue
			}
			if _, ok := s.rewound(r.Event); ok {
				s.done = false
				return nil
			}
		}
	}
}

// event returns the client's form of a recorded event; ok is false if the client
// does not see it. The stream is done after the event that ends it.
func (s *Stream) event(e opt.Event) (out a2a.Event, ok bool) {
	out, ok = s.project(e)
	s.done = ok && out.Status != nil && s.ends(out.Status.Status.State)
	if s.hierarchy == nil {
		return out, ok
	}
	before := s.hierarchy.progress
	u, changed := s.update(s.hierarchy, e)
	switch {
	case changed && (s.knowsOPT || s.hierarchy.progressChanged(before)):
		return a2a.Event{Status: u}, true
	case ok && out.Status != nil:
		s.hierarchy.addProgress(out.Status, s)
	}
	return out, ok
}

// waitForEvents waits until there may be new events. It returns io.EOF if the
// task was removed.
func (s *Stream) waitForEvents(ctx context.Context, idle <-chan time.Time) error {
	if s.notified {
		_, _, err := s.journal.Peek(ctx, s.tenant, s.taskID)
		if errors.Is(err, opt.ErrUnknown) {
			return io.EOF
		}
		if err != nil {
			return err
		}
		s.notified = false
	}
	select {
	case <-s.watch.C():
		s.notified = true
		return nil
	case <-idle:
		return ErrIdle
	case <-s.wait.Closing:
		return ErrClosing
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close releases the stream. It does not affect the work.
func (s *Stream) Close() {
	if s.releaseStream != nil {
		s.releaseStream()
		s.releaseStream = nil
	}
	if s.watch != nil {
		s.watch.Close()
	}
}
