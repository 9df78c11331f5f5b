package grpc_test

import (
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"longhaul/api/card"
	apigrpc "longhaul/api/grpc"
	"longhaul/api/service"
	"longhaul/internal/test"
)

type (
	reflectionRequest = grpc_reflection_v1.ServerReflectionRequest
	reflectionAnswer  = grpc_reflection_v1.ServerReflectionResponse
)

const (
	sendMessage = "/lf.a2a.v1.A2AService/SendMessage"
	check       = "/grpc.health.v1.Health/Check"
	reflect     = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
)

// newBare returns a server for calls that no handler sees. It may be in a bubble.
func newBare(t *testing.T) *fixture {
	s := &fixture{}
	cfg := service.Config{Card: card.Info{Name: "Longhaul"}, Now: time.Now, Log: zap.NewNop()}
	s.grpc = apigrpc.New(apigrpc.Config{Service: service.New(cfg), Authenticate: callerOf})
	s.listen(t)
	return s
}

// open begins a call of a method and sends nothing.
func (s *fixture) open(t *testing.T, method, credential string) grpc.ClientStream {
	t.Helper()
	call := test.Value(s.conn.NewStream(with(t, "authorization", credential), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method))(t)
	return call
}

// A message has its time to arrive: a short one if its sender is not authenticated, and none if
// the sender should have been.
func TestDeadlines(t *testing.T) {
	for name, tc := range map[string]struct {
		method, credential string
		within             time.Duration
		code               codes.Code
	}{
		"right credentials": {sendMessage, "Bearer acme/bo", 30 * time.Second, codes.InvalidArgument},
		"wrong credentials": {sendMessage, "Bearer nobody", 0, codes.Unauthenticated},
		"health":            {check, "", 5 * time.Second, codes.InvalidArgument},
		"reflection":        {reflect, "", 5 * time.Second, codes.InvalidArgument},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newBare(t)
			began := time.Now()
			err := s.open(t, tc.method, tc.credential).RecvMsg(new(grpc_health_v1.HealthCheckResponse))
			if took := time.Since(began); status.Code(err) != tc.code || took != tc.within {
				t.Errorf("%s: %v after %v, want %v after %v", name, err, took, tc.code, tc.within)
			}
		})
	}
}

// A stream without authentication does not last, also if its client sends more.
func TestDeadlines_conversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call := newBare(t).open(t, reflect, "")
		began := time.Now()
		for n := range 4 {
			time.AfterFunc(time.Duration(n)*3*time.Second, func() {
				_ = call.SendMsg(&reflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}})
			})
		}
		var err error
		for err == nil {
			err = call.RecvMsg(new(reflectionAnswer))
		}
		if took := time.Since(began); status.Code(err) != codes.DeadlineExceeded || took != 10*time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// One address has so many streams without authentication that others still get some.
func TestAnonymousStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBare(t)
		var calls []grpc.ClientStream
		for range 32 {
			calls = append(calls, s.open(t, reflect, ""))
		}
		synctest.Wait()
		err := s.open(t, check, "").RecvMsg(new(grpc_health_v1.HealthCheckResponse))
		if status.Code(err) != codes.ResourceExhausted {
			t.Errorf("another stream: %v, want RESOURCE_EXHAUSTED", err)
		}
		for _, call := range calls {
			_ = call.RecvMsg(new(grpc_health_v1.HealthCheckResponse))
		}
		if err := s.open(t, check, "").RecvMsg(new(grpc_health_v1.HealthCheckResponse)); status.Code(err) != codes.InvalidArgument {
			t.Errorf("after they have ended: %v", err)
		}
	})
}
