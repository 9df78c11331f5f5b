package service

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"longhaul/opt"
)

// A Config says what a Service is made of. A field is required unless its
// comment says what the zero value means.
type Config struct {
	Engine  Engine
	Journal Journal
	Watch   func(objectiveID string) Watch // of the same journal
	Agent   Agent
	Card    CardInfo

	Scheduler Scheduler // nil: no schedules

	// Extended replaces Card for callers that are not anonymous; nil for none. Its
	// capabilities are those of Card.
	Extended *CardInfo

	Idempotency  Idempotency   // zero: ByMessageID
	BlockingWait time.Duration // that a send waits for the work; zero: 25 s
	ReplyWait    time.Duration // for the verdict on a reply; zero: 5 s
	CancelWait   time.Duration // for a cancellation to take effect; zero: 5 s
	CallTimeout  time.Duration // of one call of the Engine; zero: 10 s
	MaxQueue     int           // objectives that may wait in one context; zero: 9,999
	Limits       opt.Limits    // of one objective; zero: its defaults
	Quota        Quota         // of authenticated callers; nil: no limits
	Quotas       opt.Quotas    // of tenants
	Recheck      time.Duration // how often the caller of an open stream is authenticated again; zero: 15 s

	// CheckExecutor returns why tasks may not have an executor, in words for their client; ""
	// is that of tasks that name none. Nil allows all.
	CheckExecutor func(name string) error

	// CheckPush returns why states may not be delivered to a URL, in words for its
	// client. Nil turns push notifications off.
	CheckPush func(ctx context.Context, rawURL string) error
	// CheckSample is CheckPush by the rules of production, for the test seams; nil:
	// CheckPush.
	CheckSample func(ctx context.Context, rawURL string) error
	PushStates  opt.PushSet // that new push configs deliver

	Codec PayloadCodec // of payloads in Temporal; nil: they are not encrypted

	// SignHead returns a JWS of the head of an objective's decisions. Nil leaves heads
	// unsigned.
	SignHead func(ctx context.Context, statement []byte) (string, error)

	Links    Links    // zero: none
	Observer Observer // nil observes nothing

	Log  *zap.Logger      // nil discards logs
	Now  func() time.Time // nil: time.Now
	Rand io.Reader        // for ids, safe for concurrent use; nil: crypto/rand
}

