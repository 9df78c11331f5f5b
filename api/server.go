package api

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"go.uber.org/zap"

	"longhaul/api/service"
)

// A Server is the service as an http.Handler.
type Server struct {
	cfg     Config
	log     *zap.Logger
	service *service.Service
	echo    *echo.Echo
	rpc     rpc
	rest    rest
	cards   atomic.Pointer[cards]
	foreign *http.CrossOriginProtection // nil allows pages of any origin
}

// New returns a server of cfg.Service.
func New(cfg Config) *Server {
	cfg = withDefaults(cfg)
	operations := byName(table(cfg.Service))
	s := &Server{
		cfg: cfg, log: cfg.Log, service: cfg.Service, echo: echo.New(), foreign: foreignPages(cfg.Origins),
		rpc:  rpc{operations: operations, lenient: cfg.LenientVersion, maxBody: cfg.MaxBody},
		rest: rest{operations: operations, lenient: cfg.LenientVersion, maxBody: cfg.MaxBody},
	}
	s.updateCards()
	s.routes()
	return s
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

// HTTP returns a server for s with timeouts for headers and idle connections; s
// itself sets those of bodies, answers and stream events. Its Shutdown closes the
// service first, so that streams end.
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
	h.RegisterOnShutdown(s.service.Close)
	return h
}
