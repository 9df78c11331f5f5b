package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"longhaul/opt"
	"longhaul/opt/outbox"
)

// An Outbox is the journal's list of push configs that have deliveries that are
// due.
type Outbox interface {
	// PushesDue returns at most limit of those that were not handed over, or long
	// ago.
	PushesDue(ctx context.Context, limit int) ([]outbox.PushKey, error)
	PushesHanded(ctx context.Context, list []outbox.PushKey) error
	// PushSignal is ready when this process has made a delivery due.
	PushSignal() <-chan struct{}
}

// A Deliverer has the deliveries of a config made. A repeat is harmless. An error
// that wraps opt.ErrUnavailable concerns all configs.
// [workflows.Client] is one.
type Deliverer interface {
	Push(ctx context.Context, k outbox.PushKey) error
}

// A Dispatcher hands deliveries that are due to a Deliverer. Any number may run, in any
// processes. A delivery that two of them hand over is made once. A process may end before
// it has noted that it handed a delivery over; then the delivery is handed over again.
type Dispatcher struct {
	Outbox Outbox
	To     Deliverer
	Log    *zap.Logger // nil discards logs
}

// Limits of a Dispatcher.
const (
	dispatchAtOnce = 100
	dispatchEvery  = time.Second     // between looks for deliveries of other processes
	dispatchPause  = 5 * time.Second // after a failure
)

// Run hands deliveries over until ctx ends. It continues after failures.
func (d Dispatcher) Run(ctx context.Context) {
	if d.Log == nil {
		d.Log = zap.NewNop()
	}
	failed := false
	for {
		err := d.handOverDue(ctx)
		pause := dispatchEvery
		signal := d.Outbox.PushSignal()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			pause, signal = dispatchPause, nil
			if !failed {
				d.Log.Warn("Deliveries wait", zap.Error(err))
			}
		case failed:
			d.Log.Info("Deliveries are handed over again")
		}
		failed = err != nil
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-signal:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// handOverDue hands over all deliveries that are due.
func (d Dispatcher) handOverDue(ctx context.Context) error {
	for {
		due, err := d.Outbox.PushesDue(ctx, dispatchAtOnce)
		if err != nil {
			return fmt.Errorf("read due deliveries: %w", err)
		}
		for i, k := range due {
			err := d.To.Push(ctx, k)
			switch {
			case errors.Is(err, opt.ErrUnavailable):
				_ = d.Outbox.PushesHanded(ctx, due[:i]) // else they are handed over again
				return err
			case err != nil: // of this one alone: the journal lists it again after the others
				d.Log.Error("Deliveries could not be handed over", zap.String("taskId", k.TaskID), zap.String("configId", k.ConfigID), zap.Error(err))
			}
		}
		if err := d.Outbox.PushesHanded(ctx, due); err != nil {
			return fmt.Errorf("note handed over deliveries: %w", err)
		}
		if len(due) < dispatchAtOnce {
			return nil
		}
	}
}
