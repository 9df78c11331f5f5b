package serve

import (
	"context"

	"longhaul/api"
	"longhaul/api/call"
	apiservice "longhaul/api/service"
	"longhaul/workflows"
)

// idempotencyModes are the values of --idempotency.
var idempotencyModes = map[string]call.Idempotency{"message-id": call.ByMessageID, "header": call.ByHeader, "off": call.NoRepeats}

// An apiServer serves A2A.
type apiServer struct {
	*ground
	settings   apiSettings
	plain      func() bool   // whether objectives begin without search attributes; nil for with them
	temporalUI func() string // URL of the UI of Temporal in this process; nil for none

	agent      Agent
	listeners  *listeners
	reconciler *reconciler
	authority  authority
	operations *apiservice.Service
}

// parts returns the parts that serve A2A, in order.
func (a *apiServer) parts() []part {
	a.host.drainFor = a.settings.DrainDelay
	a.listeners = &listeners{settings: a.settings, log: a.host.log}
	a.reconciler = &reconciler{ground: a.ground}
	return []part{
		step(func(context.Context) (err error) {
			a.agent, err = a.planning.agent(a.settings.Agent)
			if err == nil && a.settings.Agent == playbooksAgent && a.planning.playbooks.Books().None() {
				a.host.log.Warn("No playbooks: messages are rejected. Name some with --playbooks, or try the demo with --echo, for the API and the workers")
			}
			return err
		}),
		a.listeners,
		a.reconciler,
		a,
		&httpServer{api: a}, &grpcServer{api: a}, newScheduleKeeper(a),
		step(func(context.Context) error { a.settings.warn(a.host.log, a.store.journal); return nil }),
	}
}

// Start makes the operations.
func (a *apiServer) Start(context.Context) error {
	ui := ""
	if a.temporalUI != nil {
		ui = a.temporalUI()
	}
	links, err := a.settings.links(ui, a.temporal.target.Name())
	if err != nil {
		return err
	}
	a.store.callbacks.setOwnURL(a.listeners.url)
	a.authority = a.settings.authority(a.store.journal)
	info := a.host.build.card(a.settings, api.Address{BaseURL: a.listeners.url, GRPC: a.listeners.grpcAddr}, a.agent)
	a.authority.Describe(&info)
	cfg, h := a.settings, a.host
	at := a.engine()
	a.operations = apiservice.New(apiservice.Config{
		Engine:        wrap[apiservice.Engine](doubtingEngine{workflows.NewClient(at), a.reconciler.doubt}, h.build.Engine),
		Journal:       wrap[apiservice.Journal](a.store.journal, h.build.Journal),
		Watch:         func(id string) call.Watch { return a.store.journal.Watch(id) },
		Agent:         a.agent,
		Card:          info,
		Extended:      cfg.extendedCard(info),
		Quota:         cfg.quota(),
		Quotas:        a.quotas,
		Scheduler:     workflows.NewSchedules(at),
		Codec:         apiCodec(a.temporal.cipher),
		Observer:      h.metrics,
		Links:         links,
		CheckExecutor: h.build.checkExecutor,
		CheckPush:     pushChecker(cfg.pushSettings, a.reach.hooks, h.log), CheckSample: pushChecker(cfg.pushSettings, a.reach.strict, h.log), PushStates: cfg.states(),
		Idempotency:  idempotencyModes[cfg.Idempotency],
		BlockingWait: cfg.BlockingWait, ReplyWait: cfg.ReplyWait, CancelWait: cfg.CancelWait, CallTimeout: cfg.CallTimeout, MaxQueue: cfg.MaxQueue,
		Limits: cfg.limits(), SignHead: headSigner(a.store.keys),
		Now: h.build.Now, Log: h.log,
	})
	return nil
}

func (a *apiServer) Stop() error {
	if a.operations != nil {
		a.operations.Callbacks.Flush()
	}
	return nil
}

// Drain ends calls that wait, and streams.
func (a *apiServer) Drain() { a.operations.Drain() }

// engine returns how the API reaches the workflows.
func (a *apiServer) engine() workflows.ClientConfig {
	at := a.temporal.engine()
	at.Plain, at.Timeout, at.IdleFor = a.plain, a.settings.CallTimeout, a.settings.IdleTTL
	return at
}

// wrap returns part, within its wrapper if it has one.
func wrap[T any](part T, wrapper func(T) T) T {
	if wrapper == nil {
		return part
	}
	return wrapper(part)
}
