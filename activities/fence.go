package activities

import (
	"context"
	"errors"
)

// errFenced ends what a worker does that others may take for lost.
var errFenced = errors.New("others may take the worker for lost")

// fenced returns a context that ends when others may take this worker for lost, and what to call with
// the error of the activity that has it: Temporal repeats the activity then, at once.
func fenced(ctx context.Context, of func() <-chan struct{}) (context.Context, func(*error)) {
	if of == nil {
		return ctx, func(*error) {}
	}
	fence := of()
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-fence:
			cancel(errFenced)
		case <-ctx.Done():
		}
	}()
	return ctx, func(err *error) {
		if *err != nil && errors.Is(context.Cause(ctx), errFenced) {
			*err = errStopped()
		}
		cancel(nil)
	}
}
