// Package embedded starts the Temporal server of this module for the commands.
package embedded

import (
	"context"

	"longhaul/dev/temporald"
	"longhaul/internal/cli"
)

// Start starts the server. It implements [cli.Embed].
func Start(ctx context.Context, cfg cli.EmbedConfig) (*cli.Embedded, error) {
	temporald.TuneGC()
	s, err := temporald.Start(ctx, temporald.Config{
		Dir: cfg.Dir, Addr: cfg.Addr, UIAddr: cfg.UIAddr, Namespace: cfg.Namespace, Retention: cfg.Retention,
		SearchAttributes: cfg.SearchAttributes, Sync: cfg.Sync, Log: cfg.Log,
	})
	if err != nil {
		return nil, err
	}
	return &cli.Embedded{Addr: s.Addr(), UIURL: s.UIURL(), Stop: s.Stop}, nil
}