func withDefaults(cfg Config) Config {
	cfg.BlockingWait = cmp.Or(cfg.BlockingWait, 25*time.Second)
	cfg.ReplyWait = cmp.Or(cfg.ReplyWait, 5*time.Second)
	cfg.CancelWait = cmp.Or(cfg.CancelWait, 5*time.Second)
	cfg.CallTimeout = cmp.Or(cfg.CallTimeout, 10*time.Second)
	cfg.MaxQueue = cmp.Or(cfg.MaxQueue, 9999)
	cfg.Recheck = cmp.Or(cfg.Recheck, 15*time.Second)
	cfg.Log = cmp.Or(cfg.Log, zap.NewNop())
	if cfg.CheckSample == nil {
		cfg.CheckSample = cfg.CheckPush
	}
	if cfg.CheckExecutor == nil {
		cfg.CheckExecutor = func(string) error { return nil }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Observer == nil {
		cfg.Observer = unobserved{}
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	return cfg
}

// A Service has all operations. It is safe for concurrent use.
type Service struct {
	calls             // the common steps of all calls
	*cards            // the agent card
	messages          // message/send and message/stream
	previews          // of new objectives
	tasks             // tasks/get and tasks/list
	streams           // tasks/resubscribe
	samples           // seams for tests
	records           // durable records of tasks, and runs
	objectives        // objectives and plans: create an objective, get and list
	*overviews        // of all objectives of a tenant
	objectiveCommands // changes of objectives and plans
	pushes            // push configs
	deliveries        // to push configs
	taskCommands      // changes of plan tasks, and tasks/cancel
	interrupts        // open gates, and answers to them
	decisions         // at gates
	*events           // of objectives
	callbacks         // for work that is done elsewhere
	schedules         // that start objectives at times
	scheduledRuns     // objectives that schedules start
	payloads          // of Temporal, for people who look into it

	engine   Engine
	journal  Journal
	closing  chan struct{} // closed by Close
	close    sync.Once
	draining atomic.Bool // set by Drain
	now      func() time.Time

	readyMu sync.Mutex // over the latest answer of the engine and the journal
	ready   Readiness
	readyAt time.Time
}

// New returns a service. Close ends its streams.
func New(cfg Config) *Service {
	cfg = withDefaults(cfg)
	s := &Service{engine: cfg.Engine, journal: cfg.Journal, closing: make(chan struct{}), now: cfg.Now}
	var (
		read  = reader{cfg.Journal}
		out   = writer{cfg.Engine, cfg.Journal, cfg.CallTimeout, cfg.MaxQueue, cfg.Now}
		wait  = waiter{s.closing}
		ids   = ids{cfg.Idempotency, cfg.Rand}
		pages = &pages{journal: cfg.Journal}
		quota = quotas{cfg.Quotas, cfg.Journal, cfg.Observer}
	)
	s.calls = calls{log: cfg.Log, rand: cfg.Rand, extensions: cfg.Card.extensions(cfg.Limits), quota: cfg.Quota, recheck: cfg.Recheck, observer: cfg.Observer}
	s.cards = newCards(cfg)
	s.streams = streams{read, wait, cfg.Watch}
	s.pushes = pushes{cfg: cfg, read: read, out: out, ids: ids, pages: pages}
	s.deliveries = deliveries{&s.pushes}
	s.messages = messages{pushes: s.pushes, cfg: cfg, read: read, out: out, wait: wait, ids: ids, streams: s.streams, quotas: quota}
	s.previews = previews{&s.messages}
	s.interrupts, s.decisions = interrupts{pages, &s.messages}, decisions{cfg, pages}
	s.events = &events{read, pages}
	s.samples = samples{&s.messages, &s.pushes}
	s.tasks, s.records = tasks{read, pages, cfg.Links}, records{read, s.Pushes(), cfg.Links}
	s.callbacks = callbacks{cfg, newPacer(out.callback, cfg.Log)}
	s.objectives = objectives{now: cfg.Now, limits: cfg.Limits, ids: ids, read: read, out: out, pages: pages, quotas: quota}
	s.overviews = newOverviews(cfg)
	commands := &commands{cfg: cfg, read: read, out: out, wait: wait, ids: ids, quotas: quota}
	s.objectiveCommands, s.taskCommands = objectiveCommands{commands}, taskCommands{commands}
	s.schedules, s.payloads = schedules{cfg, ids}, payloads{cfg.Codec}
	s.scheduledRuns = scheduledRuns{&s.calls, &s.messages, s.taskCommands, s.schedules}
	return s
}

// Close ends all streams and the waits of blocking sends, for good. Clients lose
// nothing: a stream can be resumed elsewhere. Close may be called more than once
// and does not wait for the calls in progress.
func (s *Service) Close() { s.close.Do(func() { close(s.closing) }) }

// Closing returns a channel that Close closes.
func (s *Service) Closing() <-chan struct{} { return s.closing }

const readyTimeout = 3 * time.Second

// Drain makes the service report that it is not ready. It still serves requests: load balancers get
// time to send requests elsewhere before Close.
func (s *Service) Drain() { s.draining.Store(true) }

// Readiness says which parts can accept work now.
type Readiness struct {
	Engine, Journal bool
	Draining        bool // the process is about to stop
}

// All reports whether all parts can, and will in a moment.
func (r Readiness) All() bool { return r.Engine && r.Journal && !r.Draining }

// readyFor is how long an answer of the engine and the journal holds. Anyone may ask.
const readyFor = time.Second

// Ready returns which parts can accept work. It asks the engine and the journal at most once a
// second, for all callers, and logs the reasons.
func (s *Service) Ready(ctx context.Context) Readiness {
	s.readyMu.Lock()
	defer s.readyMu.Unlock()
	if s.readyAt.IsZero() || s.now().Sub(s.readyAt) >= readyFor {
		s.ready = s.askParts(context.WithoutCancel(ctx))
		s.readyAt = s.now()
	}
	s.ready.Draining = s.draining.Load()
	return s.ready
}

// askParts asks the engine and the journal.
func (s *Service) askParts(ctx context.Context) Readiness {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	ask := func(part string, check func(context.Context) error) bool {
		answer := make(chan error, 1) // it may come late
		go func() { answer <- check(ctx) }()
		var err error
		select {
		case err = <-answer:
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			s.log.Warn("Not ready", zap.String("part", part), zap.Error(err))
		}
		return err == nil
	}
	return Readiness{Engine: ask("engine", s.engine.Ready), Journal: ask("journal", s.journal.Ping)}
}
