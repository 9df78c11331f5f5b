package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"longhaul/internal/journal"
	"longhaul/internal/process"
	"longhaul/internal/serve"
	"longhaul/opt"
)

// migrateCommand is "longhaul migrate".
type migrateCommand struct {
	serve.Store
	Wait time.Duration `help:"How long to wait for PostgreSQL to answer." default:"30s" env:"LONGHAUL_MIGRATE_WAIT"`
}

// migratePause is how long migrate waits between two tries.
const migratePause = 500 * time.Millisecond

func (c *migrateCommand) Run(p *process.Process) error {
	cfg, err := c.JournalConfig()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(p.Ctx, c.Wait)
	defer cancel()
	applied, err := journal.Migrate(p.Ctx, cfg)
	for errors.Is(err, opt.ErrUnavailable) && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(migratePause):
			applied, err = journal.Migrate(p.Ctx, cfg)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("update the tables: %w", err)
	case len(applied) == 0:
		fmt.Fprintf(p.Stdout, "The tables in %s are up to date.\n", c.Location())
	default:
		fmt.Fprintf(p.Stdout, "Updated the tables in %s: %s.\n", c.Location(), strings.Join(applied, ", "))
	}
	return nil
}
