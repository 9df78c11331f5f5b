package temporald

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/temporal"
	"go.uber.org/fx"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"longhaul/dev/temporald/layout"
	"longhaul/internal/child"
)

// startServices starts the four services of a Temporal server. stop is there after an
// error, too.
func startServices(s stores, at layout.Services, cfg Config) (stop func() error, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case fatalError:
			err = e
		default:
			panic(e)
		}
	}()
	logger, quiet := serverLogger(cfg.Log)
	hush := func() error { quiet(zap.FatalLevel); return nil } // connections that upstream never closes log errors
	stop = hush

	var services *temporal.ServerImpl
	server, err := temporal.NewServerFx(fx.Options(temporal.TopLevelModule, fx.Populate(&services)),
		temporal.WithConfig(cfg.Faults.in(at.Config(s.main, s.visibility, 1))), // more shards were not faster
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(at.Hosts()),
		temporal.WithDynamicConfigClient(settings()),
		temporal.WithLogger(logger),
		temporal.WithCustomMetricsHandler(metrics.NoopMetricsHandler),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }),
	)
	if err != nil {
		return stop, err
	}
	if err := server.Start(); err != nil {
		// A server that failed to start does not stop the services that did.
		_ = services.Stop(context.Background())
		return stop, err
	}
	return func() error {
		quiet(zap.ErrorLevel) // services log warnings when others have stopped
		return errors.Join(server.Stop(), hush())
	}, nil
}

// waitReady returns when clients of the namespace get answers at addr.
func waitReady(ctx context.Context, addr, namespace string) error {
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	return child.Until(ctx, pollEvery, func() error { return ready(ctx, conn, namespace) })
}

// ready reports why the server is not ready yet.
func ready(ctx context.Context, conn *grpc.ClientConn, namespace string) error {
	health, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{
		Service: workflowservice.WorkflowService_ServiceDesc.ServiceName,
	}, grpc.WaitForReady(true))
	if err != nil {
		return err
	}
	if health.Status != healthpb.HealthCheckResponse_SERVING {
		return fmt.Errorf("frontend is %v", health.Status)
	}

	// Not ListSearchAttributes, for each call of which the server opens a connection that it never closes.
	_, err = workflowservice.NewWorkflowServiceClient(conn).DescribeNamespace(ctx,
		&workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	return err
}
