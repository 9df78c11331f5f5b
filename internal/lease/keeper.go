package lease

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.uber.org/zap"
)

const (
	searchEvery    = 250 * time.Millisecond // for leases of lost workers, by each of two processes
	holdAgainAfter = time.Second            // holding a lease failed
	changeLimit    = 2 * time.Second        // for one change of a lease
	holdWithin     = 5 * time.Second
	releaseWithin  = 2 * time.Second
)

// A Keeper holds the lease of this process and gives back what lost workers had taken.
type Keeper struct {
	Taken     *Taken
	Store     Store
	Temporal  workflowservice.WorkflowServiceClient
	Namespace string
	Collect   time.Duration // how long changes are collected for which no task waits
	Lost      func()        // called when the work of a lost worker was given back; nil for nothing
	Log       *zap.Logger

	mu     sync.Mutex
	fence  chan struct{}
	fenced map[string]bool // tokens of tasks in leases that were lost
}

// Fence returns a channel that is closed when the lease that has a task is lost: before another
// worker can begin it. It says nothing while no lease is held.
func (k *Keeper) Fence(token []byte) <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fenced[string(token)] {
		closed := make(chan struct{})
		close(closed)
		return closed
	}
	if k.fence == nil {
		k.fence = make(chan struct{})
	}
	return k.fence
}

// closeFence closes the fence of all tasks that were taken, also of those that have not begun yet. Later
// ones get a new one.
func (k *Keeper) closeFence() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fenced = k.Taken.tasks()
	if k.fence != nil {
		close(k.fence)
		k.fence = nil
	}
}

// Run holds a lease, one after another, and looks for those of lost workers, until ctx ends. End ctx
// when the worker has stopped: others take the tasks that it has not answered when the process ends.
func (k *Keeper) Run(ctx context.Context) {
	var looking sync.WaitGroup
	looking.Go(func() { k.lookForLost(ctx) })
	looking.Go(func() { k.returnRefused(ctx) })
	defer looking.Wait()
	for failed := false; ctx.Err() == nil; pause(ctx, holdAgainAfter) {
		err := k.holdOne(ctx)
		if err != nil && !failed && ctx.Err() == nil {
			k.Log.Warn("This worker holds no lease: if it is lost, its tasks wait for the time of --worker-timeout", zap.Error(err))
		}
		failed = err != nil
	}
}

// holdOne holds a lease until it is lost or ctx ends.
func (k *Keeper) holdOne(ctx context.Context) error {
	holding, end := context.WithTimeout(ctx, holdWithin)
	held, err := k.Store.Hold(holding)
	end()
	if err != nil {
		return err
	}
	keeping, end := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { k.write(keeping, held) })
	select {
	case <-held.Lost():
		k.closeFence()
		k.Log.Warn("The lease of this worker was lost: it gives back its tasks")
	case <-ctx.Done():
	}
	end()
	running.Wait()
	leaving, left := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer left()
	switch {
	case ctx.Err() == nil:
		k.closeFence() // of tasks that the lease got meanwhile
		return held.Release(leaving, false)
	case len(k.Taken.tasks()) > 0: // which may still run: the lock ends with the process
		return k.change(leaving, held)
	}
	return held.Release(leaving, true)
}

// write writes to the lease what the worker takes and answers, until ctx ends.
func (k *Keeper) write(ctx context.Context, held Held) {
	k.Taken.changeAll()
	defer k.Taken.noteWritten(math.MaxInt)
	for ctx.Err() == nil {
		if err := k.change(ctx, held); err != nil {
			k.Log.Debug("A lease was not changed; it is tried again", zap.Error(err))
			pause(ctx, searchEvery)
			continue
		}
		select {
		case <-ctx.Done():
		case <-k.Taken.urgent:
		case <-k.Taken.changed:
			k.collect(ctx)
		}
	}
}

// collect waits for more changes, until a task waits for one.
func (k *Keeper) collect(ctx context.Context) {
	timer := time.NewTimer(k.Collect)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-k.Taken.urgent:
	case <-timer.C:
	}
}

// change writes the changes since the last time.
func (k *Keeper) change(ctx context.Context, held Held) error {
	added, removed, latest := k.Taken.takeChanges()
	if len(added)+len(removed) > 0 {
		ctx, end := context.WithTimeout(ctx, changeLimit)
		defer end()
		if err := held.Change(ctx, added, removed); err != nil {
			k.Taken.putBack(slices.Concat(added, removed)...)
			return err
		}
	}
	k.Taken.noteWritten(latest)
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
		pause(ctx, searchEvery*time.Duration(max(2, n))/2)
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
