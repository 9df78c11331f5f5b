package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
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
	egressSettings
	storeSettings
	payloadSettings
	temporalSettings
	elsewhereSettings
	workSettings
	opsSettings
	logSettings
}

func (c *apiCommand) Run(p *program) error {
	temporal, err := c.elsewhere(c.elsewhereSettings)
	quotas, wrong := c.quotas(c.authenticates(), 0)
	if err := errors.Join(err, wrong, c.checkAccess(), c.checkLimits()); err != nil {
		return err
	}
	p.build = c.executorsOf(p.build)
	return p.serve(c.logSettings, c.opsSettings, func(ctx context.Context, s *service) error {
		s.quotas = quotas
		if err := s.loadNotices(noticeSettings{}, c.linkSettings, c.egressSettings); err != nil {
			return err
		}
		if err := s.loadModels(c.Models, nil); err != nil {
			return err
		}
		if err := s.openClients(c.egressSettings); err != nil {
			return err
		}
		if err := s.open(ctx, c.storeSettings, c.workSettings, temporal, c.payloadSettings); err != nil {
			return err
		}
		if err := s.checkNamespace(ctx); err != nil {
			return err
		}
		s.openSigning(c.egressSettings)
		url, err := s.startAPI(ctx, c.apiSettings, c.temporalSettings)
		if err == nil {
			s.log.Info("Serving A2A", zap.String("url", url))
		}
		return err
	})
}

// workerCommand is "longhaul worker".
type workerCommand struct {
	workerSettings
	versionSettings
	noticeSettings
	linkSettings
	egressSettings
	retentionSettings
	storeSettings
	payloadSettings
	temporalSettings
	elsewhereSettings
	waitSettings
	workSettings
	opsSettings
	logSettings
}

