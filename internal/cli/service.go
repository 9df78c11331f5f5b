package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/client"
	"go.uber.org/zap"

	"longhaul/activities"
	"longhaul/activities/llm"
	"longhaul/activities/planner"
	"longhaul/api"
	"longhaul/api/call"
	"longhaul/api/callback"
	"longhaul/api/card"
	"longhaul/api/grpc"
	"longhaul/api/read"
	apiservice "longhaul/api/service"
	"longhaul/internal/egress"
	"longhaul/internal/journal"
	"longhaul/internal/metrics"
	"longhaul/internal/seal"
	"longhaul/internal/signing"
	"longhaul/internal/tracing"
	"longhaul/opt"
	"longhaul/worker"
	"longhaul/workflows"
)

// A service is what one process runs. It stops what it has started, in reverse
// order.
type service struct {
	build              Build
	allInOne           bool   // the process runs everything, Temporal included
	uiURL              string // of the UI of that Temporal; "" for none
	log                *zap.Logger
	journal            *journal.Journal
	sealer             *seal.Box // of stored secrets
	egress             *egress.Client
	signing            *signing.Keeper // nil for deliveries that are not signed
	callbacks          *callbacks
	notices            notices
	strictEgress       *egress.Client // by the rules of production, for the test seams
	agents             *egress.Client // for other A2A agents, whose answers may be large
	services           *egress.Client // for web services that do tasks, whose answers may be large and late
	temporal           client.Client
	cipher             workflows.Cipher // of payloads in Temporal; nil encrypts nothing
	target             target
	noSearchAttributes atomic.Bool          // the namespace has no search attributes of ours, or they are not known yet
	quotas             opt.Quotas           // of tenants
	playbooks          *planner.PlaybookSet // nil for a service without playbooks
	models             *llm.Models          // nil for a service without models
	reloadHooks        []func()             // called after new playbooks were loaded
	ops                *opsPage
	metrics            *metrics.Metrics
	tracing            *tracing.Provider // nil for no traces
	running            atomic.Int64      // tasks that executors of this process work on
	stopAfter          time.Duration     // how long they may continue at the stop
	drainFor           time.Duration     // between the signal to stop and the stop
	drainHooks         []func()          // called at the signal to stop
	stopHooks          []func() error
	failed             chan error // the error that ends the service early
}

func newService(log *zap.Logger, b Build) *service {
	s := &service{build: b, log: log, ops: &opsPage{log: log}, failed: make(chan error, 2)}
	startMetrics(s, cmp.Or(b.Version, Version))
	return s
}

// wrap returns part, within its wrapper if it has one.
func wrap[T any](part T, wrapper func(T) T) T {
	if wrapper == nil {
		return part
	}
	return wrapper(part)
}

// onStop registers stop, which is called at the end.
func (s *service) onStop(stop func() error) { s.stopHooks = append(s.stopHooks, stop) }

// stop stops everything.
func (s *service) stop() error {
	var errs []error
	for i := len(s.stopHooks) - 1; i >= 0; i-- {
		errs = append(errs, s.stopHooks[i]())
	}
	s.stopHooks = nil
	return errors.Join(errs...)
}

// fail ends the service with err, unless an earlier error ends it.
func (s *service) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// wait blocks until ctx ends or a part of the service has failed, then stops
// everything. Until then it reads the playbooks again at each signal of reload.
func (s *service) wait(ctx context.Context, reload <-chan struct{}) error {
	for {
		select {
		case <-ctx.Done():
			s.drain()
			s.logStop()
			return s.stop()
		case err := <-s.failed:
			return errors.Join(err, s.stop())
		case <-reload:
			s.reload()
		}
	}
}

// logStop logs how many tasks the stop waits for.
func (s *service) logStop() {
	if n := s.running.Load(); n > 0 {
		s.log.Info("Stopping: running tasks may end first, and other work resumes at the next start. A second Ctrl-C stops at once, without loss",
			zap.Int64("tasks", n), zap.Duration("atMost", s.stopAfter))
		return
	}
	s.log.Info("Stopping")
}

