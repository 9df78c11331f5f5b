package service

import (
	"context"
	"time"
)

// A waiter waits for changes of objectives until the service closes.
type waiter struct{ closing chan struct{} }

// await calls check at once and then whenever the watched objective may have
// changed. It returns nil when check returns true, the time is up or the service
// closes, and an error if check fails or the client disconnects.
func (w waiter) await(ctx context.Context, watch Watch, wait time.Duration, check func() (bool, error)) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for last := false; ; {
		if ok, err := check(); ok || err != nil || last {
			return err
		}
		select {
		case <-watch.C():
		case <-timer.C:
			last = true // check again, in case a change was not announced
		case <-w.closing:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (w waiter) isClosing() bool {
	select {
	case <-w.closing:
		return true
	default:
		return false
	}
}
