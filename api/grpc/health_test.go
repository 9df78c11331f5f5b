package grpc_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"longhaul/internal/test"
	"longhaul/opt"
)

const (
	serving    = grpc_health_v1.HealthCheckResponse_SERVING
	notServing = grpc_health_v1.HealthCheckResponse_NOT_SERVING
	unknown    = grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN
)

// services are the names that have a status.
var services = []string{"", "lf.a2a.v1.A2AService"}

func TestHealth_Check(t *testing.T) {
	s := newService(t)
	client := grpc_health_v1.NewHealthClient(s.conn)
	check := func(service string) (grpc_health_v1.HealthCheckResponse_ServingStatus, error) {
		answer, err := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: service})
		return answer.GetStatus(), err
	}
	for _, service := range services {
		if got, err := check(service); got != serving || err != nil {
			t.Errorf("%q is %v, error %v", service, got, err)
		}
	}
	if _, err := check("another"); status.Code(err) != codes.NotFound {
		t.Errorf("another: error %v", err)
	}
	s.world.Down(opt.ErrUnavailable)
	s.world.Advance(time.Second)
	test.Is(t, "with its engine down it is", notServing, test.Value(check(""))(t))
}

func TestHealth_List(t *testing.T) {
	s := newService(t)
	client := grpc_health_v1.NewHealthClient(s.conn)
	list := func(want grpc_health_v1.HealthCheckResponse_ServingStatus) {
		t.Helper()
		got, err := client.List(t.Context(), &grpc_health_v1.HealthListRequest{})
		if err != nil || len(got.GetStatuses()) != len(services) {
			t.Fatalf("listed %v, error %v", got, err)
		}
		for _, service := range services {
			if got.GetStatuses()[service].GetStatus() != want {
				t.Errorf("listed %v, want all %v", got, want)
			}
		}
	}
	list(serving)
	s.world.Down(opt.ErrUnavailable)
	list(serving) // the answer of a moment ago
	s.world.Advance(time.Second)
	list(notServing)
}

// watchHealth opens a Watch and returns a function that checks its next status.
func watchHealth(t *testing.T, s *fixture, service string) (
	stream grpc.ServerStreamingClient[grpc_health_v1.HealthCheckResponse], next func(grpc_health_v1.HealthCheckResponse_ServingStatus),
) {
	t.Helper()
	stream = test.Value(grpc_health_v1.NewHealthClient(s.conn).Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: service}))(t)
	return stream, func(want grpc_health_v1.HealthCheckResponse_ServingStatus) {
		t.Helper()
		if got, err := stream.Recv(); err != nil || got.GetStatus() != want {
			t.Fatalf("status %v, error %v, want %v", got.GetStatus(), err, want)
		}
	}
}

func TestHealth_Watch(t *testing.T) {
	s := newService(t, func(c *config) { c.Heartbeat = time.Millisecond })
	for _, service := range services {
		_, next := watchHealth(t, s, service)
		next(serving)
		s.world.Down(opt.ErrUnavailable)
		s.world.Advance(time.Second)
		next(notServing)
		s.world.Down(nil)
		s.world.Advance(time.Second)
		next(serving) // and nothing between: a status that has not changed is not sent
	}
}

func TestHealth_watchSendsAtOnce(t *testing.T) {
	s := newService(t, func(c *config) { c.Heartbeat = time.Hour })
	s.world.Down(opt.ErrUnavailable)
	for service, want := range map[string]grpc_health_v1.HealthCheckResponse_ServingStatus{"": notServing, "another": unknown} {
		_, next := watchHealth(t, s, service)
		next(want)
	}
}

func TestHealth_watchEnds(t *testing.T) {
	s := newService(t, func(c *config) { c.Heartbeat = time.Hour })
	var streams []grpc.ServerStreamingClient[grpc_health_v1.HealthCheckResponse]
	for _, service := range append(services, "another") {
		stream, _ := watchHealth(t, s, service)
		test.OK(t, test.Err(stream.Recv()))
		streams = append(streams, stream)
	}
	test.Error(t, "Shutdown", nil, s.grpc.Shutdown(t.Context()))
	for i, stream := range streams {
		if got, err := stream.Recv(); !errors.Is(err, io.EOF) {
			t.Errorf("stream %d: after the server stopped came %v, error %v", i, got, err)
		}
	}
}