// drain makes the process report that it is not ready, and keeps serving until load
// balancers have noticed that.
func (s *service) drain() {
	s.ops.markDraining()
	for _, drain := range s.drainHooks {
		drain()
	}
	if s.drainFor > 0 {
		s.log.Info("Draining: requests are still served, but the process is not ready any more", zap.Duration("for", s.drainFor))
		time.Sleep(s.drainFor)
	}
}

// onReload registers follow, which is called after new playbooks were loaded.
func (s *service) onReload(follow func()) { s.reloadHooks = append(s.reloadHooks, follow) }

// reload handles SIGHUP: it reads the playbooks and the channels for notices again.
func (s *service) reload() {
	s.reloadPlaybooks()
	reloadNotices(s)
}

// reloadPlaybooks reads the playbooks again, if the service has any. Running objectives
// are not affected: their plans are in their histories.
func (s *service) reloadPlaybooks() {
	if s.playbooks == nil {
		return
	}
	if err := s.playbooks.Reload(); err != nil {
		s.log.Error("Kept the playbooks from before", zap.Error(err))
		return
	}
	for _, follow := range s.reloadHooks {
		follow()
	}
	s.log.Info("Read the playbooks again")
}

// embed starts the built-in Temporal server.
func (s *service) embed(ctx context.Context, embed Embed, c EmbedConfig) (*Embedded, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	c.Log, s.allInOne = s.log, true
	e, err := embed(ctx, c)
	if err != nil {
		return nil, err
	}
	s.uiURL = e.UIURL
	s.onStop(e.Stop)
	return e, nil
}

// open opens the journal, reads the playbooks and connects to Temporal.
func (s *service) open(ctx context.Context, store storeSettings, work workSettings, temporal target, payloads payloadSettings) error {
	cfg, err := store.journal()
	if err != nil {
		return err
	}
	box, err := store.sealer()
	if err != nil {
		return err
	}
	s.sealer = box
	cfg.Sealer, cfg.Channels, cfg.Log, cfg.Migrate = box, s.notices.forJournal(), s.log, s.allInOne
	cfg.Observer, cfg.Recorded, cfg.Now = s.metrics, workLog{s.log}.logRecorded, s.build.Now
	if s.journal, err = journal.Open(ctx, cfg); err != nil {
		return err
	}
	s.onStop(s.journal.Close)
	s.callbacks = &callbacks{tokens: signing.Callbacks{Box: box}, base: s.notices.base}
	if s.playbooks, err = planner.NewPlaybookSet(func() (*planner.Playbooks, error) { return work.loadPlaybooks(s.build, s.planners()) }); err != nil {
		return err
	}
	if work.Echo {
		s.log.Warn("--echo: clients can hold slots for an hour and send any question to the people here. Use it for trials alone")
	}
	if s.cipher, err = payloads.cipher(); err != nil {
		return err
	}
	traces, err := s.tracing.Interceptors()
	if err != nil {
		return err
	}
	s.target = temporal
	if s.temporal, err = workflows.Dial(workflows.DialConfig{
		Addr: temporal.addr.value, Namespace: temporal.namespace.value, Connection: temporal.connection, Local: isLocal(temporal.addr.value),
		Log: sdkLog(s.log), Metrics: s.metrics.Temporal(), Traces: traces, Blobs: s.journal, Cipher: s.cipher, Adjust: s.build.Temporal,
	}); err != nil {
		return err
	}
	s.onStop(func() error { s.temporal.Close(); return nil })
	s.ops.addCheck("journal", s.journal.Ping)
	addDepthMetrics(s)
	addActivityMetrics(s)
	s.ops.addCheck("engine", workflows.NewClient(workflows.ClientConfig{Temporal: s.temporal}).Ready)
	return nil
}

// addTemporalCheck adds to the page for operators whether the Temporal of this process answers.
func (s *service) addTemporalCheck(addr string, cfg temporalSettings) error {
	c, err := workflows.Dial(workflows.DialConfig{Addr: addr, Namespace: cfg.namespaceName(), Local: isLocal(addr), Log: sdkLog(s.log)})
	if err != nil {
		return err
	}
	s.onStop(func() error { c.Close(); return nil })
	s.ops.addCheck("engine", workflows.NewClient(workflows.ClientConfig{Temporal: c}).Ready)
	return nil
}

