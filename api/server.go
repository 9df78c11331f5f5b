package api

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"go.uber.org/zap"

	"longhaul/api/call"
	"longhaul/api/operation"
	"longhaul/api/service"
	"longhaul/opt"
)

// A Server is the service as an http.Handler.
type Server struct {
	cfg     Config
	log     *zap.Logger
	service *service.Service
	echo    *echo.Echo
	rpc     rpc
	rest    rest
	page    pageBinding
	agui    aguiBinding
	pages   pages
	bodies  bodies
	cards
}

// New returns a server of cfg.Service.
func New(cfg Config) *Server {
	cfg = withDefaults(cfg)
	table := operation.Of(cfg.Service)
	s := &Server{
		cfg: cfg, log: cfg.Log, service: cfg.Service, echo: echo.New(),
		rpc:   rpc{operations: table, lenient: cfg.LenientVersion, maxBody: cfg.MaxBody},
		rest:  rest{operations: table, lenient: cfg.LenientVersion, maxBody: cfg.MaxBody},
		page:  pageBinding{operations: table, routes: pageRoutes(features(cfg)...), maxBody: cfg.MaxBody},
		agui:  aguiBinding{operations: table, service: cfg.Service, maxBody: cfg.MaxBody},
		pages: pages{cfg.Origins, cfg.Hosts, foreignPages(cfg.Origins)}, bodies: newBodies(cfg),
		cards: cards{service: cfg.Service, log: cfg.Log, now: cfg.Now, maxBody: cfg.MaxBody},
	}
	s.cards.describer = describer{pages: pageRoutes(), open: s.public()}
	s.cards.update()
	s.routes()
	return s
}

// features returns the features of pages that are on.
func features(cfg Config) (on []operation.Feature) {
	if cfg.TestSeams {
		on = append(on, operation.Seams)
	}
	if cfg.Service.Payloads.EncryptsPayloads() {
		on = append(on, operation.Codec)
	}
	return on
}

func (s *Server) routes() {
	s.echo.HTTPErrorHandler = httpError
	s.echo.Pre(plainColons)
	s.echo.Use(s.observe, s.pages.refuseForeign)
	for _, path := range []string{"/", "/a2a", "/a2a/"} {
		s.echo.POST(path, func(e echo.Context) error { return s.exchange(e, s.rpc, "jsonrpc") })
		s.echo.OPTIONS(path, func(e echo.Context) error { return s.pages.preflight(e, "OPTIONS, POST") })
	}
	s.echo.GET("/", s.serveBrowser)
	for _, p := range s.public() {
		s.echo.GET(p.path, public(p.serve))
		s.echo.HEAD(p.path, public(p.serve))
		s.echo.OPTIONS(p.path, publicPreflight)
	}
	s.echo.Any(restPath, s.serveREST)
	s.echo.Any(restPath+"/*", s.serveREST)
	for _, path := range []string{`/message\:send`, `/message\:stream`, "/tasks", "/tasks/*", "/extendedAgentCard"} {
		s.echo.Any(path, s.serveREST)
		s.echo.Any("/:tenant"+path, s.serveREST)
	}
	s.echo.Any(pagePath+"/*", s.servePage)
	for _, verb := range []string{http.MethodGet, http.MethodPost} {
		s.echo.Add(verb, aguiPath, func(e echo.Context) error { return s.exchange(e, s.agui, "agui") })
	}
	s.echo.OPTIONS(aguiPath, func(e echo.Context) error { return s.pages.preflight(e, "GET, OPTIONS, POST") })
	if s.cfg.Callbacks != nil {
		s.echo.POST(CallbackPath+":token", byToken(s.cfg.Callbacks))
	}
	if s.cfg.Chat != nil {
		s.echo.POST(chatPath+":token", byToken(s.cfg.Chat))
	}
	if s.cfg.Hooks != nil {
		s.echo.POST(hookPath+":token", byToken(s.cfg.Hooks))
	}
	if s.cfg.Console != nil {
		s.echo.Any(ConsolePath, s.serveConsole)
		s.echo.Any(ConsolePath+"/*", s.serveConsole)
		s.echo.GET(ConsolePath+"/events/:task", s.serveConsoleEvents)
	}
	if s.cfg.MCP != nil {
		for _, path := range []string{MCPPath, resourcePath, resourcePath + MCPPath} {
			s.echo.Any(path, s.serveMCP)
		}
	}
	if s.cfg.Answers != nil {
		for _, verb := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			s.echo.Add(verb, answerPath+":token", byToken(s.cfg.Answers))
		}
	}
}

