package serve

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// A part of a process. Parts start in order and stop in reverse: each may use those before it.
type part interface {
	// Start returns when the part works.
	Start(ctx context.Context) error
	// Stop ends what Start has begun, also after a Start that failed.
	Stop() error
}

// A part may have these, too.
type (
	// checked parts are what the work of the process depends on.
	checked interface {
		Name() string // on the page for operators
		Ready(ctx context.Context) error
	}
	// reloaded parts read their files again at SIGHUP. What they cannot read stays as it was.
	reloaded interface{ Reload() }
	// drained parts refuse new work: the process stops soon.
	drained interface{ Drain() }
)

// A stopper is the Stop of a part: it stops the last first.
type stopper struct{ stops []func() error }

// onStop has stop called at the end. Call it where that is begun which stop ends.
func (s *stopper) onStop(stop func() error) { s.stops = append(s.stops, stop) }

func (s *stopper) Stop() error {
	var errs []error
	for _, stop := range slices.Backward(s.stops) {
		errs = append(errs, stop())
	}
	s.stops = nil
	return errors.Join(errs...)
}

// A step is a part of which nothing remains to be stopped.
type step func(ctx context.Context) error

func (s step) Start(ctx context.Context) error { return s(ctx) }
func (step) Stop() error                       { return nil }

// A loop is a part that runs beside the others.
type loop struct {
	stopper
	run func(ctx context.Context) // until ctx ends
}

func (l *loop) Start(context.Context) error {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { l.run(ctx) })
	l.onStop(func() error {
		cancel()
		running.Wait()
		return nil
	})
	return nil
}
