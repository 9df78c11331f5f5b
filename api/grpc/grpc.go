// Package grpc serves A2A 1.0 over gRPC, with the official generated service and
// the same handlers as over HTTP. Requests are converted to ProtoJSON for the
// common reader of 1.0; answers are made from the model, since stored JSON is as clients have
// sent it, and a strict reader of ProtoJSON refuses some of it (a name that occurs twice, half of a
// surrogate pair, 1e400).
//
// Numbers in data and metadata are doubles, as in the proto: more precise JSON
// numbers are rounded.
package grpc

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"longhaul/api/call"
	"longhaul/api/operation"
	"longhaul/api/service"
	"longhaul/internal/tracing"
)

// A Config says what a Server is made of. A field is required unless its
// comment says what the zero value means.
type Config struct {
	Service *service.Service

	// Authenticate returns the caller, given the call as an HTTP request without
	// its content. Any error refuses the call.
	Authenticate   func(*http.Request) (call.Caller, error)
	LenientVersion bool // accept calls without a2a-version

	TLS *tls.Config // nil: without TLS

	Tracing *tracing.Provider // nil: no traces

	Heartbeat  time.Duration // between pings on an idle connection, checks for events on an idle stream, and checks of health for a watcher; zero: 15 s
	MaxMessage int           // bytes of one request; zero: 16 MiB
}

// A Server is the service over gRPC. It has the standard services for health and
// reflection, too, which do not authenticate their callers: they give only the
// health of the server and the public definitions of A2A.
type Server struct {
	cfg        Config
	service    *service.Service
	operations *operation.Table
	grpc       *grpc.Server
	codec      encoding.CodecV2
	bytes      *call.Shares // of messages that are being read, by tenant
	anonymous  *call.Shares // streams of callers who are not authenticated, by address
	conns      *call.Shares // by address
}

// What one address has open, and all together: connections, and streams without
// authentication. One connection has up to streamsMost streams; they buffer window bytes that
// are not read yet.
const (
	connsEach, connsAll         = 256, 1024
	anonymousEach, anonymousAll = 32, 256
	streamsMost                 = 250
	window                      = 64 << 10
	idleConn                    = 2 * time.Minute // until a connection without streams is closed
)

// New returns a server.
func New(cfg Config) *Server {
	cfg.Heartbeat = cmp.Or(cfg.Heartbeat, 15*time.Second)
	cfg.MaxMessage = cmp.Or(cfg.MaxMessage, 16<<20)
	most := max(bytesAtOnce, 4*cfg.MaxMessage)
	s := &Server{
		cfg: cfg, service: cfg.Service, operations: operation.Of(cfg.Service), codec: newCodec(),
		bytes: call.NewShares(most/2, most), anonymous: call.NewShares(anonymousEach, anonymousAll), conns: call.NewShares(connsEach, connsAll),
	}
	transport := insecure.NewCredentials()
	if cfg.TLS != nil {
		transport = credentials.NewTLS(cfg.TLS)
	}
	s.grpc = grpc.NewServer(
		grpc.Creds(transport),
		grpc.ForceServerCodecV2(s.codec),
		grpc.StreamInterceptor(s.stream),
		grpc.StaticStreamWindowSize(window),
		grpc.StaticConnWindowSize(readAtOnce),
		grpc.MaxHeaderListSize(64<<10),
		grpc.MaxConcurrentStreams(streamsMost),
		grpc.ConnectionTimeout(10*time.Second),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: cfg.Heartbeat, Timeout: 30 * time.Second, MaxConnectionIdle: idleConn}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
	)
	s.grpc.RegisterService(streamed(a2apb.A2AService_ServiceDesc), operations{})
	s.grpc.RegisterService(streamed(grpc_health_v1.Health_ServiceDesc), health{service: cfg.Service, every: cfg.Heartbeat})
	reflection.RegisterV1(s.grpc)
	return s
}

// Serve accepts connections on l, which it closes, until Shutdown.
func (s *Server) Serve(l net.Listener) error { return s.grpc.Serve(crowdedListener{l, s.conns}) }

// Shutdown closes the service, which ends the streams of all bindings, and waits
// for the calls in progress. If ctx ends first it cancels them. Clients lose
// nothing: they can subscribe elsewhere.
func (s *Server) Shutdown(ctx context.Context) error {
	s.service.Close()
	done := make(chan struct{})
	go func() {
		s.grpc.GracefulStop()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		s.grpc.Stop()
		<-done
		return fmt.Errorf("stop gRPC: %w", ctx.Err())
	}
}
