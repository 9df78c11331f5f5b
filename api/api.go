package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"go.uber.org/zap"

	"longhaul/api/call"
	"longhaul/api/service"
	"longhaul/internal/tracing"
)

// A Config says what a Server is made of. A field is required unless its
// comment says what the zero value means.
type Config struct {
	Service *service.Service

	// Authenticate returns the caller of a request. It may not read the body. Any
	// error refuses the request: with 403 if it wraps call.ErrForbidden, with
	// 503 if it wraps opt.ErrUnavailable, else with 401.
	Authenticate func(*http.Request) (call.Caller, error)
	Challenge    string // WWW-Authenticate of a 401; zero: Bearer

	Proxies call.Proxies // in front of the server

	// Origins are the origins of web pages that may call, such as
	// "https://app.example.com" or "*"; nil for none.
	Origins []string
	// Hosts are the host names that requests may use, in lower case; nil for any.
	// IP addresses are always allowed. This refuses pages whose own host name resolves
	// to this server.
	Hosts []string
	// LenientVersion accepts A2A 1.0 method names without an A2A-Version header.
	// By the specification such a request is one of 0.3, which has no method with
	// that name.
	LenientVersion bool

	TestSeams bool // serve the seams for the OpenWOP conformance suite

	// Keys returns the public keys by which receivers verify deliveries, as a JSON
	// Web Key Set; nil for deliveries that are not signed.
	Keys func(ctx context.Context) ([]byte, error)

	Callbacks TokenPage // serves callback URLs below [CallbackPath]: POST; nil: there are none
	Answers   TokenPage // serves answer links below /answer/: GET, HEAD and POST; nil: there are none
	Chat      TokenPage // takes what people press at a chat platform, which the path names in place of a token: POST; nil: there are none
	Hooks     TokenPage // takes events for triggers, which the path names in place of a token: POST; nil: there are none

	Console Console // serves the pages below [ConsolePath]; nil: there are none
	MCP     Door    // serves [MCPPath] and its description for OAuth clients; nil: there is none

	Heartbeat    time.Duration // between comments on an idle stream; zero: 15 s
	WriteTimeout time.Duration // of one answer, or one event of a stream; zero: 30 s
	ReadTimeout  time.Duration // of one request's body; zero: 60 s
	MaxBody      int64         // bytes of one request; zero: 16 MiB

	Tracing *tracing.Provider // nil: no traces

	Log *zap.Logger      // nil discards logs
	Now func() time.Time // nil: time.Now
}

// A TokenPage serves a request for a URL that ends in a token, which is all that its
// sender has to prove.
type TokenPage interface {
	Serve(c *call.Call, w http.ResponseWriter, r *http.Request, token string)
}

// A Door serves all requests to its paths.
type Door interface {
	Serve(c *call.Call, w http.ResponseWriter, r *http.Request)
}

// A Console serves pages for people.
type Console interface {
	Serve(c *call.Call, w http.ResponseWriter, r *http.Request)
	// Rewrite turns a request by a page for the events of a task into the one that other
	// clients send to a path. An error means that the session of the page has ended, or
	// wraps opt.ErrUnavailable.
	Rewrite(r *http.Request, path string) (*http.Request, error)
}

func withDefaults(cfg Config) Config {
	cfg.Challenge = cmp.Or(cfg.Challenge, "Bearer")
	cfg.Heartbeat = cmp.Or(cfg.Heartbeat, 15*time.Second)
	cfg.WriteTimeout = cmp.Or(cfg.WriteTimeout, 30*time.Second)
	cfg.ReadTimeout = cmp.Or(cfg.ReadTimeout, 60*time.Second)
	cfg.MaxBody = cmp.Or(cfg.MaxBody, 16<<20)
	cfg.Log = cmp.Or(cfg.Log, zap.NewNop())
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return cfg
}