// loadModels reads the file of --models, if there is one. env returns the values of
// variables; nil for a process that asks no model.
func (s *service) loadModels(file string, env func(string) (string, bool)) (err error) {
	if file != "" {
		s.models, err = llm.Load(file, env)
	}
	return err
}

// planners returns the planners that --planner may name.
func (s *service) planners() map[string]activities.Planner {
	if s.models == nil || s.models.Planner == nil {
		return s.build.Planners
	}
	all := map[string]activities.Planner{llmPlanner: modelPlanner{llm.Planner{
		Models: s.models, Books: func() llm.Books { return s.playbooks.Books() }, Log: s.log.Named("planner"),
	}}}
	maps.Copy(all, s.build.Planners)
	return all
}

// loadNotices reads the channels for notices. Call it before open.
func (s *service) loadNotices(cfg noticeSettings, links linkSettings, reach egressSettings) (err error) {
	s.notices, err = newNotices(cfg, links, reach)
	if err == nil && s.notices.links != nil && !secureIssuer(links.PublicURL) {
		s.log.Warn("Answer links cross the network unencrypted: they are credentials. Set --public-url to an https URL", zap.String("publicUrl", links.PublicURL))
	}
	return err
}

// openClients makes the clients for URLs of others.
func (s *service) openClients(cfg egressSettings) (err error) {
	if s.egress, err = cfg.client(); err != nil {
		return err
	}
	if s.strictEgress, err = egress.New(egress.Config{Deny: cfg.EgressDeny}); err != nil {
		return newUsageError("--egress-%v", err)
	}
	if s.agents, err = cfg.agentClient(); err != nil {
		return err
	}
	if s.services, err = cfg.clientWith(serviceLimits()); err != nil {
		return err
	}
	if cfg.AllowPrivateEgress {
		s.log.Warn("--allow-private-egress: clients can have this process send requests to this machine and to private networks. Use it for development alone")
	}
	s.onStop(func() error {
		s.egress.Close()
		s.strictEgress.Close()
		s.agents.Close()
		s.services.Close()
		return nil
	})
	return nil
}

// openSigning makes the keeper of the keys that sign deliveries. Call it after open.
func (s *service) openSigning(cfg egressSettings) {
	if cfg.PushSigning {
		s.signing = signing.New(signing.Config{Store: s.journal.SigningKeys})
	}
}

// checkPlaybooks reports mistakes in playbooks before anything is started.
func (s *service) checkPlaybooks(cfg allSettings) error {
	books, err := cfg.loadPlaybooks(s.build, s.planners())
	if err != nil {
		return err
	}
	run, err := executors(s, cfg.workerSettings)
	if err != nil {
		return err
	}
	return errors.Join(checkExecutors(books, s.build.defaultExecutor(), slices.Sorted(maps.Keys(run))), books.CheckLimits(cfg.apiSettings.limits()))
}

