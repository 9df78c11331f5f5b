package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"longhaul/internal/journal"
	"longhaul/opt"
)

// migrateCommand is "longhaul migrate".
type migrateCommand struct {
	storeSettings
	Wait time.Duration `help:"How long to wait for PostgreSQL to answer." default:"30s" env:"LONGHAUL_MIGRATE_WAIT"`
}

// migratePause is how long migrate waits between two tries.
const migratePause = 500 * time.Millisecond

func (c *migrateCommand) Run(p *program) error {
	cfg, err := c.journal()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(p.ctx, c.Wait)
	defer cancel()
	applied, err := journal.Migrate(p.ctx, cfg)
	for errors.Is(err, opt.ErrUnavailable) && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(migratePause):
			applied, err = journal.Migrate(p.ctx, cfg)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("update the tables: %w", err)
	case len(applied) == 0:
		fmt.Fprintf(p.stdout, "The tables in %s are up to date.\n", c.location())
	default:
		fmt.Fprintf(p.stdout, "Updated the tables in %s: %s.\n", c.location(), strings.Join(applied, ", "))
	}
	return nil
}
