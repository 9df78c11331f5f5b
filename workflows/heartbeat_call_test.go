package workflows

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"longhaul/activities"
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
