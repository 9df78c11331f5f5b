//go:build unix

package lease_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"longhaul/activities"
	"longhaul/internal/lease"
	"longhaul/internal/test"
)

// A temporal notes the work that it gets back.
type temporal struct {
	workflowservice.WorkflowServiceClient
	mu     sync.Mutex
	calls  []string
	answer map[string]error
}

func (s *temporal) note(format string, args ...any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	s.calls = append(s.calls, text)
	return s.answer[text]
}

func (s *temporal) noted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func (s *temporal) ShutdownWorker(_ context.Context, r *workflowservice.ShutdownWorkerRequest, _ ...grpc.CallOption) (*workflowservice.ShutdownWorkerResponse, error) {
	return nil, s.note("queue %s", r.GetStickyTaskQueue())
}

func (s *temporal) RespondWorkflowTaskFailed(_ context.Context, r *workflowservice.RespondWorkflowTaskFailedRequest, _ ...grpc.CallOption) (*workflowservice.RespondWorkflowTaskFailedResponse, error) {
	return nil, s.note("workflow task %s", r.GetTaskToken())
}

func (s *temporal) RespondActivityTaskFailed(_ context.Context, r *workflowservice.RespondActivityTaskFailedRequest, _ ...grpc.CallOption) (*workflowservice.RespondActivityTaskFailedResponse, error) {
	info := r.GetFailure().GetApplicationFailureInfo()
	if info.GetType() != activities.WorkerLostError || info.GetNonRetryable() || info.GetNextRetryDelay().AsDuration() <= 0 {
		return nil, s.note("not to be repeated: %v", info)
	}
	return nil, s.note("task %s in %s", r.GetTaskToken(), r.GetNamespace())
}

func keeper(s lease.Store, to *temporal) *lease.Keeper {
	return &lease.Keeper{Taken: lease.NewTaken(), Store: s, Temporal: to, Namespace: "here", Log: zap.NewNop()}
}

// run runs a keeper until the test or stop ends it.
func run(t *testing.T, k *lease.Keeper) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { k.Run(ctx) })
	stop = func() { cancel(); running.Wait() }
	t.Cleanup(stop)
	return stop
}

func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	for began := time.Now(); !check(); time.Sleep(time.Millisecond) {
		if time.Since(began) > 20*time.Second {
			t.Fatal("not " + what)
		}
	}
}

// leave leaves a lease of a worker that was lost.
func leave(t *testing.T, s lease.Store, texts ...string) {
	t.Helper()
	held := test.Value(s.Hold(t.Context()))(t)
	test.OK(t, held.Change(t.Context(), entries(texts...), nil))
	test.OK(t, held.Release(t.Context(), false))
}

// What a lost worker had taken is given back, first its queue. What Temporal refuses has ended, or
// cannot be given back at all; only what may succeed later is tried again.
func TestKeeper_givesBack(t *testing.T) {
	t.Parallel()
	s := lease.Files{Dir: filepath.Join(t.TempDir(), "a[b]")} // a name is no pattern
	leave(t, s, "a one", "w two", "q sticky", "a three")
	to := &temporal{answer: map[string]error{
		"queue sticky": serviceerror.NewUnimplemented("an old server"), "workflow task two": serviceerror.NewNamespaceNotFound("gone"),
		"task one in here": serviceerror.NewNotFound("it has ended"), "task three in here": serviceerror.NewUnavailable("not now"),
	}}
	k, lost := keeper(s, to), make(chan struct{}, 1)
	k.Lost = func() { lost <- struct{}{} }
	run(t, k)
	want := []string{"queue sticky", "task one in here", "task three in here", "workflow task two"}
	eventually(t, "given back again", func() bool { return len(to.noted()) >= 2*len(want) })
	if len(lost) > 0 {
		t.Error("the worker counts as lost before all that it had taken is given back")
	}
	to.mu.Lock()
	to.answer = nil
	to.mu.Unlock()
	<-lost
	leaveAll := func(context.Context, []lease.Entry) error { return context.Canceled }
	eventually(t, "ended", func() bool { n, err := s.Orphans(t.Context(), leaveAll); return n == 1 && err == nil }) // its own is left
	all := to.noted()
	slices.Sort(all[1:len(want)])
	if diff := cmp.Diff(want, all[:len(want)]); diff != "" {
		t.Error(diff)
	}
}

// call makes a call through what sees the calls.
func call(k *lease.Keeper, req, reply any, err error) {
	_ = k.Taken.Calls()(context.Background(), "", req, reply, nil, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return err })
}

