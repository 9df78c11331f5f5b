package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.uber.org/zap"

	"longhaul/worker"
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

// apiCommand is "longhaul api".
type apiCommand struct {
	apiSettings
	storeSettings
	temporalSettings
	workSettings
	logSettings
}

func (c *apiCommand) Run(p *program) error {
	if err := errors.Join(c.reach(), c.checkLimits()); err != nil {
		return err
	}
	return p.serve(c.logSettings, func(ctx context.Context, s *service) error {
		if err := s.open(ctx, c.storeSettings, c.workSettings, c.temporalSettings); err != nil {
			return err
		}
		url, err := s.serve(c.apiSettings, c.temporalSettings)
		if err == nil {
			s.log.Info("Serving A2A", zap.String("url", url))
		}
		return err
	})
}

// workerCommand is "longhaul worker".
type workerCommand struct {
	workerSettings
	retentionSettings
	storeSettings
	temporalSettings
	workSettings
	logSettings
}

func (c *workerCommand) Run(p *program) error {
	if err := c.check(); err != nil {
		return err
	}
	return p.serve(c.logSettings, func(ctx context.Context, s *service) error {
		if err := s.open(ctx, c.storeSettings, c.workSettings, c.temporalSettings); err != nil {
			return err
		}
		if err := s.namespace(c.Namespace).prepare(ctx, c.ofNamespace()); err != nil {
			return err
		}
		s.log.Info("Working", zap.String("temporal", c.TemporalAddr))
		if err := s.work(c.workerSettings); err != nil {
			return err
		}
		return s.namespace(c.Namespace).retain(ctx, c.TTL)
	})
}

// embedSettings say how the embedded Temporal runs.
type embedSettings struct {
	TemporalUIAddr string `name:"temporal-ui-addr" help:"Address of the Web UI of the embedded Temporal; empty for none." default:"127.0.0.1:8233" env:"LONGHAUL_TEMPORAL_UI_ADDR" placeholder:"HOST:PORT"`
}

// allSettings are the settings of all services together.
type allSettings struct {
	apiSettings
	workerSettings
	retentionSettings
	storeSettings
	temporalSettings
	embedSettings
	workSettings
	logSettings
}

// devCommand is "longhaul dev".
type devCommand struct{ allSettings }

func (c *devCommand) Run(p *program) error {
	if err := errors.Join(c.reach(), c.check(), c.checkLimits()); err != nil {
		return err
	}
	return p.serve(c.logSettings, func(ctx context.Context, s *service) error {
		temporal, err := s.embed(ctx, p.build.Embed, embedConfig(c.storeSettings, c.temporalSettings, c.embedSettings, c.ofNamespace()))
		if err != nil {
			return err
		}
		c.TemporalAddr = temporal.Addr
		if err := s.open(ctx, c.storeSettings, c.workSettings, c.temporalSettings); err != nil {
			return err
		}
		if err := s.work(c.workerSettings); err != nil {
			return err
		}
		url, err := s.serve(c.apiSettings, c.temporalSettings)
		if err != nil {
			return err
		}
		welcome(p.stdout, url, temporal.UIURL)
		return s.namespace(c.Namespace).retain(ctx, c.TTL)
	})
}

// temporalCommand is "longhaul temporal".
type temporalCommand struct {
	retentionSettings
	storeSettings
	temporalSettings
	embedSettings
	logSettings
}

func (c *temporalCommand) Run(p *program) error {
	if err := c.check(); err != nil {
		return err
	}
	return p.serve(c.logSettings, func(ctx context.Context, s *service) error {
		temporal, err := s.embed(ctx, p.build.Embed, embedConfig(c.storeSettings, c.temporalSettings, c.embedSettings, c.ofNamespace()))
		if err == nil {
			s.log.Info("Temporal is up", zap.String("addr", temporal.Addr), zap.String("ui", temporal.UIURL))
		}
		return err
	})
}

func embedConfig(store storeSettings, temporal temporalSettings, ui embedSettings, retention time.Duration) EmbedConfig {
	return EmbedConfig{
		Dir: store.DataDir, Addr: temporal.TemporalAddr, UIAddr: ui.TemporalUIAddr, Namespace: temporal.Namespace,
		Retention: retention, Sync: store.Sync, SearchAttributes: workflows.SearchAttributes(),
	}
}

// embed starts the built-in Temporal server.
func (s *service) embed(ctx context.Context, embed Embed, c EmbedConfig) (*Embedded, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	c.Log = s.log
	e, err := embed(ctx, c)
	if err != nil {
		return nil, err
	}
	s.onStop(e.Stop)
	return e, nil
}

// serve starts a service and keeps it until the process is told to stop. A
// second signal ends the process at once. SIGHUP has it read its playbooks again.
func (p *program) serve(logs logSettings, start func(context.Context, *service) error) error {
	log, err := logs.logger()
	if err != nil {
		return err
	}
	defer func() { _ = log.Sync() }()
	ctx, stop := signal.NotifyContext(p.ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	ctx, leave := context.WithCancel(ctx)
	reload, end := onHangup(ctx, leave)
	defer end()
	defer leave()
	worker.LimitMemory()
	s := newService(log, p.build)
	if err := start(ctx, s); err != nil {
		_ = s.stop() // the first error is the cause
		if ctx.Err() != nil {
			return nil // the process was told to stop during the start
		}
		return err
	}
	return s.wait(ctx, reload)
}
