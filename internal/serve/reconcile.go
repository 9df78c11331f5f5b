package serve

import (
	"context"
	"errors"

	apiservice "longhaul/api/service"
	"longhaul/internal/reconcile"
	"longhaul/opt"
	"longhaul/workflows"
)

// A reconciler ends in the journal the work that was ended in Temporal, beside the API.
type reconciler struct {
	*ground
	loop
	doubt func(objectiveID string) // has an objective checked
}

func (r *reconciler) Start(ctx context.Context) error {
	to := reconcile.New(reconcile.Config{Temporal: workflows.NewClient(r.temporal.engine()), Journal: r.store.journal, Log: r.host.log})
	r.doubt, r.run = to.Doubt, to.Run
	return r.loop.Start(ctx)
}

// A doubtingEngine has an objective checked when a message for it finds no workflow: the
// objective may be lost.
type doubtingEngine struct {
	apiservice.Engine
	doubt func(objectiveID string)
}

func (e doubtingEngine) check(objectiveID string, err error) error {
	if errors.Is(err, opt.ErrEnded) {
		e.doubt(objectiveID)
	}
	return err
}

// Letter implements [apiservice.Engine].
func (e doubtingEngine) Letter(ctx context.Context, l opt.Letter) error {
	return e.check(l.ObjectiveID, e.Engine.Letter(ctx, l))
}

// Command implements [apiservice.Engine].
func (e doubtingEngine) Command(ctx context.Context, c opt.Command) error {
	return e.check(c.ObjectiveID, e.Engine.Command(ctx, c))
}

// Cancel implements [apiservice.Engine].
func (e doubtingEngine) Cancel(ctx context.Context, objectiveID, principal string) error {
	return e.check(objectiveID, e.Engine.Cancel(ctx, objectiveID, principal))
}

// Callback implements [apiservice.Engine].
func (e doubtingEngine) Callback(ctx context.Context, c opt.Callback) error {
	ref, _ := opt.ParseID(c.TaskID)
	return e.check(ref.ObjectiveID, e.Engine.Callback(ctx, c))
}
