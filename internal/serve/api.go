package serve

import (
	"cmp"
	"context"
	"errors"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"longhaul/a2a"
	"longhaul/api"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/gateform"
	"longhaul/api/read"
	apiservice "longhaul/api/service"
	"longhaul/internal/process"
	"longhaul/internal/reconcile"
	"longhaul/opt"
	"longhaul/workflows"
)

// idempotencyModes are the values of --idempotency.
var idempotencyModes = map[string]call.Idempotency{"message-id": call.ByMessageID, "header": call.ByHeader, "off": call.NoRepeats}

// An apiServer serves A2A.
type apiServer struct {
	stopper
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
	a.host.listensAt("--addr", a.settings.Addr)
	a.host.listensAt("--grpc-addr", a.settings.GRPCAddr)
	a.reconciler = &reconciler{ground: a.ground, engine: a.engine}
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
		&httpServer{api: a}, &grpcServer{api: a}, newScheduleKeeper(a), a.frontCard(),
		step(func(context.Context) error { a.settings.warn(a.host.log, a.store.journal.APIKeys); return nil }),
	}
}

// frontCard returns the part that keeps the skills of the agent of --front up to date.
func (a *apiServer) frontCard() part {
	return &loop{run: func(ctx context.Context) {
		if f := a.planning.front; f != nil {
			f.run(ctx)
		}
	}}
}

// keptSeats are absences whose principals still have their places: one with API keys has the rights that
// these have now.
type keptSeats struct {
	absences
	keys gateform.Keys
}

type absences interface{ apiservice.Absences }

