package serve

import (
	"context"
	"path/filepath"
	"sync"

	"longhaul/internal/lease"
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
	leases, err := l.store.settings.leases()
	if err != nil {
		return err
	}
	l.onStop(leases.Close)
	l.keeper = &lease.Keeper{
		Taken: l.taken, Store: leases, Temporal: l.temporal.client.WorkflowService(), Namespace: l.temporal.target.Name(), Log: l.host.log,
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { l.keeper.Run(ctx) })
	l.onStop(func() error {
		stop()
		running.Wait()
		return nil
	})
	return nil
}

// leases returns where the workers of this journal have their leases.
func (s Store) leases() (lease.Store, error) {
	if s.Journal != "" {
		return lease.NewPostgres(string(s.Journal))
	}
	return lease.Files{Dir: filepath.Join(s.DataDir, "workers")}, nil
}
