package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
)

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
