package serve

import (
	"context"
	"fmt"
	"os"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.uber.org/zap"

	"longhaul/internal/namespace"
	"longhaul/workflows"
)

// EmbedConfig configures the embedded Temporal.
type EmbedConfig struct {
	Dir              string // of its files; "" keeps everything in memory
	Addr             string
	UIAddr           string
	Namespace        string
	Retention        time.Duration
	Sync             string
	SearchAttributes map[string]enumspb.IndexedValueType
	Log              *zap.Logger
}

func embedConfig(data dataSettings, temporal namespace.Temporal, ui embeddedSettings, retention time.Duration) EmbedConfig {
	return EmbedConfig{
		Dir: data.DataDir, Addr: temporal.ServerAddr(), UIAddr: ui.TemporalUIAddr, Namespace: temporal.NamespaceName(),
		Retention: retention, Sync: data.Sync, SearchAttributes: workflows.SearchAttributes(),
	}
}

// A temporalServer is the Temporal server in this process.
type temporalServer struct {
	host    *host
	embed   Embed
	cfg     EmbedConfig
	running *Embedded
}

func (t *temporalServer) Start(ctx context.Context) (err error) {
	if addr := os.Getenv("TEMPORAL_ADDRESS"); addr != "" {
		t.host.log.Warn("TEMPORAL_ADDRESS has no effect: this command uses the embedded Temporal; api and worker use others", zap.String("address", addr))
	}
	if err := os.MkdirAll(t.cfg.Dir, 0o700); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	t.cfg.Log = t.host.log
	t.running, err = t.embed(ctx, t.cfg)
	return err
}

func (t *temporalServer) Stop() error {
	if t.running == nil {
		return nil
	}
	return t.running.Stop()
}

// uiURL returns the URL of its Web UI, "" for none.
func (t *temporalServer) uiURL() string { return t.running.UIURL }
