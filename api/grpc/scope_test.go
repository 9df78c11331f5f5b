package grpc_test

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"longhaul/api/call"
	"longhaul/api/operation"
)

// Every method needs a scope, also for streams.
func TestScopes_everyMethod(t *testing.T) {
	s := newService(t)
	for _, m := range a2apb.A2AService_ServiceDesc.Methods {
		s.wantScope(t, m.MethodName, func(ctx context.Context, path string) error {
			return s.conn.Invoke(ctx, path, &emptypb.Empty{}, &emptypb.Empty{})
		})
	}
	for _, m := range a2apb.A2AService_ServiceDesc.Streams {
		s.wantScope(t, m.StreamName, func(ctx context.Context, path string) error {
			stream, err := s.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, path)
			if err == nil {
				err = stream.SendMsg(&emptypb.Empty{})
			}
			if err == nil || err == io.EOF {
				err = stream.RecvMsg(&emptypb.Empty{})
			}
			return err
		})
	}
}

// wantScope checks that a method is refused for a caller with all scopes but
// of which it needs one.
func (s *fixture) wantScope(t *testing.T, method string, do func(ctx context.Context, path string) error) {
	t.Helper()
	needed := operation.Right(method).Scopes
	if len(needed) == 0 {
		t.Errorf("%s: no scope", method)
	}
	auth := "Bearer acme/ann "
	for _, scope := range call.Scopes() {
		lacks := false
		for _, n := range needed {
			lacks = lacks || n == scope
		}
		if !lacks {
			auth += string(scope) + " "
		}
	}
	err := do(with(t, "authorization", auth), "/"+a2apb.A2AService_ServiceDesc.ServiceName+"/"+method)
	wantFault(t, method, err, codes.PermissionDenied, "PERMISSION_DENIED")
}

// The error for a caller above its limits says when to try again.
func TestQuota(t *testing.T) {
	s := newService(t, func(c *config) { c.Quota = full{} })
	_, err := s.ListTasks(with(t), &a2apb.ListTasksRequest{})
	wantFault(t, "a call", err, codes.ResourceExhausted, "RATE_LIMIT_EXCEEDED")
	stream, err := s.SubscribeToTask(with(t), &a2apb.SubscribeToTaskRequest{Id: "x"})
	if err == nil {
		_, err = stream.Recv()
	}
	wantFault(t, "a stream", err, codes.ResourceExhausted, "RATE_LIMIT_EXCEEDED")
	for _, detail := range status.Convert(err).Details() {
		if d, ok := detail.(*errdetails.RetryInfo); ok && d.GetRetryDelay().AsDuration() == time.Second {
			return
		}
	}
	t.Errorf("no RetryInfo in %v", err)
}

// full is a quota without room.
type full struct{}

func (full) Call(call.Caller) (func(), error)   { return nil, call.TooMany(time.Second) }
func (full) Stream(call.Caller) (func(), error) { return nil, call.TooMany(time.Second) }

// An open stream has a place among the streams, none among the calls.
func TestQuota_openStream(t *testing.T) {
	var calls, streams atomic.Int32
	s := newService(t, func(c *config) { c.Quota = meter{&calls, &streams} })
	id := s.send(t, "m", "slow").GetId()
	stream, err := s.SubscribeToTask(with(t), &a2apb.SubscribeToTaskRequest{Id: id})
	if err == nil {
		_, err = stream.Recv()
	}
	if err != nil || calls.Load() != 0 || streams.Load() != 1 {
		t.Errorf("%d calls, %d streams, error %v", calls.Load(), streams.Load(), err)
	}
}

// A meter is a quota that counts open calls and streams.
type meter struct{ calls, streams *atomic.Int32 }

func (m meter) Call(call.Caller) (func(), error)   { return open(m.calls), nil }
func (m meter) Stream(call.Caller) (func(), error) { return open(m.streams), nil }

func open(n *atomic.Int32) (leave func()) {
	n.Add(1)
	return func() { n.Add(-1) }
}
