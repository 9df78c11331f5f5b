package serve

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"time"

	"go.uber.org/zap"

	"longhaul/api/grpc"
)

// listenGRPC listens at the address of gRPC, and returns the address for the
// card. Both are empty if gRPC is off.
func (s apiSettings) listenGRPC(ctx context.Context) (net.Listener, string, error) {
	if s.GRPCAddr == "" {
		return nil, "", nil
	}
	l, err := listen(ctx, s.GRPCAddr, "--grpc-addr")
	if err != nil {
		return nil, "", err
	}
	return l, s.publicGRPC(l.Addr()), nil
}

// publicGRPC returns the address that the card names, given where gRPC listens:
// that port, on the host of the public URL if there is one.
func (s apiSettings) publicGRPC(listening net.Addr) string {
	if s.PublicGRPCAddr != "" {
		return s.PublicGRPCAddr
	}
	u, err := url.Parse(s.PublicURL)
	if err != nil || u.Hostname() == "" {
		return listening.String()
	}
	_, port, _ := net.SplitHostPort(listening.String())
	return net.JoinHostPort(u.Hostname(), port)
}

// serveGRPC serves over gRPC, too, unless l is nil; with TLS unless files is nil.
func (s *service) serveGRPC(cfg grpc.Config, l net.Listener, files *certificates) {
	if l == nil {
		return
	}
	if files != nil {
		cfg.TLS = files.config("h2")
	}
	grpcServer := grpc.New(cfg)
	s.log.Info("Serving A2A over gRPC", zap.Stringer("addr", l.Addr()))
	go func() {
		if err := grpcServer.Serve(l); err != nil {
			s.fail(fmt.Errorf("serve gRPC at %s: %w", l.Addr(), err))
		}
	}()
	s.onStop(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		return grpcServer.Shutdown(ctx)
	})
}