func (c *workerCommand) Run(p *program) error {
	temporal, err := c.elsewhere(c.elsewhereSettings)
	version, wrong := c.version(p.build)
	quotas, wrongQuota := c.quotas(true, c.MaxTasks)
	if err := errors.Join(err, wrong, wrongQuota, c.check()); err != nil {
		return err
	}
	p.build = c.executorsOf(p.build)
	return p.serve(c.logSettings, c.opsSettings, func(ctx context.Context, s *service) error {
		s.quotas = quotas
		if err := s.loadNotices(c.noticeSettings, c.linkSettings, c.egressSettings); err != nil {
			return err
		}
		if err := s.loadModels(c.Models, os.LookupEnv); err != nil {
			return err
		}
		if err := s.openClients(c.egressSettings); err != nil {
			return err
		}
		if err := s.open(ctx, c.storeSettings, c.workSettings, temporal, c.payloadSettings); err != nil {
			return err
		}
		s.openSigning(c.egressSettings)
		state, err := s.namespace().await(ctx, c.waitSettings, c.namespaceTTL())
		if err != nil {
			return err
		}
		s.namespace().logMissing(state)
		s.namespace().warnRetention(state, c.TTL)
		s.log.Info("Working", zap.Stringer("at", temporal))
		if err := s.startWorker(c.workerSettings, c.temporalSettings, version); err != nil {
			return err
		}
		s.namespace().warnOfNoVersion(ctx, version)
		return s.namespace().createPurgeSchedule(ctx, c.TTL)
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
	noticeSettings
	egressSettings
	retentionSettings
	storeSettings
	payloadSettings
	temporalSettings
	embedSettings
	workSettings
	opsSettings
	logSettings
}

// devCommand is "longhaul dev".
type devCommand struct{ allSettings }

func (c *devCommand) Run(p *program) error {
	quotas, wrong := c.quotas(c.authenticates(), c.MaxTasks)
	if err := errors.Join(wrong, c.checkAccess(), c.check(), c.checkLimits()); err != nil {
		return err
	}
	p.build = c.executorsOf(p.build.withEcho())
	return p.serve(c.logSettings, c.opsSettings, func(ctx context.Context, s *service) error {
		s.quotas = quotas
		if err := s.loadNotices(c.noticeSettings, c.linkSettings, c.egressSettings); err != nil {
			return err
		}
		if err := s.loadModels(c.Models, os.LookupEnv); err != nil {
			return err
		}
		if err := s.openClients(c.egressSettings); err != nil {
			return err
		}
		if err := s.checkPlaybooks(c.allSettings); err != nil {
			return err
		}
		temporal, err := s.embed(ctx, p.build.Embed, embedConfig(c.storeSettings, c.temporalSettings, c.embedSettings, c.namespaceTTL()))
		if err != nil {
			return err
		}
		if addr := os.Getenv("TEMPORAL_ADDRESS"); addr != "" {
			s.log.Warn("TEMPORAL_ADDRESS has no effect: this command uses the embedded Temporal; api and worker use others", zap.String("address", addr))
		}
		if err := s.open(ctx, c.storeSettings, c.workSettings, c.embedded(temporal.Addr), c.payloadSettings); err != nil {
			return err
		}
		if err := s.namespace().checkKeys(ctx); err != nil {
			return err
		}
		s.openSigning(c.egressSettings)
		if err := s.startWorker(c.workerSettings, c.temporalSettings, worker.Version{}); err != nil {
			return err
		}
		url, err := s.startAPI(ctx, c.apiSettings, c.temporalSettings)
		if err != nil {
			return err
		}
		agent, err := s.agent(c.Agent)
		if err != nil {
			return err
		}
		greeting{
			p.build.name(), p.build.command(), url, temporal.UIURL, c.authenticates(), c.newKey(p.build.command()), !c.NoConsole, example(agent.Skills()),
		}.print(p.stdout)
		return s.namespace().createPurgeSchedule(ctx, c.TTL)
	})
}

// newKey is a command that prints a new API key, "" if callers need none.
func (s allSettings) newKey(program programName) string {
	if !slices.Contains(s.Auth, "keys") {
		return ""
	}
	text := program.String() + " keys create me --scopes all"
	if usual, err := filepath.Abs(".longhaul"); err != nil || s.DataDir != usual {
		text += " --data-dir " + shellQuoted(s.DataDir)
	}
	if s.Journal != "" {
		text += " --journal \"$LONGHAUL_JOURNAL\"" // it may have a password
	}
	return text
}

// temporalCommand is "longhaul temporal".
type temporalCommand struct {
	retentionSettings
	storeSettings
	temporalSettings
	embedSettings
	opsSettings
	logSettings
}

func (c *temporalCommand) Run(p *program) error {
	if err := c.check(); err != nil {
		return err
	}
	return p.serve(c.logSettings, c.opsSettings, func(ctx context.Context, s *service) error {
		temporal, err := s.embed(ctx, p.build.Embed, embedConfig(c.storeSettings, c.temporalSettings, c.embedSettings, c.namespaceTTL()))
		if err == nil {
			err = s.addTemporalCheck(temporal.Addr, c.temporalSettings)
		}
		if err == nil {
			s.log.Info("Temporal is up", zap.String("addr", temporal.Addr), zap.String("ui", temporal.UIURL))
		}
		return err
	})
}

func embedConfig(store storeSettings, temporal temporalSettings, ui embedSettings, retention time.Duration) EmbedConfig {
	return EmbedConfig{
		Dir: store.DataDir, Addr: temporal.addr(), UIAddr: ui.TemporalUIAddr, Namespace: temporal.namespaceName(),
		Retention: retention, Sync: store.Sync, SearchAttributes: workflows.SearchAttributes(),
	}
}

// serve starts a service and runs it until the process gets a signal to stop. A
// second signal ends the process at once. SIGHUP makes it read its playbooks again.
func (p *program) serve(logs logSettings, ops opsSettings, start func(context.Context, *service) error) error {
	log, err := logs.logger()
	if err != nil {
		return err
	}
	defer func() { _ = log.Sync() }()
	ctx, stop := signal.NotifyContext(p.ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	ctx, cancel := context.WithCancel(ctx)
	reload, end := onHangup(ctx, cancel)
	defer end()
	defer cancel()
	worker.LimitMemory()
	s := newService(log, p.build)
	if err := errors.Join(serveOps(ctx, s, ops), startTracing(ctx, s)); err != nil {
		err = errors.Join(err, s.stop())
		if ctx.Err() != nil {
			return nil // the process got a signal to stop during the start
		}
		return err
	}
	if err := start(ctx, s); err != nil {
		_ = s.stop() // the first error is the cause
		if ctx.Err() != nil {
			return nil // the process got a signal to stop during the start
		}
		return err
	}
	s.ops.markStarted()
	return s.wait(ctx, reload)
}
