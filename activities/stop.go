package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
)

// isStopping reports whether the worker is stopping.
func isStopping(ctx context.Context) bool {
	select {
	case <-stopSignal(ctx):
		return true
	default:
		return false
	}
}

// stopSignal returns a channel that is closed when the worker begins to stop, nil
// outside of an activity. The context of an activity ends only after the worker
// has waited for it.
func stopSignal(ctx context.Context) <-chan struct{} {
	if !activity.IsActivity(ctx) {
		return nil
	}
	return activity.GetWorkerStopChannel(ctx)
}

// untilStopped returns a context that ends when the worker has been stopping for d, as long
// as running tasks may continue. The worker stays for a moment longer, so that it can
// report to Temporal at once that another worker has to repeat the activity.
func untilStopped(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	stops := stopSignal(ctx)
	ctx, cancel := context.WithCancel(ctx)
	if stops != nil {
		go func() {
			select {
			case <-ctx.Done():
				return
			case <-stops:
			}
			if Sleep(ctx, d) == nil {
				cancel()
			}
		}()
	}
	return ctx, cancel
}

// errStopped returns an error that makes Temporal repeat an activity on another worker.
func errStopped() error {
	return temporal.NewApplicationError("The worker stops.", WorkerStoppedError)
}
