package workflows

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"longhaul/activities"
	"longhaul/opt"
)

// A heartbeat that is slow or lost does not end its activity. An answer that says that the
// activity is over does.
func TestCarryHeartbeats(t *testing.T) {
	const heartbeat, other = workflowservice.WorkflowService_RecordActivityTaskHeartbeat_FullMethodName, workflowservice.WorkflowService_GetSystemInfo_FullMethodName
	for name, tc := range map[string]struct {
		method string
		takes  time.Duration
		err    error
		want   codes.Code
	}{
		"slow":           {heartbeat, 3 * time.Second, nil, codes.OK},
		"too slow":       {heartbeat, time.Minute, nil, codes.OK},
		"down":           {heartbeat, 0, status.Error(codes.Unavailable, "down"), codes.OK},
		"busy":           {heartbeat, 0, status.Error(codes.ResourceExhausted, "busy"), codes.OK},
		"over":           {heartbeat, 0, status.Error(codes.NotFound, "over"), codes.NotFound},
		"may not":        {heartbeat, 0, status.Error(codes.PermissionDenied, "no"), codes.PermissionDenied},
		"a slow call":    {other, 3 * time.Second, nil, codes.DeadlineExceeded},
		"a call, down":   {other, 0, status.Error(codes.Unavailable, "down"), codes.Unavailable},
		"one that works": {heartbeat, 0, nil, codes.OK},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second) // as the SDK gives it
				defer cancel()
				err := carryHeartbeats()(ctx, tc.method, nil, nil, nil, func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
					select {
					case <-ctx.Done():
						return status.FromContextError(ctx.Err()).Err()
					case <-time.After(tc.takes):
						return tc.err
					}
				})
				if got := status.Code(err); got != tc.want {
					t.Errorf("%v, want %v", err, tc.want)
				}
			})
		})
	}
}

// A heartbeat does not hold up the end of its activity, also after the time that the SDK gives it.
func TestCarryHeartbeats_atTheEnd(t *testing.T) {
	for _, at := range []time.Duration{10 * time.Millisecond, 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			all, end := activities.WithHeartbeatsEnd(t.Context())
			ctx, cancel := context.WithTimeout(all, time.Second)
			defer cancel()
			time.AfterFunc(at, end)
			began := time.Now()
			err := carryHeartbeats()(ctx, workflowservice.WorkflowService_RecordActivityTaskHeartbeat_FullMethodName, nil, nil, nil,
				func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
					<-ctx.Done()
					return status.FromContextError(ctx.Err()).Err()
				})
			if took := time.Since(began); err != nil || took != at {
				t.Errorf("%v after %v", err, took)
			}
		})
	}
}

// beatsSeen is an interceptor that counts the heartbeats of an activity, and their senders.
type beatsSeen struct {
	interceptor.WorkerInterceptorBase
	beats   int
	senders map[context.Context]bool // by the contexts of their heartbeats
}

func (s *beatsSeen) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	in := &beatsInbound{seen: s}
	in.Next = next
	return in
}

type beatsInbound struct {
	interceptor.ActivityInboundInterceptorBase
	seen *beatsSeen
}

func (i *beatsInbound) Init(out interceptor.ActivityOutboundInterceptor) error {
	seen := &beatsOutbound{seen: i.seen}
	seen.Next = out
	return i.Next.Init(seen)
}

type beatsOutbound struct {
	interceptor.ActivityOutboundInterceptorBase
	seen *beatsSeen
}

func (o *beatsOutbound) RecordHeartbeat(ctx context.Context, _ ...any) {
	o.seen.beats++
	o.seen.senders[ctx] = true
}

// Run has one sender of heartbeats from the record of what rides to the end of the executor: the
// SDK sends heartbeats with the context of earlier ones, and none with that of a sender that has
// stopped.
func TestRun_hasOneSenderOfHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &beatsSeen{senders: map[context.Context]bool{}}
		env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
		env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{seen}})
		acts := activities.New(activities.Config{Recorder: slowRecorder{}, Default: "slow", Executors: map[string]activities.Executor{"slow": slowExecutor{}}})
		env.RegisterActivity(acts)
		_, err := env.ExecuteActivity(acts.Run, activities.RunInput{Work: activities.Work{Key: "task:1"}, Ride: []opt.Batch{{}}})
		if err != nil || seen.beats < 19 || len(seen.senders) != 1 {
			t.Errorf("%v; %d heartbeats of %d senders", err, seen.beats, len(seen.senders))
		}
	})
}

type slowRecorder struct{}

func (slowRecorder) Record(context.Context, ...opt.Batch) error {
	time.Sleep(10 * time.Second)
	return nil
}

type slowExecutor struct{}

func (slowExecutor) Execute(_ context.Context, _ activities.Work, _ activities.Stream) (activities.Outcome, error) {
	time.Sleep(10 * time.Second)
	return activities.Completed(), nil
}
