package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
)

// opsSettings say where operators look at a process.
type opsSettings struct {
	OpsAddr string `name:"ops-addr" help:"Address at which to serve /metrics, /healthz and /readyz, without authentication: they show numbers and states, no contents and no ids. Empty for none." env:"LONGHAUL_OPS_ADDR" placeholder:"HOST:PORT"`
}

// An opsPage serves operators the state of a process: whether it is alive and ready, and
// its metrics. It is safe for concurrent use.
type opsPage struct {
	log     *zap.Logger
	metrics http.Handler

	mu       sync.Mutex
	checks   []opsCheck
	started  bool
	draining bool
}

// An opsCheck checks a part on which the work of a process depends.
type opsCheck struct {
	part  string
	check func(context.Context) error
}

// addCheck adds a part to check. Before markStarted the process is not ready in any case.
func (p *opsPage) addCheck(part string, ask func(context.Context) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.checks = append(p.checks, opsCheck{part, ask})
}

// markStarted records that all parts of the process run.
func (p *opsPage) markStarted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started = true
}

// markDraining makes the process report that it is not ready.
func (p *opsPage) markDraining() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draining = true
}

// opsTimeout bounds the answer about readiness.
const opsTimeout = 3 * time.Second

// An opsReadiness is the answer of /readyz.
type opsReadiness struct {
	Status string            `json:"status"`          // ready, starting, draining or not ready
	Parts  map[string]string `json:"parts,omitempty"` // ready or not ready, by part
}

// readiness checks the named parts, or all parts without a name, in parallel. It logs why a
// part is not ready.
func (p *opsPage) readiness(ctx context.Context, parts []string) opsReadiness {
	p.mu.Lock()
	checks, started, draining := slices.Clone(p.checks), p.started, p.draining
	p.mu.Unlock()
	checks = slices.DeleteFunc(checks, func(c opsCheck) bool { return len(parts) > 0 && !slices.Contains(parts, c.part) })
	ctx, cancel := context.WithTimeout(ctx, opsTimeout)
	defer cancel()
	answers := make([]chan error, len(checks)) // a part may answer late
	for i, c := range checks {
		answers[i] = make(chan error, 1)
		go func() { answers[i] <- c.check(ctx) }()
	}
	out := opsReadiness{Status: "ready", Parts: map[string]string{}}
	for i, c := range checks {
		out.Parts[c.part] = "ready"
		if err := await(ctx, answers[i]); err != nil {
			out.Status, out.Parts[c.part] = "not ready", "not ready"
			p.log.Warn("Not ready", zap.String("part", c.part), zap.Error(err))
		}
	}
	for _, part := range parts {
		if out.Parts[part] == "" {
			out.Status, out.Parts[part] = "not ready", "unknown"
		}
	}
	switch {
	case draining:
		out.Status = "draining"
	case !started:
		out.Status = "starting"
	}
	return out
}

func await(ctx context.Context, answer <-chan error) error {
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ServeHTTP implements [http.Handler].
func (p *opsPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := func(code int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(body) // fails if the client has disconnected
	}
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
	case r.URL.Path == "/healthz":
		answer(http.StatusOK, map[string]string{"status": "ok"})
	case r.URL.Path == "/readyz":
		code, ready := http.StatusOK, p.readiness(r.Context(), r.URL.Query()["part"])
		if ready.Status != "ready" {
			code = http.StatusServiceUnavailable
		}
		answer(code, ready)
	case r.URL.Path == "/metrics" && p.metrics != nil:
		p.metrics.ServeHTTP(w, r)
	default:
		http.NotFound(w, r)
	}
}

// An opsServer serves the page for operators until everything else has stopped.
type opsServer struct {
	stopper
	host *host
	addr string // "" for none
}

func (s *opsServer) Start(context.Context) error {
	if s.addr == "" {
		return nil
	}
	listener, err := listen(s.addr, "--ops-addr")
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: s.host.ops, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10,
	}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.host.fail(fmt.Errorf("serve at %s: %w", listener.Addr(), err))
		}
	}()
	s.onStop(server.Close)
	s.host.log.Info("Serving operators", zap.Stringer("addr", listener.Addr()))
	return nil
}
