package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"
	"time"

	"go.uber.org/zap"
)

// The listeners are where the API is reached.
type listeners struct {
	stopper
	settings apiSettings
	log      *zap.Logger

	http, grpc net.Listener // grpc is nil if it is off
	url        string       // for the card
	grpcAddr   string
	files      *certificates // nil without TLS
}

func (l *listeners) Start(ctx context.Context) (err error) {
	if l.files, err = l.settings.certificates(l.log); err != nil {
		return err
	}
	if l.http, err = listen(ctx, l.settings.Addr, "--addr"); err != nil {
		return err
	}
	l.onStop(func() error { _ = l.http.Close(); return nil }) // a server may have closed it
	if l.url, err = l.settings.url(l.http.Addr()); err != nil {
		return err
	}
	if l.grpc, l.grpcAddr, err = l.settings.listenGRPC(ctx); l.grpc != nil {
		l.onStop(func() error { _ = l.grpc.Close(); return nil })
	}
	return err
}

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

// freeWithin is how long a start waits for a port that another process still has: one
// that was killed a moment ago may not have ended yet.
const freeWithin = 3 * time.Second

// listen listens at an address that a flag has set. A port that is in use is waited for,
// until ctx ends.
func listen(ctx context.Context, addr, flag string) (net.Listener, error) {
	deadline := time.Now().Add(freeWithin)
	for {
		l, err := net.Listen("tcp", addr)
		switch {
		case err == nil:
			return l, nil
		case !errors.Is(err, syscall.EADDRINUSE):
			return nil, fmt.Errorf("listen at %s (choose another with %s): %w", addr, flag, err)
		case time.Now().After(deadline):
			return nil, fmt.Errorf("listen at %s: the address is in use, maybe by another server of Longhaul: stop that one, or choose another address with %s", addr, flag)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return nil, fmt.Errorf("listen at %s: %w", addr, context.Cause(ctx))
		}
	}
}
