package workflows

import (
	"context"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"longhaul/activities"
)

// heartbeatPatience is how long a heartbeat may be on its way to Temporal.
const heartbeatPatience = 5 * time.Second

// carryHeartbeats gives the heartbeats of activities more time than the SDK does, which is the
// second between two of them, and ignores it if one does not arrive. After such a failure the SDK
// cancels its activity, as if Temporal had taken the worker for lost: a moment in which Temporal is
// slow would have all tasks run again, with every worker time-out. Temporal itself counts the
// time without a heartbeat, and the answer to the next one says that the activity is over.
func carryHeartbeats() grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, to *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption) error {
		beat := func(ctx context.Context) error { return call(ctx, method, req, reply, to, options...) }
		if method == workflowservice.WorkflowService_RecordActivityTaskHeartbeat_FullMethodName {
			return carryHeartbeat(ctx, beat)
		}
		return beat(ctx)
	}
}

// carryHeartbeat sends a heartbeat. ctx is the SDK's.
func carryHeartbeat(ctx context.Context, send func(context.Context) error) error {
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), heartbeatPatience)
	defer cancel()
	defer activities.AfterHeartbeats(ctx, cancel)()
	err := send(patient)
	switch status.Code(err) {
	case codes.NotFound, codes.InvalidArgument, codes.PermissionDenied, codes.Unauthenticated, codes.FailedPrecondition, codes.Unimplemented:
		return err
	}
	return nil
}
