package activities

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/activity"

	"longhaul/opt"
)

// errFenced ends what a worker does that others may take for lost.
var errFenced = fmt.Errorf("%w: others may take the worker for lost", opt.ErrUnavailable)

// fenced returns a context that ends when others may take this worker for lost, and what to call with
// the error of the activity that has it: the activity begins again then, which counts no lost worker.
func fenced(ctx context.Context, of func(token []byte) <-chan struct{}) (context.Context, func(*error)) {
	if of == nil || !activity.IsActivity(ctx) {
		return ctx, func(*error) {}
	}
	fence := of(activity.GetInfo(ctx).TaskToken)
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-fence:
			cancel(errFenced)
		case <-ctx.Done():
		}
	}()
	return ctx, func(err *error) {
		if *err != nil && IsFenced(ctx) {
			*err = journalError(context.WithoutCancel(ctx), errFenced)
		}
		cancel(nil)
	}
}

// IsFenced reports whether the context of a task has ended since another worker may begin the task
// at once.
func IsFenced(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errFenced) }
