package grpc

import (
	"context"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"longhaul/api/service"
)

// health is the standard service for health. Its Watch is not implemented, which
// gRPC's own clients accept.
type health struct {
	grpc_health_v1.UnimplementedHealthServer
	service *service.Service
}

// Check says whether work can be accepted now.
func (h health) Check(ctx context.Context, req *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	if name := req.GetService(); name != "" && name != a2apb.A2AService_ServiceDesc.ServiceName {
		return nil, status.Error(codes.NotFound, "unknown service")
	}
	if !h.service.Ready(ctx).All() {
		return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_NOT_SERVING}, nil
	}
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}, nil
}
