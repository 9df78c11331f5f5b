package serve

import (
	"context"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/client"
	"go.uber.org/zap"

	"longhaul/activities"
	"longhaul/internal/namespace"
	"longhaul/internal/reconcile"
	"longhaul/opt/access"
	"longhaul/workflows"
)

// Shared are the settings of all processes that serve or work.
type Shared struct {
	Work     workSettings       `embed:"" group:"Work"`
	Egress   egressSettings     `embed:"" group:"Requests to others"`
	Store    Store              `embed:"" group:"Journal"`
	Temporal namespace.Temporal `embed:"" group:"Temporal"`
	Payloads namespace.Payloads `embed:"" group:"Temporal"`
	Ops      opsSettings        `embed:"" group:"Log and operation"`
	Log      logSettings        `embed:"" group:"Log and operation"`
}

// A ground has the parts that every process which serves or works begins with.
type ground struct {
	host     *host
	reach    *reach
	notices  *notices
	triggers *triggers
	planning *planning
	store    *store
	temporal *connection
	quotas   access.Quotas // of tenants
}

// newGround returns the ground of a process. target finds Temporal, when the parts before it
// have started.
func (s Shared) newGround(h *host, links linkSettings, quotas access.Quotas, target func() namespace.Target) *ground {
	r := &reach{settings: s.Egress, log: h.log}
	n := &notices{settings: links, reach: r, log: h.log}
	p := &planning{host: h, settings: s.Work, reach: r}
	st := &store{host: h, settings: s.Store, signs: s.Egress.PushSigning, notices: n}
	n.store = st
	return &ground{h, r, n, &triggers{log: h.log}, p, st, &connection{host: h, store: st, find: target, payloads: s.Payloads, maxEvents: s.Work.MaxEvents}, quotas}
}

// A connection is that to Temporal.
type connection struct {
	stopper
	host      *host
	store     *store // nil for a process without one
	find      func() namespace.Target
	payloads  namespace.Payloads
	maxEvents int
	calls     workflows.Calls // nil for none

	target namespace.Target
	client client.Client
	cipher workflows.Cipher // of payloads; nil encrypts nothing
}

func (c *connection) Start(context.Context) (err error) {
	if c.cipher, err = c.payloads.Cipher(); err != nil {
		return err
	}
	cfg := workflows.DialConfig{Log: namespace.SDKLog(c.host.log), Cipher: c.cipher, Calls: c.calls}
	if c.store != nil {
		cfg.Metrics, cfg.Blobs, cfg.Adjust = c.host.metrics.Temporal(), c.store.journal, c.host.build.Temporal
		cfg.Last = wrap[activities.Recorder](c.store.journal, c.host.build.Recorder).Record // not measured: others may record the same
		late := reconcile.NewLate(cfg.Last)
		cfg.Late = late.Take
		c.onStop(func() error { late.Stop(); return nil })
		if cfg.Traces, err = c.host.traces.provider.Interceptors(); err != nil {
			return err
		}
	}
	c.target = c.find()
	if c.client, err = c.target.Dial(cfg); err == nil {
		c.onStop(func() error { c.client.Close(); return nil })
	}
	return err
}

func (c *connection) Name() string { return "engine" }

func (c *connection) Ready(ctx context.Context) error {
	return workflows.NewClient(workflows.ClientConfig{Temporal: c.client}).Ready(ctx)
}

// engine returns how to reach the workflows.
func (c *connection) engine() workflows.ClientConfig {
	to := workflows.ClientConfig{Temporal: c.client, Namespace: c.target.Name(), MaxEvents: c.maxEvents, Cipher: c.cipher}
	if c.store != nil {
		to.Blobs = c.store.journal
	}
	return to
}

// namespace returns the namespace that c is connected to.
func (c *connection) namespace() namespace.Namespace {
	return namespace.New(c.client, c.cipher, c.target, c.host.log)
}

// A namespaceCheck examines the namespace for an API, which serves reads while Temporal cannot be
// reached: then it continues until Temporal answers.
type namespaceCheck struct {
	loop
	temporal        *connection
	lacksAttributes atomic.Bool // the namespace has no search attributes of ours, or they are not known yet
}

// Start returns an error that says what to do, unless Temporal may answer later.
func (c *namespaceCheck) Start(ctx context.Context) error {
	c.lacksAttributes.Store(true)
	n := c.temporal.namespace()
	state, err := n.Examine(ctx)
	if err == nil || namespace.IsFinal(err) {
		c.use(state)
		return n.WithAdvice(err, namespace.Week)
	}
	c.temporal.host.log.Warn("Only reads work until Temporal answers", zap.Error(n.WithAdvice(err, namespace.Week)))
	c.run = c.await
	return c.loop.Start(ctx)
}

// await examines the namespace until Temporal answers, or ctx ends.
func (c *namespaceCheck) await(ctx context.Context) {
	n := c.temporal.namespace()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
		state, err := n.Examine(ctx)
		switch {
		case err == nil:
			c.temporal.host.log.Info("Temporal answers")
			c.use(state)
			return
		case namespace.IsFinal(err):
			c.temporal.host.fail(n.WithAdvice(err, namespace.Week))
			return
		}
	}
}

// use makes new objectives use the search attributes if the namespace has them.
func (c *namespaceCheck) use(state workflows.NamespaceState) {
	c.lacksAttributes.Store(len(state.Missing) > 0)
	c.temporal.namespace().LogMissing(state)
}