// isLocal reports whether an address is on this machine.
func isLocal(addr string) bool {
	host, _, _ := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// startWorker starts a worker, and the dispatcher of deliveries if it serves them.
func (s *service) startWorker(cfg workerSettings, temporal temporalSettings, version worker.Version) error {
	run, err := executors(s, cfg)
	if err != nil {
		return err
	}
	known := slices.Sorted(maps.Keys(run))
	limits, err := cfg.limits(known)
	if err != nil {
		return err
	}
	if name := s.build.Default; name != "" && !slices.Contains(known, name) {
		return newUsageError("--default-executor: this worker has no executor %s; it has %s", name, strings.Join(known, ", "))
	}
	if err := s.playbooks.Require(func(p *planner.Playbooks) error { return checkExecutors(p, s.build.defaultExecutor(), known) }); err != nil {
		return err
	}
	s.notices.to = s.notices.sender(s.egress, s.signing, s.log)
	w := worker.New(worker.Config{
		Temporal: s.temporal,
		Version:  version,
		Activities: activities.Config{
			Executors:  run,
			Default:    s.build.defaultExecutor(),
			Planner:    wrap[activities.Planner](s.playbooks, s.build.Planner),
			Recorder:   measuredRecorder{wrap[activities.Recorder](s.journal, s.build.Recorder), s.metrics},
			Stuck:      s.journal,
			Observer:   runningCounter{s.metrics, &s.running},
			Kept:       s.journal,
			Blobs:      s.journal,
			Links:      s.journal,
			Heartbeats: workflows.NewClient(workflows.ClientConfig{Temporal: s.temporal, Cipher: s.cipher}),
			Purger:     s.journal,
			Tasks:      s.journal,
			Watch:      func(id string) activities.Watch { return s.journal.Watch(id) },
			Push:       newPush(s, s.notices.to),
			Callbacks:  s.callbacks,
			Quotas:     s.quotas,
			Log:        s.log,
		},
		Queues:    cfg.queues(),
		MaxTasks:  cfg.MaxTasks,
		Limits:    limits,
		MaxPushes: cfg.MaxPushes,
		StopAfter: cfg.StopAfter,
		Failed:    func(err error) { s.fail(fmt.Errorf("worker: %w", err)) },
	})
	if err := w.Start(); err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	s.stopAfter = cfg.StopAfter
	s.onStop(func() error { w.Stop(); return nil })
	if slices.Contains(cfg.Queues, string(worker.PushQueue)) {
		s.startDispatcher(temporal)
	}
	return nil
}

// startDispatcher starts to hand deliveries that are due to workflows, until the service stops.
func (s *service) startDispatcher(temporal temporalSettings) {
	engine := workflows.NewClient(workflows.ClientConfig{Temporal: s.temporal, MaxEvents: temporal.MaxEvents, Cipher: s.cipher})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		worker.Dispatcher{Outbox: s.journal.Pushes, To: engine, Log: s.log}.Run(ctx)
	}()
	s.onStop(func() error {
		cancel()
		<-ended
		return nil
	})
}

// startAPI starts the API and returns its URL.
func (s *service) startAPI(ctx context.Context, cfg apiSettings, temporal temporalSettings) (string, error) {
	agent, err := s.agent(cfg.Agent)
	if err == nil && cfg.Agent == "playbooks" {
		err = s.playbooks.Require(func(p *planner.Playbooks) error {
			return errors.Join(p.CheckLimits(cfg.limits()), p.CheckEachExecutor(s.build.checkExecutor))
		})
	}
	if err != nil {
		return "", err
	}
	if cfg.Agent == "playbooks" && s.playbooks.Books().None() {
		s.log.Warn("No playbooks: messages are rejected. Name some with --playbooks, or try the demo with --echo, for the API and the workers")
	}
	links, err := cfg.links(s.uiURL, s.target.namespace.value)
	if err != nil {
		return "", err
	}
	listener, err := listen(ctx, cfg.Addr, "--addr")
	if err != nil {
		return "", err
	}
	url, err := cfg.url(listener.Addr())
	if err != nil {
		_ = listener.Close()
		return "", err
	}
	grpcListener, grpcAddr, err := cfg.listenGRPC(ctx)
	if err != nil {
		_ = listener.Close()
		return "", err
	}
	files, err := cfg.certificates(s.log)
	if err != nil {
		_ = listener.Close()
		return "", err
	}
	s.callbacks.setOwnURL(url)
	authority := cfg.authority(s.journal.APIKeys)
	info := s.build.card(cfg, api.Address{BaseURL: url, NoREST: cfg.NoREST, GRPC: grpcAddr}, agent)
	authority.Describe(&info)
	operations := s.operations(cfg, temporal, agent, info, links)
	s.onStop(func() error { operations.Callbacks.Flush(); return nil })
	s.drainFor, s.drainHooks = cfg.DrainDelay, append(s.drainHooks, operations.Drain)
	server := api.New(api.Config{
		Service: operations, Authenticate: authority.Authenticate, Challenge: authority.Challenge(), MaxBody: cfg.MaxBody,
		NoREST: cfg.NoREST, TestSeams: cfg.TestSeams, Keys: keyReader(s.signing), LenientVersion: cfg.Lenient, Origins: cfg.Origins, Hosts: cfg.hosts(),
		Console: consolePages(s, cfg, operations, authority, url),
		Answers: s.notices.page(operations, s.journal.APIKeys, !cfg.NoConsole, s.log), Callbacks: callback.New(operations.Calls, operations.Callbacks, s.callbacks.tokens), Tracing: s.tracing, Now: s.build.Now, Log: s.log,
	})
	s.onReload(func() { server.SetSkills(agent.Skills()) })
	s.serveHTTP(server, listener, files)
	over := grpc.Config{Service: operations, Authenticate: authority.Authenticate, LenientVersion: cfg.Lenient, MaxMessage: int(cfg.MaxBody), Tracing: s.tracing}
	s.serveGRPC(over, grpcListener, files)
	startScheduleKeeper(s, operations, cfg.Agent == "playbooks")
	cfg.warn(s.log, s.journal.APIKeys)
	return url, nil
}

