package serve

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"

	"longhaul/internal/metrics"
	"longhaul/internal/process"
	"longhaul/worker"
)

// A host runs the parts of one process.
type host struct {
	build     Build
	log       *zap.Logger
	ops       *opsPage
	metrics   *metrics.Metrics
	traces    *traces
	running   atomic.Int64                  // tasks that executors of this process work on
	stopAfter time.Duration                 // how long they may continue at the stop
	drainFor  time.Duration                 // between the signal to stop and the stop
	addresses []address                     // at which parts will listen
	parts     []part                        // that were started
	caches    []func(context.Context) error // give their memory back at rest
	stopper
	failed chan error // the error that ends the process early
}

func newHost(log *zap.Logger, b Build) *host {
	h := &host{build: b, log: log, ops: &opsPage{log: log}, failed: make(chan error, 2)}
	h.traces = &traces{version: h.version()}
	h.startMetrics()
	return h
}

// listensAt records that a part will listen at an address, which a flag has set; "" is none.
func (h *host) listensAt(flag, addr string) {
	if addr != "" {
		h.addresses = append(h.addresses, address{flag, addr})
	}
}

// version returns the version of the program.
func (h *host) version() string { return cmp.Or(h.build.Version, process.Version) }

// run runs a process of parts until it gets a signal to stop. A second signal ends the process
// at once. SIGHUP makes it read its files again.
func run(ctx context.Context, b Build, logs logSettings, ops opsSettings, parts func(*host) []part) error {
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
	worker.LimitMemory(defaultWorkflowMemory(ownMemory())) // of an embedded Temporal and the API; that of a worker has a flag
	h := newHost(log, b)
	h.listensAt("--ops-addr", ops.OpsAddr)
	if err := h.start(ctx, append(append([]part{step(h.awaitFree), &opsServer{host: h, addr: ops.OpsAddr}, h.traces}, parts(h)...), &loop{run: h.giveBack})...); err != nil {
		_ = h.Stop() // the first error is the cause
		if ctx.Err() != nil {
			return nil // the process got a signal to stop during the start
		}
		return err
	}
	h.ops.markStarted()
	return h.wait(ctx, reload)
}

// start starts parts, in order.
func (h *host) start(ctx context.Context, parts ...part) error {
	for _, p := range parts {
		h.parts = append(h.parts, p)
		h.onStop(p.Stop)
		if err := p.Start(ctx); err != nil {
			return err
		}
		if c, ok := p.(checked); ok {
			h.ops.addCheck(c.Name(), c.Ready)
		}
	}
	return nil
}

// fail ends the process with err, unless an earlier error ends it.
func (h *host) fail(err error) {
	select {
	case h.failed <- err:
	default:
	}
}

// wait blocks until ctx ends or a part has failed, then stops everything. Until then the parts
// read their files again at each signal of reload.
func (h *host) wait(ctx context.Context, reload <-chan struct{}) error {
	for {
		select {
		case <-ctx.Done():
			h.drain()
			h.logStop()
			return h.Stop()
		case err := <-h.failed:
			return errors.Join(err, h.Stop())
		case <-reload:
			h.reload()
		}
	}
}

// reload has the parts read their files again. Running objectives are not affected: their plans
// are in their histories.
func (h *host) reload() {
	for _, p := range h.parts {
		if r, ok := p.(reloaded); ok {
			r.Reload()
		}
	}
}

// drain makes the process report that it is not ready, and keeps serving until load
// balancers have noticed that.
func (h *host) drain() {
	h.ops.markDraining()
	for _, p := range h.parts {
		if d, ok := p.(drained); ok {
			d.Drain()
		}
	}
	if h.drainFor > 0 {
		h.log.Info("Draining: requests are still served, but the process is not ready any more", zap.Duration("for", h.drainFor))
		time.Sleep(h.drainFor)
	}
}

// logStop logs how many tasks the stop waits for.
func (h *host) logStop() {
	if n := h.running.Load(); n > 0 {
		h.log.Info("Stopping: running tasks may end first, and other work resumes at the next start. A second Ctrl-C stops at once, without loss",
			zap.Int64("tasks", n), zap.Duration("atMost", h.stopAfter))
		return
	}
	h.log.Info("Stopping")
}
