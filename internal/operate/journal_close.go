package operate

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/client"
	"go.uber.org/zap"

	"longhaul/internal/journal"
	"longhaul/internal/process"
	"longhaul/internal/reconcile"
	"longhaul/opt"
	"longhaul/workflows"
)

// journalCloseCommand is "longhaul journal close".
type journalCloseCommand struct {
	bothSettings
	Objectives []string `arg:"" optional:"" name:"id" help:"The objectives to end."`
	Lost       bool     `help:"All objectives that are open in the journal and that Temporal does not have, or that were terminated there."`
	Yes        bool     `help:"With --lost: end them. Without this they are listed."`
}

func (c *journalCloseCommand) Run(p *process.Process) error {
	if c.Lost == (len(c.Objectives) > 0) {
		return process.Usagef("name objectives, or use --lost")
	}
	if !c.Exists() {
		return fmt.Errorf("there is no journal in %s: name its directory with --data-dir", c.Location())
	}
	return c.connect(p, func(ctx context.Context, j *journal.Journal, temporal client.Client, cipher workflows.Cipher) error {
		r := reconcile.New(reconcile.Config{
			Temporal: workflows.NewClient(workflows.ClientConfig{Temporal: temporal, Cipher: cipher}), Journal: j, Log: zap.NewNop(),
		})
		ids, closes := c.Objectives, true
		if c.Lost {
			lost, err := r.Lost(ctx)
			if err != nil {
				return fmt.Errorf("compare the journal with Temporal: %w", err)
			}
			fmt.Fprintf(p.Stderr, "%d of %d open objectives have no workflow.\n", len(lost.Objectives), lost.Open)
			ids, closes = lost.Objectives, c.Yes
		}
		for _, id := range ids {
			if err := c.end(ctx, r, id, closes); err != nil {
				return err
			}
			fmt.Fprintln(p.Stdout, id)
		}
		switch {
		case !closes && len(ids) > 0:
			fmt.Fprintln(p.Stderr, "Nothing was changed: add --yes to end them.")
		case len(ids) > 0:
			fmt.Fprintln(p.Stderr, "A worker ends them now; run one if none runs.")
		}
		return nil
	})
}

// end ends an objective if closes is set.
func (c *journalCloseCommand) end(ctx context.Context, r *reconcile.Reconciler, id string, closes bool) error {
	if !closes {
		return nil
	}
	err := r.Close(ctx, id)
	switch {
	case errors.Is(err, opt.ErrConflict):
		return fmt.Errorf("%s has a workflow that runs: cancel the objective, or terminate the workflow in Temporal before", id)
	case errors.Is(err, opt.ErrUnknown):
		return fmt.Errorf("%s is not an open objective of this journal", id)
	case err != nil:
		return fmt.Errorf("end %s: %w", id, err)
	}
	return nil
}