func (k keptSeats) Seats(ctx context.Context, tenant, deputy string) (kept []opt.Seat, err error) {
	seats, err := k.absences.Seats(ctx, tenant, deputy)
	if err != nil {
		return nil, err
	}
	for _, s := range seats {
		who, err := gateform.Caller(ctx, k.keys, call.Caller{Tenant: tenant, Principal: s.Principal, Groups: s.Groups}, time.Now())
		switch {
		case errors.Is(err, opt.ErrUnavailable):
			return nil, err
		case err == nil: // else they may not answer any more
			s.Groups = who.Groups
			kept = append(kept, s)
		}
	}
	return kept, nil
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
	a.authority = a.settings.authority(a.store.journal.APIKeys)
	info := a.host.build.card(a.settings, api.Address{BaseURL: a.listeners.url, GRPC: a.listeners.grpcAddr}, a.agent)
	a.authority.Describe(&info)
	cfg, h := a.settings, a.host
	at := a.engine()
	a.operations = apiservice.New(apiservice.Config{
		Engine:        wrap[apiservice.Engine](doubtingEngine{workflows.NewClient(at), a.reconciler.doubt}, h.build.Engine),
		Journal:       wrap[apiservice.Journal](a.store.journal, h.build.Journal),
		Disk:          a.store.journal.Disk.Ready,
		Pushes:        a.store.journal.Pushes,
		Watch:         func(id string) call.Watch { return a.store.journal.Watch(id) },
		Agent:         a.agent,
		Card:          info,
		Extended:      cfg.extendedCard(info),
		Quota:         cfg.quota(),
		Quotas:        a.quotas,
		Workforce:     workflows.Workforce{Temporal: at.Temporal, Namespace: at.Namespace, Now: time.Now}.Ask,
		Scheduler:     workflows.NewSchedules(at),
		Standing:      a.store.journal.Standing,
		Absences:      keptSeats{a.store.journal.Absences, a.store.journal.APIKeys},
		Codec:         apiCodec(a.temporal.cipher),
		Observer:      h.metrics,
		Links:         links,
		CheckExecutor: h.build.checkExecutor,
		CheckPush:     pushChecker(cfg.pushSettings, a.reach.hooks, h.log), CheckSample: pushChecker(cfg.pushSettings, a.reach.strict, h.log), PushStates: cfg.states(),
		Idempotency:  idempotencyModes[cfg.Idempotency],
		BlockingWait: cfg.BlockingWait, ReplyWait: cfg.ReplyWait, CancelWait: cfg.CancelWait, CallTimeout: cfg.CallTimeout, MaxQueue: cfg.MaxQueue,
		Limits: cfg.limits(), SignHead: headSigner(a.store.keys), SignCard: cardSigner(a.store.keys, a.listeners.url),
		Log: h.log,
	})
	a.onStop(func() error { a.operations.Callbacks.Flush(); return nil })
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

// inputModes are the media types on the agent card. Parts of any other are accepted, too, for the
// executors know what they can read; but clients look for the types that they have.
var inputModes = []string{"text/plain", "text/markdown", "application/json", "application/pdf", "application/octet-stream", "image/png", "image/jpeg", "*/*"}

// card returns the content of the agent card.
func (b Build) card(cfg apiSettings, at api.Address, agent Agent) card.Info {
	info := card.Info{
		Name:        cfg.AgentName,
		Description: cmp.Or(b.Description, "Plans objectives, carries them out and asks people for decisions. The work survives crashes, deploys and disconnects."),
		Version:     cmp.Or(b.Version, process.Version),
		Interfaces:  at.Interfaces(),
		InputModes:  inputModes,
		OutputModes: []string{"text/plain", "application/json"},
		Skills:      agent.Skills(),
		NoStreaming: cfg.NoStreaming, PrivateSkills: cfg.PrivateSkills, DocumentationURL: cfg.Documentation,
	}
	if cfg.Provider != "" {
		info.Provider = &card.Provider{Organization: cfg.Provider, URL: cfg.ProviderURL}
	}
	for _, uri := range cfg.Required {
		if uri == a2a.ExtensionOPT {
			info.OPTRequired = true
			continue
		}
		info.Extensions = append(info.Extensions, call.Extension{URI: uri, Required: true})
	}
	return info
}

// A reconciler ends in the journal the work that was ended in Temporal, beside the API.
type reconciler struct {
	*ground
	loop
	engine func() workflows.ClientConfig // of the API, for the work that it begins again
	doubt  func(objectiveID string)      // has an objective checked
}

func (r *reconciler) Start(ctx context.Context) error {
	to := reconcile.New(reconcile.Config{Temporal: workflows.NewClient(r.engine()), Journal: r.store.journal, Log: r.host.log})
	r.doubt, r.run = to.Doubt, to.Run
	return r.loop.Start(ctx)
}

// A doubtingEngine has an objective checked when a message for it finds no workflow: the
// objective may be lost.
type doubtingEngine struct {
	apiservice.Engine
	doubt func(objectiveID string)
}

func (e doubtingEngine) check(objectiveID string, err error) error {
	if errors.Is(err, opt.ErrEnded) {
		e.doubt(objectiveID)
	}
	return err
}

// Start implements [apiservice.Engine].
func (e doubtingEngine) Start(ctx context.Context, o opt.Opening) (opt.Opening, error) {
	opened, err := e.Engine.Start(ctx, o)
	return opened, e.check(o.Objective.ID, err)
}

// Letter implements [apiservice.Engine].
func (e doubtingEngine) Letter(ctx context.Context, l opt.Letter) error {
	return e.check(l.ObjectiveID, e.Engine.Letter(ctx, l))
}

// Command implements [apiservice.Engine].
func (e doubtingEngine) Command(ctx context.Context, c opt.Command) error {
	return e.check(c.ObjectiveID, e.Engine.Command(ctx, c))
}

// Cancel implements [apiservice.Engine].
func (e doubtingEngine) Cancel(ctx context.Context, objectiveID, principal, reason string) error {
	return e.check(objectiveID, e.Engine.Cancel(ctx, objectiveID, principal, reason))
}

// Callback implements [apiservice.Engine].
func (e doubtingEngine) Callback(ctx context.Context, c opt.Callback) error {
	ref, _ := opt.ParseID(c.TaskID)
	return e.check(ref.ObjectiveID, e.Engine.Callback(ctx, c))
}

// A payloadCodec is a codec of the SDK for the API.
type payloadCodec struct{ converter.PayloadCodec }

// apiCodec returns the codec for the API, nil if payloads are not encrypted.
func apiCodec(c workflows.Cipher) read.PayloadCodec {
	if c == nil {
		return nil
	}
	return payloadCodec{workflows.NewCodec(c)}
}

// Encode implements [read.PayloadCodec].
func (c payloadCodec) Encode(payloads []read.Payload) ([]read.Payload, error) {
	return convertPayloads(payloads, c.PayloadCodec.Encode)
}

// Decode implements [read.PayloadCodec].
func (c payloadCodec) Decode(payloads []read.Payload) ([]read.Payload, error) {
	return convertPayloads(payloads, c.PayloadCodec.Decode)
}

func convertPayloads(payloads []read.Payload, code func([]*commonpb.Payload) ([]*commonpb.Payload, error)) ([]read.Payload, error) {
	in := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		in[i] = &commonpb.Payload{Metadata: p.Metadata, Data: p.Data}
	}
	done, err := code(in)
	out := make([]read.Payload, len(done))
	for i, p := range done {
		out[i] = read.Payload{Metadata: p.GetMetadata(), Data: p.GetData()}
	}
	return out, err
}
