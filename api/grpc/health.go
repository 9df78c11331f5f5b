package grpc

import (
	"context"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"longhaul/api/service"
)

type (
	healthRequest  = grpc_health_v1.HealthCheckRequest
	healthResponse = grpc_health_v1.HealthCheckResponse
)

// health is the standard health service. It answers for the whole server ("") and
// for A2A, which have the same status: whether work can be accepted now. Every
// answer comes from a fresh check, so no status is out of date.
type health struct {
	grpc_health_v1.UnimplementedHealthServer
	service *service.Service
	every   time.Duration // between the checks of a Watch
}

func (h health) names() []string { return []string{"", a2apb.A2AService_ServiceDesc.ServiceName} }

// status returns the status of the service with a name, or SERVICE_UNKNOWN.
func (h health) status(ctx context.Context, name string) *healthResponse {
	switch {
	case !slices.Contains(h.names(), name):
		return &healthResponse{Status: grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN}
	case !h.service.Ready(ctx).All():
		return &healthResponse{Status: grpc_health_v1.HealthCheckResponse_NOT_SERVING}
	}
	return &healthResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}
}

// Check returns the status of one service, or NotFound for an unknown one.
func (h health) Check(ctx context.Context, req *healthRequest) (*healthResponse, error) {
	now := h.status(ctx, req.GetService())
	if now.GetStatus() == grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN {
		return nil, status.Error(codes.NotFound, "unknown service")
	}
	return now, nil
}

// List returns the status of every service.
func (h health) List(ctx context.Context, _ *grpc_health_v1.HealthListRequest) (*grpc_health_v1.HealthListResponse, error) {
	now := h.status(ctx, "")
	all := map[string]*healthResponse{}
	for _, name := range h.names() {
		all[name] = now
	}
	return &grpc_health_v1.HealthListResponse{Statuses: all}, nil
}

// Watch sends the status of one service at once, and again when a later check finds
// that it has changed. The stream ends when the server stops. An unknown service
// does not end it: the standard asks for SERVICE_UNKNOWN and an open stream.
func (h health) Watch(req *healthRequest, to grpc.ServerStreamingServer[healthResponse]) error {
	tick := time.NewTicker(h.every)
	defer tick.Stop()
	for sent := grpc_health_v1.HealthCheckResponse_UNKNOWN; ; {
		now := h.status(to.Context(), req.GetService())
		if now.GetStatus() != sent {
			if err := to.Send(now); err != nil {
				return err
			}
			sent = now.GetStatus()
		}
		select {
		case <-tick.C:
		case <-h.service.Closing():
			return nil
		case <-to.Context().Done():
			return nil
		}
	}
}
