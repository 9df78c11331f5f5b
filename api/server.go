package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"go.uber.org/zap"
)

// A Server is the service as an http.Handler.
type Server struct {
	cfg     Config
	log     *zap.Logger
	echo    *echo.Echo
	methods map[string]*method
	cards   atomic.Pointer[cards]
	foreign *http.CrossOriginProtection // nil lets pages of any origin act
	lanes   lanes                       // of contexts

	closing   chan struct{} // closed by Close
	closeOnce sync.Once

	keyMu sync.Mutex
	key   []byte // of page tokens, once it was read
}

// New returns a server. Close ends its streams.
func New(cfg Config) *Server {
	cfg = withDefaults(cfg)
	s := &Server{cfg: cfg, log: cfg.Log, echo: echo.New(), foreign: foreignPages(cfg.Origins), closing: make(chan struct{})}
	s.SetSkills(cfg.Card.Skills)
	s.methods = byName(s.table())
	s.routes()
	return s
}

func withDefaults(cfg Config) Config {
	cfg.Challenge = cmp.Or(cfg.Challenge, "Bearer")
	cfg.BlockingWait = cmp.Or(cfg.BlockingWait, 25*time.Second)
	cfg.ReplyWait = cmp.Or(cfg.ReplyWait, 5*time.Second)
	cfg.CancelWait = cmp.Or(cfg.CancelWait, 5*time.Second)
	cfg.CallTimeout = cmp.Or(cfg.CallTimeout, 10*time.Second)
	cfg.Heartbeat = cmp.Or(cfg.Heartbeat, 15*time.Second)
	cfg.WriteTimeout = cmp.Or(cfg.WriteTimeout, 30*time.Second)
	cfg.ReadTimeout = cmp.Or(cfg.ReadTimeout, 60*time.Second)
	cfg.MaxBody = cmp.Or(cfg.MaxBody, 16<<20)
	cfg.MaxQueue = cmp.Or(cfg.MaxQueue, 9999)
	cfg.Log = cmp.Or(cfg.Log, zap.NewNop())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	return cfg
}

func (s *Server) routes() {
	s.echo.HTTPErrorHandler = s.httpError
	s.echo.Use(s.observe, s.refuseForeign)
	for _, path := range []string{"/", "/a2a", "/a2a/"} {
		s.echo.POST(path, s.serveRPC)
		s.echo.OPTIONS(path, func(e echo.Context) error { return s.preflight(e, "OPTIONS, POST") })
	}
	get := func(path string, handler echo.HandlerFunc) {
		s.echo.GET(path, handler)
		s.echo.HEAD(path, handler)
	}
	get("/.well-known/agent-card.json", s.serveCard)
	get("/.well-known/agent.json", s.serveCard)
	get("/a2a/.well-known/agent-card.json", s.serveCard)
	get("/v1.0/.well-known/agent-card.json", s.servePureCard)
	if !s.cfg.NoREST {
		get(restPath+"/.well-known/agent-card.json", s.serveCard)
		s.echo.Any(restPath, s.serveREST)
		s.echo.Any(restPath+"/*", s.serveREST)
		for _, path := range []string{`/message\:send`, `/message\:stream`, "/tasks", "/tasks/*", "/extendedAgentCard"} {
			s.echo.Any(path, s.serveREST)
			s.echo.Any("/:tenant"+path, s.serveREST)
		}
	}
	get("/healthz", s.serveHealth)
	get("/readyz", s.serveReady)
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }

// HTTP returns a server to listen with, whose timeouts suit s:
// those of headers and of idle connections. The others, of bodies, answers and
// stream events, s sets itself. Its Shutdown ends the streams first.
func (s *Server) HTTP() *http.Server {
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	if log, err := zap.NewStdLogAt(s.log, zap.DebugLevel); err == nil {
		h.ErrorLog = log
	}
	h.RegisterOnShutdown(s.Close)
	return h
}

// Close ends all streams and the waits of blocking sends, for good. Clients lose
// nothing: a stream can be resumed elsewhere. Close may be called more than once
// and does not wait; http.Server.Shutdown does.
func (s *Server) Close() { s.closeOnce.Do(func() { close(s.closing) }) }

// writing returns a context for a call that must not stop half-way because the
// client has gone.
func (s *Server) writing(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), s.cfg.CallTimeout)
}
