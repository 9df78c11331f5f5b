package api

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"longhaul/a2a"
	"longhaul/api/wire"
	"longhaul/opt"
)

// eventPage is how many events a stream reads at a time, which bounds what a
// slow reader makes us hold.
const eventPage = 100

// errIdle is returned by feed.next when nothing happened for a while.
var errIdle = errors.New("nothing happened")

// A feed is an open stream of one task, whatever binding it goes out by. It reads
// the journal at its reader's pace; nothing is pushed to it.
type feed struct {
	s           *Server
	watch       Watch // nil for a stream of one message
	tenant      string
	objectiveID string
	taskID      string
	contextID   string
	ends        func(a2a.TaskState) bool // the stream ends with an event of this state
	hierarchy   *hierarchy               // to tell of; nil if the client does not understand it

	first *a2a.Event // goes out before all others; nil when the stream is a resumed one
	page  []opt.Recorded
	seq   int64 // of the last event that was taken from a page
	told  bool  // the watch has, and nothing was found yet
	over  bool  // the task has ended: what is not recorded by now never comes
	done  bool  // nothing goes out any more, once first has
}

// A streamed event has the number that a client can resume after, 0 for none.
type streamed struct {
	seq   int64
	event a2a.Event
}

// A feedStart says what a stream is to show, and how it came about.
type feedStart struct {
	id      string
	watch   Watch // attached before anything was read or written
	history int
	scope   opt.HistoryScope
	after   *int64 // resume after this event: no snapshot, no gap
	send    bool   // the stream of a send, which ends when the task needs input
	gate    string // that was answered just now, so that it does not end the stream
	pending bool   // a reply was sent and is not judged
}

// open opens a stream, of which it owns the watch from then on. Whatever can be
// wrong with it is found here, before anything goes out.
func (s *Server) open(ctx context.Context, c *call, start feedStart) (f *feed, err error) {
	f = &feed{s: s, watch: start.watch, tenant: c.Tenant, taskID: start.id}
	defer func() {
		if err != nil {
			start.watch.Close()
		}
	}()
	v, err := s.task(ctx, c, start.id, opt.TaskWant{History: start.history, Scope: start.scope, Artifacts: true})
	if err != nil {
		return nil, err
	}
	f.objectiveID, f.contextID, f.over = v.ObjectiveID, v.Task.ContextID, v.State.Ended()
	f.ends = func(state a2a.TaskState) bool {
		return state.Terminal() || state == a2a.InputRequired && (start.send || c.rules.InterruptEnds)
	}
	tells := c.opt() && v.IsRoot
	if after, ok := resumeAfter(c, start.after, v); ok {
		f.seq = after
		if tells {
			f.hierarchy, err = f.hierarchyAfter(ctx, after)
		}
		return f, err
	}
	if f.over && !start.send && !c.rules.SubscribeToEnded {
		return nil, errEnded
	}
	t, o, err := s.shown(ctx, c, v)
	if err != nil {
		return nil, err
	}
	if tells {
		if f.hierarchy, err = f.hierarchyIn(ctx, c, v, t, o); err != nil {
			return nil, err
		}
	}
	if start.pending {
		t.Metadata = t.Metadata.With(opt.KeyReplyPending, true)
	}
	f.first, f.seq = &a2a.Event{Task: &t}, v.Seq
	needsInput := t.Status.State == a2a.InputRequired && !start.pending && !shows(v, start.gate)
	f.done = f.over || start.send && needsInput
	return f, nil
}

// resumeAfter returns the number of the last event that a client has seen, from
// its params or the Last-Event-ID that browsers send. What cannot be right, or
// leaves nothing to send, is no resumption: the stream begins with a snapshot.
func resumeAfter(c *call, param *int64, v opt.TaskView) (int64, bool) {
	if param == nil {
		n, err := strconv.ParseInt(c.after, 10, 64)
		if err != nil {
			return 0, false
		}
		param = &n
	}
	return *param, *param >= 0 && *param <= v.Seq && (*param < v.Seq || !v.State.Ended())
}

// subscribe opens a stream of a task that exists.
func (s *Server) subscribe(ctx context.Context, c *call, p wire.TaskParams) (*feed, error) {
	ref, ok := opt.ParseID(p.ID)
	if !ok {
		return nil, taskNotFound(p.ID)
	}
	return s.open(ctx, c, feedStart{id: p.ID, watch: s.cfg.Watch(ref.ObjectiveID), history: p.History, scope: p.Scope, after: p.After})
}

// next waits for the next event. It returns io.EOF at the end of the stream,
// which is also when the server closes, and errIdle when the beat comes first.
func (f *feed) next(ctx context.Context, beat <-chan time.Time) (streamed, error) {
	if e := f.first; e != nil {
		f.first = nil
		return streamed{f.seq, *e}, nil
	}
	for !f.done && !f.s.isClosing() {
		for len(f.page) > 0 {
			r := f.page[0]
			f.page, f.seq = f.page[1:], r.Seq
			e, ok := f.project(r.Event)
			f.done = ok && e.Status != nil && f.ends(e.Status.Status.State)
			if f.hierarchy != nil {
				if u, told := f.tell(f.hierarchy, r.Event); told {
					e, ok = a2a.Event{Status: u}, true
				}
			}
			if ok {
				return streamed{r.Seq, e}, nil
			}
		}
		var err error
		if f.page, err = f.s.cfg.Journal.Events(ctx, f.objectiveID, f.seq, eventPage); err != nil {
			return streamed{}, err
		}
		switch {
		case len(f.page) > 0:
			f.told = false
		case f.over:
			return streamed{}, io.EOF
		default:
			if err := f.wait(ctx, beat); err != nil {
				return streamed{}, err
			}
		}
	}
	return streamed{}, io.EOF
}

// wait waits until there may be new events. It returns io.EOF if there never will
// be any, since the task was removed.
func (f *feed) wait(ctx context.Context, beat <-chan time.Time) error {
	if f.told {
		_, _, err := f.s.cfg.Journal.Peek(ctx, f.tenant, f.taskID)
		if errors.Is(err, opt.ErrUnknown) {
			return io.EOF
		}
		if err != nil {
			return err
		}
		f.told = false
	}
	select {
	case <-f.watch.C():
		f.told = true
		return nil
	case <-beat:
		return errIdle
	case <-f.s.closing:
		return io.EOF
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *feed) close() {
	if f.watch != nil {
		f.watch.Close()
	}
}

func (s *Server) isClosing() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}
