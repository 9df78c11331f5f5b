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

	"longhaul/api/absence"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/gate"
	"longhaul/api/message"
	"longhaul/api/push"
	"longhaul/api/read"
	"longhaul/api/receive"
	"longhaul/api/schedule"
	"longhaul/api/standing"
	"longhaul/api/stream"
	"longhaul/api/work"
	"longhaul/api/write"
	"longhaul/opt"
	"longhaul/opt/access"
	"longhaul/opt/outbox"
)

// A Config says what a Service is made of. A field is required unless its
// comment says what the zero value means.
type Config struct {
	Engine  Engine
	Journal Journal
	Disk    func(context.Context) error         // reports why new data may not fit on the disk of the journal; nil: it is not asked
	Pushes  push.Journal                        // of the same journal
	Watch   func(objectiveID string) call.Watch // likewise
	Agent   message.Agent
	Card    card.Info

	Workforce read.AskWorkforce  // nil: it is not asked
	Scheduler schedule.Scheduler // nil: no schedules
	Absences  Absences           // of the same journal; nil: no deputies
	Standing  standing.Store     // of the same journal; nil: no standing decisions

	// Extended replaces Card for callers that are not anonymous; nil for none. Its
	// capabilities are what Card declares.
	Extended *card.Info

	Idempotency  call.Idempotency // zero: ByMessageID
	BlockingWait time.Duration    // that a send waits for the work; zero: 25 s
	ReplyWait    time.Duration    // for the verdict on a reply; zero: 5 s
	CancelWait   time.Duration    // for a cancellation to take effect; zero: 5 s
	CallTimeout  time.Duration    // of one call of the Engine; zero: 10 s
	MaxQueue     int              // objectives that may wait in one context; zero: 9,999
	Limits       opt.Limits       // of one objective; zero: its defaults
	Quota        call.Quota       // of authenticated callers; nil: no limits
	Quotas       access.Quotas    // of tenants
	Recheck      time.Duration    // how often the caller of an open stream is authenticated again; zero: 15 s

	// CheckExecutor returns why tasks may not have an executor, in words for their client; ""
	// is for tasks that name none. Nil allows all.
	CheckExecutor func(name string) error

	// CheckPush returns why states may not be delivered to a URL, in words for its
	// client. Nil turns push notifications off.
	CheckPush func(ctx context.Context, rawURL string) error
	// CheckSample is CheckPush by the rules of production, for the test seams; nil:
	// CheckPush.
	CheckSample func(ctx context.Context, rawURL string) error
	PushStates  outbox.PushSet // that new push configs deliver

	Codec read.PayloadCodec // of payloads in Temporal; nil: they are not encrypted

	// SignHead returns a JWS of the head of an objective's decisions. Nil leaves heads
	// unsigned.
	SignHead func(ctx context.Context, statement []byte) (string, error)

	// SignCard signs the agent card. Nil leaves it unsigned.
	SignCard card.Signer

	Links    read.Links    // zero: none
	Observer call.Observer // nil observes nothing

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
		cfg.Observer = call.Unobserved{}
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	return cfg
}

// A Journal is the data that clients see, for all parts.
type Journal interface {
	read.Journal
	read.TaskLister
	read.ObjectiveFinder
	read.OverviewReader
	read.CostReader
	read.DecisionReader
	write.Journal
	write.Usage
	call.Keys
	stream.Journal
	message.Journal
	work.Journal
	gate.Journal
	Ping(ctx context.Context) error
}

// Absences are those of a journal.
type Absences interface {
	absence.Store
	message.Seats
}

// An Engine starts work, and sends it messages and commands.
type Engine interface {
	write.Engine
	work.Engine
	// Ready reports why the engine could not accept work now.
	Ready(ctx context.Context) error
}

// A Service has all operations, each in the part of its subject. It is safe for concurrent use.
type Service struct {
	*call.Calls // the common steps of all calls

	Cards      *card.Cards         // the agent card
	Messages   *message.Messages   // message/send and message/stream
	Previews   message.Previews    // of new objectives
	Rehearsals *message.Rehearsals // likewise
	Tasks      *read.Tasks         // tasks/get and tasks/list
	Streams    stream.Streams      // tasks/resubscribe
	Samples    message.Samples     // seams for tests
	Records    read.Records        // durable records of tasks, and runs
	Objectives *read.Objectives    // objectives and plans: get and list
	Maker      *work.Maker         // objectives/create
	Forks      work.Forks          // objectives/fork
	Overviews  *read.Overviews     // of all objectives of a tenant
	Costs      read.Costs          // of models
	Used       read.Quotas         // what tenants have used of them
	Compared   read.Comparisons    // of objectives
	Work       work.Objectives     // changes of objectives and plans
	TaskWork   work.Tasks          // changes of plan tasks, and tasks/cancel
	Pushes     *push.Pushes        // push configs
	Deliveries push.Deliveries     // to push configs
	Gates      gate.Gates          // open gates, and answers to them
	Decisions  read.Decisions      // at gates
	Events     *read.Events        // of objectives
	Callbacks  receive.Callbacks   // for work that is done elsewhere
	Standing   standing.Decisions  // that decide at gates
	Absences   absence.Absences    // in which deputies decide
	Schedules  schedule.Schedules  // that start objectives at times
	Runs       schedule.Runs       // objectives that schedules start
	Payloads   read.Payloads       // of Temporal, for people who look into it

	engine   Engine
	journal  Journal
	disk     func(context.Context) error // nil: it is not asked
	closing  chan struct{}               // closed by Close
	close    sync.Once
	draining atomic.Bool // set by Drain
	log      *zap.Logger
	now      func() time.Time

	readyMu sync.Mutex // over the latest answer of the engine and the journal
	ready   Readiness
	readyAt time.Time
}