// The lease of a worker has what it has taken and not answered.
func TestKeeper_follows(t *testing.T) {
	t.Parallel()
	s := lease.Files{Dir: t.TempDir()}
	k := keeper(s, &temporal{})
	sticky := &taskqueuepb.TaskQueue{Name: "sticky", Kind: enumspb.TASK_QUEUE_KIND_STICKY}
	task := func(token string) {
		call(k, &workflowservice.PollActivityTaskQueueRequest{}, &workflowservice.PollActivityTaskQueueResponse{TaskToken: []byte(token)}, nil)
	}
	task("before the lease")
	stop := run(t, k)
	eventually(t, "held", func() bool { n, err := s.Orphans(t.Context(), nil); return n == 1 && err == nil })
	call(k, &workflowservice.PollWorkflowTaskQueueRequest{TaskQueue: sticky}, &workflowservice.PollWorkflowTaskQueueResponse{}, nil)
	call(k, &workflowservice.PollWorkflowTaskQueueRequest{}, &workflowservice.PollWorkflowTaskQueueResponse{TaskToken: []byte("workflow task")}, nil)
	call(k, &workflowservice.RespondWorkflowTaskCompletedRequest{TaskToken: []byte("workflow task")}, &workflowservice.RespondWorkflowTaskCompletedResponse{
		WorkflowTask:  &workflowservice.PollWorkflowTaskQueueResponse{TaskToken: []byte("next workflow task")},
		ActivityTasks: []*workflowservice.PollActivityTaskQueueResponse{{TaskToken: []byte("eager")}},
	}, nil)
	for _, token := range []string{"completed", "failed", "canceled", "unanswered", "refused"} {
		task(token)
	}
	call(k, &workflowservice.RespondActivityTaskCompletedRequest{TaskToken: []byte("completed"), Result: &commonpb.Payloads{}}, nil, nil)
	call(k, &workflowservice.RespondActivityTaskFailedRequest{TaskToken: []byte("failed")}, nil, nil)
	call(k, &workflowservice.RespondActivityTaskCanceledRequest{TaskToken: []byte("canceled")}, nil, nil)
	call(k, &workflowservice.RespondActivityTaskCompletedRequest{TaskToken: []byte("unanswered")}, nil, status.Error(codes.Unavailable, ""))
	call(k, &workflowservice.RespondActivityTaskCompletedRequest{TaskToken: []byte("refused")}, nil, status.Error(codes.NotFound, ""))
	stop() // what it has not answered is left to others, when the process ends
	if got := orphans(t, s); got != nil {
		t.Errorf("others found %q while the tasks may run", got)
	}
	files := test.Value(filepath.Glob(filepath.Join(s.Dir, "*")))(t)
	got := test.Value(lease.ReadChanges(files[0]))(t)
	want := entries("a before the lease", "a eager", "a unanswered", "q sticky", "w next workflow task")
	sortEntries(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A task begins when its lease has it, and without a lease at once.
func TestKeeper_beforeTask(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := lease.Files{Dir: dir}
	k := keeper(s, &temporal{})
	k.Taken.Patient()
	poll := func(token string) {
		call(k, &workflowservice.PollActivityTaskQueueRequest{}, &workflowservice.PollActivityTaskQueueResponse{TaskToken: []byte(token)}, nil)
	}
	poll("before")
	run(t, k)
	has := func(token string) bool {
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		if len(files) != 1 {
			return false
		}
		text, err := os.ReadFile(files[0])
		return err == nil && strings.Contains(string(text), base64.StdEncoding.EncodeToString([]byte(token)))
	}
	eventually(t, "held", func() bool { return has("before") })
	for i := range 100 {
		token := fmt.Sprint("task ", i)
		poll(token)
		if !has(token) {
			t.Fatalf("%s began, and the lease did not have it", token)
		}
	}
}

// A worker that stops when it has answered everything leaves nothing to others.
func TestKeeper_leaves(t *testing.T) {
	t.Parallel()
	s := lease.Files{Dir: t.TempDir()}
	k := keeper(s, &temporal{})
	stop := run(t, k)
	call(k, &workflowservice.PollActivityTaskQueueRequest{}, &workflowservice.PollActivityTaskQueueResponse{TaskToken: []byte("one")}, nil)
	call(k, &workflowservice.RespondActivityTaskCompletedRequest{TaskToken: []byte("one")}, nil, nil)
	stop()
	if got := orphans(t, s); got != nil {
		t.Errorf("it left %q", got)
	}
}

// A losing store has leases that are lost when the test says so.
type losing struct {
	lease.Files
	lost chan chan struct{}
}

type losingLease struct {
	lease.Held
	lost <-chan struct{}
}

func (l losingLease) Lost() <-chan struct{} { return l.lost }

func (s losing) Hold(ctx context.Context) (lease.Held, error) {
	held, err := s.Files.Hold(ctx)
	lost := make(chan struct{})
	s.lost <- lost
	return losingLease{held, lost}, err
}

// The fence of what runs closes when the lease is lost; what begins later has another one.
func TestKeeper_Fence(t *testing.T) {
	t.Parallel()
	s := losing{lease.Files{Dir: t.TempDir()}, make(chan chan struct{}, 2)}
	k := keeper(s, &temporal{})
	run(t, k)
	fence, lost := k.Fence(nil), <-s.lost
	select {
	case <-fence:
		t.Fatal("the fence is closed while the lease is held")
	default:
	}
	call(k, &workflowservice.PollActivityTaskQueueRequest{}, &workflowservice.PollActivityTaskQueueResponse{TaskToken: []byte("taken before")}, nil)
	close(lost)
	<-fence
	<-s.lost                          // another lease is held
	<-k.Fence([]byte("taken before")) // the task begins now, and others may begin it, too
	select {
	case <-k.Fence([]byte("taken later")):
		t.Fatal("what begins later has the fence of before")
	default:
	}
}
