package lease

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.uber.org/zap"
)

const (
	lookEvery   = 250 * time.Millisecond // for leases of lost workers, by each of two processes
	againAfter  = time.Second            // holding a lease failed
	changeLimit = 2 * time.Second        // for one change of a lease
	leaveWithin = 2 * time.Second
)

// A Keeper holds the lease of this process and gives back what lost workers had taken.
type Keeper struct {
	Taken     *Taken
	Store     Store
	Temporal  workflowservice.WorkflowServiceClient
	Namespace string
	Log       *zap.Logger

	mu    sync.Mutex
	fence chan struct{}
}

// Fence returns a channel that is closed when the lease that is held now is lost: before another
// worker can begin what this one has taken. It says nothing while no lease is held.
func (k *Keeper) Fence() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fence == nil {
		k.fence = make(chan struct{})
	}
	return k.fence
}

// drop closes the fence. Tasks that begin later get a new one.
func (k *Keeper) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fence != nil {
		close(k.fence)
		k.fence = nil
	}
}

// Run holds a lease, one after another, until ctx ends. End ctx when the worker has stopped: others
// take what it has not answered.
func (k *Keeper) Run(ctx context.Context) {
	for failed := false; ctx.Err() == nil; {
		held, err := k.Store.Hold(ctx)
		if err == nil {
			failed = false
			k.keep(ctx, held)
			continue
		}
		if !failed && ctx.Err() == nil {
			k.Log.Warn("This worker holds no lease: if it is lost, its tasks wait for the time of --worker-timeout", zap.Error(err))
		}
		failed = true
		pause(ctx, againAfter)
	}
}

// keep keeps a lease until it is lost or ctx ends, and looks for those of lost workers.
func (k *Keeper) keep(ctx context.Context, held Held) {
	keeping, end := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { k.lookForLost(keeping) })
	running.Go(func() { k.follow(keeping, held) })
	select {
	case <-held.Lost():
		k.drop()
		k.Log.Warn("The lease of this worker was lost: it gives back its tasks")
	case <-ctx.Done():
	}
	end()
	running.Wait()
	leaving, left := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
	defer left()
	var err error
	nothingLeft := ctx.Err() != nil && k.Taken.isAnswered()
	if ctx.Err() != nil && !nothingLeft {
		err = k.change(leaving, held)
	}
	if err := errors.Join(err, held.Release(leaving, nothingLeft)); err != nil {
		k.Log.Debug("A lease was not released", zap.Error(err))
	}
}

// follow writes to the lease what the worker takes and answers, until ctx ends.
func (k *Keeper) follow(ctx context.Context, held Held) {
	k.Taken.begin()
	defer k.Taken.wrote(math.MaxInt)
	for ctx.Err() == nil {
		if err := k.change(ctx, held); err != nil {
			k.Log.Debug("A lease was not changed; it is tried again", zap.Error(err))
			pause(ctx, lookEvery)
			continue
		}
		select {
		case <-ctx.Done():
		case <-k.Taken.urgent:
		case <-k.Taken.changed:
			k.collect(ctx, held.Collect())
		}
	}
}

// collect waits for more changes, until a task waits for one.
func (k *Keeper) collect(ctx context.Context, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-k.Taken.urgent:
	case <-timer.C:
	}
}

// change writes the changes since the last time.
func (k *Keeper) change(ctx context.Context, held Held) error {
	added, removed, latest := k.Taken.look()
	if len(added)+len(removed) > 0 {
		ctx, end := context.WithTimeout(ctx, changeLimit)
		defer end()
		if err := held.Change(ctx, added, removed); err != nil {
			k.Taken.again(slices.Concat(added, removed)...)
			return err
		}
	}
	k.Taken.wrote(latest)
	return nil
}

// lookForLost gives back what lost workers had taken, until ctx ends. All processes together look
// some eight times a second, however many they are.
func (k *Keeper) lookForLost(ctx context.Context) {
	for failed := false; ctx.Err() == nil; {
		n, err := k.Store.Orphans(ctx, k.giveBack)
		if err != nil && !failed && ctx.Err() == nil {
			k.Log.Warn("The leases of lost workers cannot be read, or their tasks not be given back; it is tried again", zap.Error(err))
		}
		failed = err != nil
		pause(ctx, lookEvery*time.Duration(max(2, n))/2)
	}
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
