package temporald

import (
	"context"

	"longhaul"
)

// Embed starts the server in a program of [longhaul.Main], which then has the commands dev
// and temporal. It is a [longhaul.Embed].
func Embed(ctx context.Context, cfg longhaul.EmbedConfig) (*longhaul.Embedded, error) {
	TuneGC()
	s, err := Start(ctx, Config{
		Dir: cfg.Dir, Addr: cfg.Addr, UIAddr: cfg.UIAddr, Namespace: cfg.Namespace, Retention: cfg.Retention,
		SearchAttributes: cfg.SearchAttributes, Sync: cfg.Sync, Log: cfg.Log,
	})
	if err != nil {
		return nil, err
	}
	return &longhaul.Embedded{Addr: s.Addr(), UIURL: s.UIURL(), Stop: s.Stop}, nil
}
