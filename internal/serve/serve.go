package serve

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

	"longhaul/internal/namespace"
	"longhaul/internal/process"
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

// API is "longhaul api".
type API struct {
	apiSettings
	egressSettings
	Store
	namespace.Payloads
	namespace.Temporal
	namespace.Elsewhere
	workSettings
	opsSettings
	logSettings
}

func (c *API) Run(p *process.Process, b Build) error {
	temporal, err := c.Target(c.Elsewhere)
	quotas, wrong := c.quotas(c.authenticates(), 0)
	if err := errors.Join(err, wrong, c.checkAccess(), c.checkLimits()); err != nil {
		return err
	}
	b = c.executorsOf(b)
	return serve(p.Ctx, b, c.logSettings, c.opsSettings, func(ctx context.Context, s *service) error {
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
		if err := s.open(ctx, c.Store, c.workSettings, temporal, c.Payloads); err != nil {
			return err
		}
		if err := s.checkNamespace(ctx); err != nil {
			return err
		}
		s.openSigning(c.egressSettings)
		url, err := s.startAPI(ctx, c.apiSettings, c.Temporal)
		if err == nil {
			s.log.Info("Serving A2A", zap.String("url", url))
		}
		return err
	})
}

// Worker is "longhaul worker".
type Worker struct {
	workerSettings
	namespace.WorkerVersion
	noticeSettings
	linkSettings
	egressSettings
	namespace.Retention
	Store
	namespace.Payloads
	namespace.Temporal
	namespace.Elsewhere
	namespace.Wait
	workSettings
	opsSettings
	logSettings
}

func (c *Worker) Run(p *process.Process, b Build) error {
	temporal, err := c.Target(c.Elsewhere)
	version, wrong := c.Version(b.Version)
	quotas, wrongQuota := c.quotas(true, c.MaxTasks)
	if err := errors.Join(err, wrong, wrongQuota, c.CheckTTL()); err != nil {
		return err
	}
	b = c.executorsOf(b)
	return serve(p.Ctx, b, c.logSettings, c.opsSettings, func(ctx context.Context, s *service) error {
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
		if err := s.open(ctx, c.Store, c.workSettings, temporal, c.Payloads); err != nil {
			return err
		}
		s.openSigning(c.egressSettings)
		state, err := s.namespace().Await(ctx, c.Wait, c.NamespaceTTL())
		if err != nil {
			return err
		}
		s.namespace().LogMissing(state)
		s.namespace().WarnRetention(state, c.TTL)
		s.log.Info("Working", zap.Stringer("at", temporal))
		if err := s.startWorker(c.workerSettings, c.Temporal, version); err != nil {
			return err
		}
		s.namespace().WarnOfNoVersion(ctx, version)
		return s.namespace().CreatePurgeSchedule(ctx, c.TTL)
	})
}

// embedSettings say how the embedded Temporal runs.
type embedSettings struct {
	TemporalUIAddr string `name:"temporal-ui-addr" help:"Address of the Web UI of the embedded Temporal; empty for none." default:"127.0.0.1:8233" env:"LONGHAUL_TEMPORAL_UI_ADDR" placeholder:"HOST:PORT"`
}

// Settings are the settings of all services together.
type Settings struct {
	apiSettings
	workerSettings
	noticeSettings
	egressSettings
	namespace.Retention
	Store
	namespace.Payloads
	namespace.Temporal
	embedSettings
	workSettings
	opsSettings
	logSettings
}

// Dev is "longhaul dev".
type Dev struct{ Settings }

