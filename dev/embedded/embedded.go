// Package embedded starts the Temporal server of this module in the process. A program
// with it as its Embed has the commands dev and temporal.
package embedded

import (
	"context"

	"longhaul"
	"longhaul/dev/temporald"
)

// Start starts the server. It is a [longhaul.Embed].
func Start(ctx context.Context, cfg longhaul.EmbedConfig) (*longhaul.Embedded, error) {
	temporald.TuneGC()
	s, err := temporald.Start(ctx, temporald.Config{
		Dir: cfg.Dir, Addr: cfg.Addr, UIAddr: cfg.UIAddr, Namespace: cfg.Namespace, Retention: cfg.Retention,
		SearchAttributes: cfg.SearchAttributes, Sync: cfg.Sync, Log: cfg.Log,
	})
	if err != nil {
		return nil, err
	}
	return &longhaul.Embedded{Addr: s.Addr(), UIURL: s.UIURL(), Stop: s.Stop}, nil
}