// operations returns the operations of the API.
func (s *service) operations(cfg apiSettings, temporal temporalSettings, agent Agent, info card.Info, links read.Links) *apiservice.Service {
	at := workflows.ClientConfig{
		Temporal: s.temporal, Namespace: s.target.namespace.value, MaxEvents: temporal.MaxEvents, Plain: s.noSearchAttributes.Load, Timeout: cfg.CallTimeout, IdleFor: cfg.IdleTTL,
		Cipher: s.cipher,
	}
	engine := workflows.NewClient(at)
	doubting := doubtingEngine{engine, startReconciler(s, engine).Doubt}
	return apiservice.New(apiservice.Config{
		Engine:        wrap[apiservice.Engine](doubting, s.build.Engine),
		Journal:       wrap[apiservice.Journal](s.journal, s.build.Journal),
		Pushes:        s.journal.Pushes,
		Watch:         func(id string) call.Watch { return s.journal.Watch(id) },
		Agent:         agent,
		Card:          info,
		Extended:      cfg.extendedCard(info),
		Quota:         cfg.quota(),
		Quotas:        s.quotas,
		Scheduler:     workflows.NewSchedules(at),
		Codec:         apiCodec(s.cipher),
		Observer:      s.metrics,
		Links:         links,
		CheckExecutor: s.build.checkExecutor,
		CheckPush:     pushChecker(cfg.pushSettings, s.egress, s.log), CheckSample: pushChecker(cfg.pushSettings, s.strictEgress, s.log), PushStates: cfg.states(),
		Idempotency:  idempotencyModes[cfg.Idempotency],
		BlockingWait: cfg.BlockingWait, ReplyWait: cfg.ReplyWait, CancelWait: cfg.CancelWait, CallTimeout: cfg.CallTimeout, MaxQueue: cfg.MaxQueue,
		Limits: cfg.limits(), SignHead: headSigner(s.signing),
		Now: s.build.Now, Log: s.log,
	})
}

// serveHTTP serves over HTTP, with TLS unless files is nil.
func (s *service) serveHTTP(server *api.Server, l net.Listener, files *certificates) {
	httpServer := server.HTTP()
	serve := httpServer.Serve
	if files != nil {
		httpServer.TLSConfig = files.config("h2", "http/1.1")
		serve = func(l net.Listener) error { return httpServer.ServeTLS(l, "", "") }
	}
	go func() {
		if err := serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("serve at %s: %w", l.Addr(), err))
		}
	}()
	s.onStop(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		return httpServer.Shutdown(ctx)
	})
}

// agent returns the agent with a name.
func (s *service) agent(name string) (Agent, error) {
	if name == "playbooks" {
		return playbooks{s.playbooks}, nil
	}
	if a := s.build.Agents[name]; a != nil {
		return a, nil
	}
	known := append([]string{"playbooks"}, slices.Sorted(maps.Keys(s.build.Agents))...)
	return nil, newUsageError("--agent %q: this program has %s", name, strings.Join(known, ", "))
}
