package serve

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"longhaul/internal/lease"
	"longhaul/internal/reconcile"
	"longhaul/workflows"
)

// A leasePart holds the lease of a worker, from before it takes work until it has answered all
// of it.
type leasePart struct {
	stopper
	*ground
	taken  *lease.Taken
	keeper *lease.Keeper
}

func newLeasePart(g *ground) *leasePart {
	l := &leasePart{ground: g, taken: lease.NewTaken()}
	g.temporal.calls = l.taken.Calls()
	return l
}

func (l *leasePart) Start(context.Context) error {
	leases, collect, err := l.store.settings.leases()
	if err != nil {
		return err
	}
	l.onStop(leases.Close)
	l.keeper = &lease.Keeper{
		Taken: l.taken, Store: leases, Temporal: l.temporal.client.WorkflowService(), Namespace: l.temporal.target.Name(), Collect: collect, Log: l.host.log,
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	l.keeper.Lost = func() { running.Go(func() { l.settle(ctx) }) }
	running.Go(func() { l.keeper.Run(ctx) })
	l.onStop(func() error {
		stop()
		running.Wait()
		return nil
	})
	return nil
}

// settleFor is how long before its loss was noticed a worker may have lost the end of an objective.
const settleFor = 10 * time.Second

// settle records the ends of objectives that a lost worker has not recorded.
func (l *leasePart) settle(ctx context.Context) {
	reconcile.New(reconcile.Config{Temporal: workflows.NewClient(l.temporal.engine()), Journal: l.store.journal, Log: l.host.log}).Settle(ctx, time.Now().Add(-settleFor))
}

// leases returns where the workers of this journal have their leases, and how long changes of
// one are collected: most workflow tasks are over by then, and are no change.
func (s Store) leases() (leases lease.Store, collect time.Duration, err error) {
	if s.Journal != "" {
		leases, err = lease.NewPostgres(string(s.Journal))
		return leases, 20 * time.Millisecond, err
	}
	return lease.Files{Dir: filepath.Join(s.DataDir, "workers")}, 0, nil
}
