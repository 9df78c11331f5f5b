package lease

import (
	"context"
	"math"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Taken is what the workers of this process have taken from Temporal and not yet answered.
type Taken struct {
	mu      sync.Mutex
	all     map[Entry]time.Time // since when
	repeats map[string]*repeat  // workflow tasks that were begun before, by run
	expired time.Time           // when expire was called last
	changes map[Entry]bool      // since takeChanges: added (true) or removed
	changed chan struct{}
	urgent  chan struct{} // a task waits for a change
	latest  int           // change
	written int           // the latest change that a lease has; all while none is held
	news    chan struct{} // closed, and replaced, when written rises
	within  time.Duration // how long a task waits for its lease. Afterwards it begins without
}

// NewTaken returns that of a process that has taken nothing yet.
func NewTaken() *Taken {
	return &Taken{all: map[Entry]time.Time{}, repeats: map[string]*repeat{}, changes: map[Entry]bool{}, changed: make(chan struct{}, 1), urgent: make(chan struct{}, 1), written: math.MaxInt, news: make(chan struct{}), within: 100 * time.Millisecond}
}

// Calls sees what the calls to Temporal take and answer.
func (t *Taken) Calls() grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, to *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption) error {
		if r, ok := req.(*workflowservice.PollWorkflowTaskQueueRequest); ok && r.GetTaskQueue().GetKind() == enumspb.TASK_QUEUE_KIND_STICKY {
			t.add(stickyQueue, []byte(r.GetTaskQueue().GetName()))
		}
		err := call(ctx, method, req, reply, to, options...)
		if err == nil && t.addTasks(reply) {
			t.awaitWritten(ctx)
		}
		if err == nil || isFinal(err) {
			t.removeAnswered(req)
		}
		return err
	}
}

// addTasks adds what a reply brings, and reports whether it brings tasks.
func (t *Taken) addTasks(reply any) (tasks bool) {
	switch r := reply.(type) {
	case *workflowservice.PollActivityTaskQueueResponse:
		t.add(activityTask, r.GetTaskToken())
		return len(r.GetTaskToken()) > 0
	case *workflowservice.PollWorkflowTaskQueueResponse:
		if r.GetQuery() == nil { // the token of a query is not that of a task
			t.add(workflowTask, r.GetTaskToken())
			t.noteRepeat(r)
		}
	case *workflowservice.RespondWorkflowTaskCompletedResponse:
		t.add(workflowTask, r.GetWorkflowTask().GetTaskToken())
		for _, eager := range r.GetActivityTasks() {
			t.add(activityTask, eager.GetTaskToken())
		}
		return len(r.GetActivityTasks()) > 0
	}
	return false
}

// awaitWritten waits until the lease has all changes until now.
func (t *Taken) awaitWritten(ctx context.Context) {
	timer := time.NewTimer(t.within)
	defer timer.Stop()
	t.mu.Lock()
	latest := t.latest
	if t.written < latest {
		signal(t.urgent)
	}
	for t.written < latest {
		news := t.news
		t.mu.Unlock()
		select {
		case <-news:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
		t.mu.Lock()
	}
	t.mu.Unlock()
}

// noteWritten notes which changes are written. Without a lease none is waited for.
func (t *Taken) noteWritten(until int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written = max(t.written, until)
	close(t.news)
	t.news = make(chan struct{})
}

// removeAnswered removes what a request has answered.
func (t *Taken) removeAnswered(req any) {
	switch r := req.(type) {
	case *workflowservice.RespondActivityTaskCompletedRequest:
		t.remove(activityTask, r.GetTaskToken())
	case *workflowservice.RespondActivityTaskFailedRequest:
		t.remove(activityTask, r.GetTaskToken())
	case *workflowservice.RespondActivityTaskCanceledRequest:
		t.remove(activityTask, r.GetTaskToken())
	case *workflowservice.RespondWorkflowTaskCompletedRequest:
		if !r.GetIntermediatePage() {
			t.remove(workflowTask, r.GetTaskToken())
		}
	case *workflowservice.RespondWorkflowTaskFailedRequest:
		t.remove(workflowTask, r.GetTaskToken())
	}
}

// isFinal reports whether Temporal has refused an answer, so that the SDK does not repeat it.
func isFinal(err error) bool {
	switch status.Code(err) {
	case codes.NotFound, codes.InvalidArgument, codes.FailedPrecondition, codes.PermissionDenied, codes.Unauthenticated, codes.Unimplemented:
		return true
	}
	return false
}

func (t *Taken) add(kind Kind, value []byte)    { t.set(Entry{kind, string(value)}, true) }
func (t *Taken) remove(kind Kind, value []byte) { t.set(Entry{kind, string(value)}, false) }

// set adds or removes an entry. One that is removed before takeChanges is no change.
func (t *Taken) set(e Entry, has bool) {
	if e.Value == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, had := t.all[e]; had != has {
		t.note(e, has)
	}
}

// note adds or removes an entry that is new, or there. t.mu is held.
func (t *Taken) note(e Entry, has bool) {
	if has {
		t.all[e] = time.Now()
	} else {
		delete(t.all, e)
	}
	t.latest++
	if was, unseen := t.changes[e]; unseen && was != has {
		delete(t.changes, e)
		return
	}
	t.changes[e] = has
	signal(t.changed)
}

// signal leaves a value in a channel with room for one.
func signal(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// changeAll makes all that there is a change, for a lease that begins.
func (t *Taken) changeAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changes, t.written = map[Entry]bool{}, 0
	for e := range t.all {
		t.changes[e] = true
	}
}

// takeChanges returns the changes since its last call, and which is the latest.
func (t *Taken) takeChanges() (added, removed []Entry, latest int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire()
	for e, has := range t.changes {
		if has {
			added = append(added, e)
		} else {
			removed = append(removed, e)
		}
	}
	clear(t.changes)
	return added, removed, t.latest
}

// putBack has takeChanges return changes again that could not be written, as far as they still are.
func (t *Taken) putBack(changes ...Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range changes {
		_, t.changes[e] = t.all[e]
	}
}

// workflowTaskFor is longer than a workflow task may take. The SDK does not answer each that fails.
const workflowTaskFor = 10 * time.Second

// expire removes workflow tasks that are over. t.mu is held.
func (t *Taken) expire() {
	now := time.Now()
	if now.Sub(t.expired) < time.Second {
		return
	}
	t.expired = now
	for e, since := range t.all {
		if e.Kind == workflowTask && now.Sub(since) > workflowTaskFor {
			t.note(e, false)
		}
	}
}

// tasks returns the tokens of tasks that are not answered.
func (t *Taken) tasks() map[string]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	tokens := map[string]bool{}
	for e := range t.all {
		if e.Kind == activityTask {
			tokens[e.Value] = true
		}
	}
	return tokens
}
