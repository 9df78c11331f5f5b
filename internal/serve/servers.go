package serve

import (
	"context"
	"errors"
	"fmt"
	"longhaul/api"
	"longhaul/api/callback"
	"longhaul/api/console"
	"longhaul/api/grpc"
	"longhaul/api/identity"
	"longhaul/api/mcp"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.uber.org/zap"
)

// stopWithin is how long calls in progress may continue at the stop.
const stopWithin = 10 * time.Second

// shutdown returns what stops a server.
func shutdown(s interface{ Shutdown(context.Context) error }) func() error {
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
		defer cancel()
		return s.Shutdown(ctx)
	}
}

// An httpServer serves over HTTP, with TLS if there are certificates.
type httpServer struct {
	stopper
	api   *apiServer
	pages *api.Server
}

func (s *httpServer) Start(context.Context) error {
	a, cfg := s.api, s.api.settings
	proxies, _ := cfg.proxies() // checkAuth has refused others
	s.pages = api.New(api.Config{
		Service: a.operations, Authenticate: a.authority.Authenticate, Challenge: a.authority.Challenge(), MaxBody: cfg.MaxBody, Proxies: proxies,
		TestSeams: cfg.TestSeams, Keys: keyReader(a.store.keys), LenientVersion: cfg.Lenient, Origins: cfg.Origins, Hosts: cfg.hosts(),
		Console: a.console(), Answers: a.notices.page(a.operations, a.store.journal.APIKeys, !cfg.NoConsole),
		Chat: a.notices.chatPage(a.operations, a.store.journal.APIKeys), Hooks: a.triggers.door(a.operations), MCP: a.mcp(),
		Callbacks: callback.New(a.operations.Calls, a.operations.Callbacks, a.store.callbacks.tokens), Tracing: a.host.traces.provider, Log: a.host.log,
	})
	a.planning.follow(func() { s.pages.SetSkills(a.agent.Skills()) })
	s.serve(a.listeners.http, a.listeners.files)
	return nil
}

// serve serves at l, with TLS unless files is nil.
func (s *httpServer) serve(l net.Listener, files *certificates) {
	server := s.pages.HTTP()
	serve := server.Serve
	if files != nil {
		server.TLSConfig = files.config("h2", "http/1.1")
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	go func() {
		if err := serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.api.host.fail(fmt.Errorf("serve at %s: %w", l.Addr(), err))
		}
	}()
	s.onStop(shutdown(server))
}

// A grpcServer serves over gRPC, too, if there is an address for it.
type grpcServer struct {
	stopper
	api *apiServer
}

func (s *grpcServer) Start(context.Context) error {
	a, l := s.api, s.api.listeners.grpc
	if l == nil {
		return nil
	}
	cfg := grpc.Config{
		Service: a.operations, Authenticate: a.authority.Authenticate, LenientVersion: a.settings.Lenient, MaxMessage: int(a.settings.MaxBody), Tracing: a.host.traces.provider,
	}
	if files := a.listeners.files; files != nil {
		cfg.TLS = files.config("h2")
	}
	server := grpc.New(cfg)
	a.host.log.Info("Serving A2A over gRPC", zap.Stringer("addr", l.Addr()))
	go func() {
		if err := server.Serve(l); err != nil {
			a.host.fail(fmt.Errorf("serve gRPC at %s: %w", l.Addr(), err))
		}
	}()
	s.onStop(shutdown(server))
	return nil
}

// mcp returns the door for hosts of models.
func (a *apiServer) mcp() api.Door {
	cfg := a.settings
	door := mcp.Config{
		Service: a.operations, Authenticate: a.authority.Authenticate, Challenge: a.authority.Challenge(),
		URL: strings.TrimSuffix(a.listeners.url, "/"), Issuer: cfg.OIDCIssuer, Wait: cfg.BlockingWait, MaxBody: cfg.MaxBody,
	}
	if !cfg.NoConsole {
		door.Objectives, door.Gates = console.ObjectivesPath, console.GatesPath
	}
	return mcp.New(door)
}

// console returns the pages for people, nil for none.
func (a *apiServer) console() api.Console {
	cfg := a.settings
	if cfg.NoConsole {
		return nil
	}
	base := strings.TrimSuffix(a.listeners.url, "/")
	pages := console.Config{
		Service: a.operations, Authenticate: a.authority.Authenticate, NoKeys: !cfg.accepts(authKeys), Secure: strings.HasPrefix(base, "https://"), Log: a.host.log.Named("console"),
	}
	sessions := &identity.Sessions{Store: a.store.journal.Sessions, Now: time.Now, Log: pages.Log}
	if who, ok := a.authority.(*identity.Authenticator); ok && cfg.OIDCClientID != "" {
		sessions.SignIn, pages.Provider = who.SignIn(cfg.providerClient(base), a.store.box), hostOf(cfg.OIDCIssuer)
		a.host.log.Info("People sign in to the console with the OpenID Connect provider, which has to know these URLs of the client",
			zap.String("redirect", base+console.CallbackPath), zap.String("signedOut", base+console.SignedOutPath))
	}
	if cfg.accepts(authKeys) || cfg.OIDCClientID != "" {
		pages.Sessions = sessions
	}
	return console.New(pages)
}

// providerClient returns this server as the provider knows it. base is its URL.
func (s authSettings) providerClient(base string) identity.Client {
	return identity.Client{
		ID: s.OIDCClientID, Secret: string(s.OIDCClientSecret), Scopes: s.OIDCClientScopes,
		RedirectURL: base + console.CallbackPath, SignedOutURL: base + console.SignedOutPath,
	}
}

// hostOf returns the host of a URL, which names its server to people.
func hostOf(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" {
		return rawURL
	}
	return u.Host
}