func (c *Dev) Run(p *process.Process, b Build) error {
	quotas, wrong := c.quotas(c.authenticates(), c.MaxTasks)
	if err := errors.Join(wrong, c.checkAccess(), c.CheckTTL(), c.checkLimits()); err != nil {
		return err
	}
	b = c.executorsOf(b.withEcho())
	return serve(p.Ctx, b, c.logSettings, c.opsSettings, func(ctx context.Context, s *service) error {
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
		if err := s.checkPlaybooks(c.Settings); err != nil {
			return err
		}
		temporal, err := s.embed(ctx, b.Embed, embedConfig(c.Store, c.Temporal, c.embedSettings, c.NamespaceTTL()))
		if err != nil {
			return err
		}
		if addr := os.Getenv("TEMPORAL_ADDRESS"); addr != "" {
			s.log.Warn("TEMPORAL_ADDRESS has no effect: this command uses the embedded Temporal; api and worker use others", zap.String("address", addr))
		}
		if err := s.open(ctx, c.Store, c.workSettings, c.Embedded(temporal.Addr), c.Payloads); err != nil {
			return err
		}
		if err := s.namespace().CheckKeys(ctx); err != nil {
			return err
		}
		s.openSigning(c.egressSettings)
		if err := s.startWorker(c.workerSettings, c.Temporal, worker.Version{}); err != nil {
			return err
		}
		url, err := s.startAPI(ctx, c.apiSettings, c.Temporal)
		if err != nil {
			return err
		}
		agent, err := s.agent(c.Agent)
		if err != nil {
			return err
		}
		greeting{
			p.Name, p.Command, url, temporal.UIURL, c.authenticates(), c.newKey(p.Command), !c.NoConsole, example(agent.Skills()),
		}.print(p.Stdout)
		return s.namespace().CreatePurgeSchedule(ctx, c.TTL)
	})
}

// newKey is a command that prints a new API key, "" if callers need none.
func (s Settings) newKey(program process.Name) string {
	if !slices.Contains(s.Auth, "keys") {
		return ""
	}
	text := program.String() + " keys create me --scopes all"
	if usual, err := filepath.Abs(".longhaul"); err != nil || s.DataDir != usual {
		text += " --data-dir " + process.ShellQuoted(s.DataDir)
	}
	if s.Journal != "" {
		text += " --journal \"$LONGHAUL_JOURNAL\"" // it may have a password
	}
	return text
}

// TemporalServer is "longhaul temporal".
type TemporalServer struct {
	namespace.Retention
	Store
	namespace.Temporal
	embedSettings
	opsSettings
	logSettings
}

func (c *TemporalServer) Run(p *process.Process, b Build) error {
	if err := c.CheckTTL(); err != nil {
		return err
	}
	return serve(p.Ctx, b, c.logSettings, c.opsSettings, func(ctx context.Context, s *service) error {
		temporal, err := s.embed(ctx, b.Embed, embedConfig(c.Store, c.Temporal, c.embedSettings, c.NamespaceTTL()))
		if err == nil {
			err = s.addTemporalCheck(temporal.Addr, c.Temporal)
		}
		if err == nil {
			s.log.Info("Temporal is up", zap.String("addr", temporal.Addr), zap.String("ui", temporal.UIURL))
		}
		return err
	})
}

func embedConfig(store Store, temporal namespace.Temporal, ui embedSettings, retention time.Duration) EmbedConfig {
	return EmbedConfig{
		Dir: store.DataDir, Addr: temporal.ServerAddr(), UIAddr: ui.TemporalUIAddr, Namespace: temporal.NamespaceName(),
		Retention: retention, Sync: store.Sync, SearchAttributes: workflows.SearchAttributes(),
	}
}

// serve starts a service and runs it until the process gets a signal to stop. A
// second signal ends the process at once. SIGHUP makes it read its playbooks again.
func serve(ctx context.Context, b Build, logs logSettings, ops opsSettings, start func(context.Context, *service) error) error {
	log, err := logs.logger()
	if err != nil {
		return err
	}
	defer func() { _ = log.Sync() }()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	ctx, cancel := context.WithCancel(ctx)
	reload, end := onHangup(ctx, cancel)
	defer end()
	defer cancel()
	worker.LimitMemory()
	s := newService(log, b)
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
