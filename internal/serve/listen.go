package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	"longhaul/internal/process"

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

func (l *listeners) Start(context.Context) (err error) {
	if l.files, err = l.settings.certificates(l.log); err != nil {
		return err
	}
	if l.http, err = listen(l.settings.Addr, "--addr"); err != nil {
		return err
	}
	l.onStop(func() error { _ = l.http.Close(); return nil }) // a server may have closed it
	if l.url, err = l.settings.url(l.http.Addr()); err != nil {
		return err
	}
	if l.grpc, l.grpcAddr, err = l.settings.listenGRPC(); l.grpc != nil {
		l.onStop(func() error { _ = l.grpc.Close(); return nil })
	}
	return err
}

// listenGRPC listens at the address of gRPC, and returns the address for the
// card. Both are empty if gRPC is off.
func (s apiSettings) listenGRPC() (net.Listener, string, error) {
	if s.GRPCAddr == "" {
		return nil, "", nil
	}
	l, err := listen(s.GRPCAddr, "--grpc-addr")
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

// An address is where a part of the process listens, and the flag that changes it.
type address struct{ flag, addr string }

// freeWithin is how long a start waits for a port that another process still has: one
// that was killed a moment ago may not have ended yet.
const freeWithin = 3 * time.Second

// awaitFree waits until no other process listens at one of the addresses of h. The error names
// all that are still in use, since a second server has most of them.
func (h *host) awaitFree(ctx context.Context) error {
	if err := h.checkAddresses(); err != nil {
		return err
	}
	deadline := time.Now().Add(freeWithin)
	for {
		var taken []string
		for _, a := range h.addresses {
			l, err := net.Listen("tcp", a.addr)
			switch {
			case err == nil:
				_ = l.Close()
			case errors.Is(err, syscall.EADDRINUSE):
				taken = append(taken, a.addr+" ("+a.flag+")")
			}
		}
		switch {
		case len(taken) == 0:
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("in use, maybe by another server of Longhaul: %s. Stop that one, or choose other addresses with these flags", strings.Join(taken, ", "))
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// checkAddresses refuses an address for two parts.
func (h *host) checkAddresses() error {
	for i, a := range h.addresses {
		for _, b := range h.addresses[:i] {
			if _, port, _ := net.SplitHostPort(a.addr); a.addr == b.addr && port != "0" {
				return process.Usagef("%s and %s are both %s: choose another address for one of them", b.flag, a.flag, a.addr)
			}
		}
	}
	return nil
}

// listen listens at an address that a flag has set.
func listen(addr, flag string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen at %s (choose another with %s): %w", addr, flag, err)
	}
	return l, nil
}
