package call

import (
	"context"
	"time"
)

// A Watch says that an objective may have new events: C is ready once for any
// number of them. Rests is ready if its root task may have ended or wait since then.
type Watch interface {
	C() <-chan struct{}
	Rests() <-chan struct{}
	Close()
}

// A Waiter waits for changes of objectives until the service closes.
type Waiter struct{ Closing chan struct{} }

// Await calls check at once and then whenever the watched objective may have
// changed. It returns nil when check returns true, the time is up or the service
// closes, and an error if check fails or the client disconnects.
func (w Waiter) Await(ctx context.Context, watch Watch, wait time.Duration, check func() (bool, error)) error {
	return w.AwaitAt(ctx, watch.C(), wait, check)
}

// AwaitAt is Await with another signal than that of any change.
func (w Waiter) AwaitAt(ctx context.Context, changed <-chan struct{}, wait time.Duration, check func() (bool, error)) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for last := false; ; {
		if ok, err := check(); ok || err != nil || last {
			return err
		}
		select {
		case <-changed:
		case <-timer.C:
			last = true // check again, in case a change was not announced
		case <-w.Closing:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (w Waiter) IsClosing() bool {
	select {
	case <-w.Closing:
		return true
	default:
		return false
	}
}