// serveBrowser answers a person who opens the URL of the server: it leads to the console, or says
// what this is where there is none. Programs get the error that only POST is possible.
func (s *Server) serveBrowser(e echo.Context) error {
	switch {
	case !strings.Contains(e.Request().Header.Get(echo.HeaderAccept), echo.MIMETextHTML):
		e.Response().Header().Set(echo.HeaderAllow, "OPTIONS, POST")
		return echo.ErrMethodNotAllowed
	case s.cfg.Console != nil:
		return e.Redirect(http.StatusSeeOther, ConsolePath+"/")
	}
	return e.String(http.StatusOK, "This is an A2A agent, for programs: they send JSON-RPC to this address with POST.\nIts card: /.well-known/agent-card.json\n")
}

// byToken serves the URLs of a page that end in a token.
func byToken(page TokenPage) echo.HandlerFunc {
	return func(e echo.Context) error {
		page.Serve(e.Get(callKey).(*call.Call), e.Response(), e.Request(), e.Param("token"))
		return nil
	}
}

// ConsolePath is the path of the console.
const ConsolePath = "/console"

// serveConsole serves a page of the console.
func (s *Server) serveConsole(e echo.Context) error {
	s.cfg.Console.Serve(e.Get(callKey).(*call.Call), e.Response(), e.Request())
	return nil
}

// serveConsoleEvents serves the stream of a task to a page of the console, as it is
// served to other clients.
func (s *Server) serveConsoleEvents(e echo.Context) error {
	r, err := s.cfg.Console.Rewrite(e.Request(), restPath+"/tasks/"+e.Param("task")+":subscribe")
	switch {
	case errors.Is(err, opt.ErrUnavailable):
		return echo.NewHTTPError(http.StatusServiceUnavailable)
	case err != nil:
		return echo.NewHTTPError(http.StatusUnauthorized)
	}
	e.SetRequest(r)
	return s.serveREST(e)
}

// MCPPath is the path of the door for hosts of models, and resourcePath that of its description for
// OAuth clients.
const (
	MCPPath      = "/mcp"
	resourcePath = "/.well-known/oauth-protected-resource"
)

func (s *Server) serveMCP(e echo.Context) error {
	if e.Request().Method == http.MethodOptions && e.Path() == MCPPath {
		return s.pages.preflight(e, "OPTIONS, POST")
	}
	s.pages.allowOrigin(e)
	s.cfg.MCP.Serve(e.Get(callKey).(*call.Call), e.Response(), e.Request())
	return nil
}

// chatPath is the path of chat platforms, before the name of one.
const chatPath = "/chat/"

// hookPath is the path of triggers, before the name of one.
const hookPath = "/hooks/"

// answerPath is the path of answer links, before their tokens.
const answerPath = "/answer/"

// KeysPath is the path of the public keys.
const KeysPath = "/.well-known/jwks.json"

// CallbackPath is the path of callback URLs, before their tokens.
const CallbackPath = "/callbacks/"

// public returns the documents that everyone may read.
func (s *Server) public() []publicPage {
	list := []publicPage{
		{"/.well-known/agent-card.json", "The agent card", "AgentCard", s.cards.serve},
		{"/.well-known/agent.json", "The agent card, at its path in A2A 0.2", "AgentCard", s.cards.serve},
		{"/a2a/.well-known/agent-card.json", "The agent card, below the path of JSON-RPC", "AgentCard", s.cards.serve},
		{restPath + "/.well-known/agent-card.json", "The agent card, below the path of plain HTTP", "AgentCard", s.cards.serve},
		{"/v1.0/.well-known/agent-card.json", "The agent card of A2A 1.0 for every client", "AgentCard", s.cards.serveV10},
		{"/.well-known/openwop", "What this host supports", "Discovery", s.cards.serveDiscovery},
		{pagePath + "/openapi.json", "This description", "OpenAPI", s.cards.serveDescription},
		{healthPath, "The process runs", "Health", serveHealth},
		{readyPath, "Work can be accepted now", "Readiness", readiness{s.service}.serve},
	}
	if s.cfg.Keys != nil {
		list = append(list, publicPage{KeysPath, "The keys by which deliveries and the agent card are verified", "Keys", keyPage{s.cfg.Keys, s.log}.serve})
	}
	return list
}

// serveREST serves plain HTTP: below restPath, which is on the card, and at the
// root, for clients that know only the server's address.
func (s *Server) serveREST(e echo.Context) error {
	if m, ok := find(pathBelow(e.Request())); ok && e.Request().Method == http.MethodOptions {
		return s.pages.preflight(e, m.verbs())
	}
	e.Response().Header().Set("Cache-Control", "no-store")
	return s.exchange(e, s.rest, "rest")
}

// servePage serves a page that is not of A2A.
func (s *Server) servePage(e echo.Context) error {
	if m, ok := s.page.find(e.Request()); ok && e.Request().Method == http.MethodOptions {
		return s.pages.preflight(e, m.verbs())
	}
	e.Response().Header().Set("Cache-Control", "no-store")
	return s.exchange(e, s.page, "page")
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }

// HTTP returns a server for s with timeouts for headers and idle connections; s
// itself sets the limits for bodies, answers and stream events. Its Shutdown closes the
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
