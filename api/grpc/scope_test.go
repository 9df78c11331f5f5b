package grpc_test

import (
	"context"
	"io"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/emptypb"

	"longhaul/api/service"
)

// Every method needs a scope, also those of streams.
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
// those of which it needs one.
func (s *fixture) wantScope(t *testing.T, method string, call func(ctx context.Context, path string) error) {
	t.Helper()
	needed, ok := service.Needs(method)
	if !ok {
		t.Errorf("%s: no scope", method)
	}
	auth := "Bearer acme/ann "
	for _, scope := range service.Scopes() {
		lacks := false
		for _, n := range needed {
			lacks = lacks || n == scope
		}
		if !lacks {
			auth += string(scope) + " "
		}
	}
	err := call(with(t, "authorization", auth), "/"+a2apb.A2AService_ServiceDesc.ServiceName+"/"+method)
	wantFault(t, method, err, codes.PermissionDenied, "PERMISSION_DENIED")
}