// New returns a service. Close ends its streams.
func New(cfg Config) *Service {
	cfg = withDefaults(cfg)
	j := cfg.Journal
	s := &Service{engine: cfg.Engine, journal: j, disk: cfg.Disk, closing: make(chan struct{}), log: cfg.Log, now: cfg.Now}
	var (
		reads = read.Reader{Journal: j}
		out   = write.Writer{Engine: cfg.Engine, Journal: j, Timeout: cfg.CallTimeout, Queue: cfg.MaxQueue, Now: cfg.Now}
		wait  = call.Waiter{Closing: s.closing}
		ids   = call.IDs{Idempotency: cfg.Idempotency, Rand: cfg.Rand}
		pages = &call.Pages{Keys: j}
		plans = write.PlanRules{Limits: cfg.Limits, Executor: cfg.CheckExecutor}
		quota = write.Quotas{Limits: cfg.Quotas, Journal: j, Observer: cfg.Observer, Now: cfg.Now}
	)
	s.Calls = call.New(call.Config{Log: cfg.Log, Rand: cfg.Rand, Extensions: cfg.Card.AllExtensions(cfg.Limits), Quota: cfg.Quota, Recheck: cfg.Recheck, Observer: cfg.Observer})
	s.Cards = card.New(cfg.Card, cfg.Extended, cfg.Limits, cfg.CheckPush != nil, cfg.SignCard)
	s.Streams = stream.Streams{Journal: j, Read: reads, Wait: wait, Watch: cfg.Watch}
	s.Pushes = &push.Pushes{Journal: cfg.Pushes, Read: reads, Out: out, IDs: ids, Pages: pages, CheckURL: cfg.CheckPush, States: cfg.PushStates, Log: cfg.Log}
	s.Deliveries = push.Deliveries{Pushes: s.Pushes}
	s.Messages = &message.Messages{
		Journal: j, Pushes: s.Pushes, Read: reads, Out: out, Wait: wait, IDs: ids, Streams: s.Streams, Quotas: quota, Plans: plans,
		Agent: cfg.Agent, Accepts: card.OrDefault(cfg.Card.InputModes), Watch: cfg.Watch, BlockingWait: cfg.BlockingWait, ReplyWait: cfg.ReplyWait, Observer: cfg.Observer, Now: cfg.Now, Deputies: message.Deputies{Seats: cfg.Absences},
	}
	s.Previews = message.Previews{Messages: s.Messages}
	s.Used = read.Quotas{Limits: cfg.Quotas, Journal: j, Now: cfg.Now}
	s.Rehearsals = message.NewRehearsals(s.Messages, j, cfg.Limits, s.Used)
	s.Gates, s.Decisions = gate.Gates{Journal: j, Read: reads, Pages: pages, Messages: s.Messages}, read.Decisions{Journal: j, Pages: pages, Now: cfg.Now, SignHead: cfg.SignHead}
	s.Samples = message.Samples{Messages: s.Messages, Pushes: s.Pushes, IDs: ids, CheckURL: cfg.CheckSample}
	s.Callbacks = receive.New(j, out.Callback, cfg.Log)
	s.readers(cfg, reads, pages)
	s.Maker = &work.Maker{Read: reads, Out: out, IDs: ids, Quotas: quota, Limits: cfg.Limits, Now: cfg.Now}
	s.Forks = work.Forks{Maker: s.Maker, Journal: j, Plans: plans}
	commands := &work.Commands{
		Journal: j, Engine: cfg.Engine, Read: reads, Out: out, Wait: wait, IDs: ids, Quotas: quota, Plans: plans,
		Watch: cfg.Watch, CallTimeout: cfg.CallTimeout, CancelWait: cfg.CancelWait, Now: cfg.Now, Log: cfg.Log,
	}
	s.Work, s.TaskWork = work.Objectives{Commands: commands}, work.Tasks{Commands: commands}
	s.Schedules = schedule.Schedules{Scheduler: cfg.Scheduler, Journal: j, Agent: cfg.Agent, IDs: ids, ReplyWait: cfg.ReplyWait, Now: cfg.Now}
	s.Standing = standing.Decisions{Store: cfg.Standing, Gates: j, IDs: ids, Now: cfg.Now}
	s.Absences = absence.Absences{Store: cfg.Absences, IDs: ids, Now: cfg.Now}
	s.Runs = schedule.Runs{Calls: s.Calls, Messages: s.Messages, Cancels: s.TaskWork, Schedules: s.Schedules}
	s.Payloads = read.Payloads{Codec: cfg.Codec}
	return s
}

// readers makes the parts that only read.
func (s *Service) readers(cfg Config, reads read.Reader, pages *call.Pages) {
	j := cfg.Journal
	s.Tasks, s.Records = &read.Tasks{Journal: j, Read: reads, Pages: pages, Links: cfg.Links}, read.Records{Journal: cfg.Pushes, Read: reads, Pushes: s.Pushes.Pushes(), Links: cfg.Links}
	s.Overviews, s.Events = read.NewOverviews(j, s.Used, cfg.Workforce, cfg.Now), &read.Events{Journal: j, Read: reads, Pages: pages}
	s.Objectives = &read.Objectives{Journal: j, Read: reads, Pages: pages, Overviews: s.Overviews, Events: s.Events}
	s.Costs, s.Compared = read.Costs{Journal: j}, read.Comparisons{Read: reads}
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
	return Readiness{Engine: ask("engine", s.engine.Ready), Journal: ask("journal", s.journal.Ping) && (s.disk == nil || ask("disk", s.disk))}
}
