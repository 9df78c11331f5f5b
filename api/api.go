// Package api serves A2A and the OPT extension over HTTP: JSON-RPC in versions 0.3
// and 1.0, plain HTTP in 1.0, event streams, agent cards and health.
//
// It has no handlers: those are methods of [service.Service]. A request takes one
// way. [Server.exchange] has the service authenticate the caller; the binding reads
// which operation is called; the operation reads its parameters, calls the service
// and writes the result; the binding puts that, or a fault, into its envelope.
// Only package api/wire knows that there are two protocol versions.
package api

import (
	"cmp"
	"net/http"
	"time"

	"go.uber.org/zap"

	"longhaul/api/service"
)

// A Config says what a Server is made of. A field is required unless its
// comment says what the zero value means.
type Config struct {
	Service *service.Service

	// Authenticate says who sends a request, going by the transport alone.
	// Any error refuses the request: with 403 if it wraps service.ErrForbidden,
	// with 503 if it wraps opt.ErrUnavailable, else with 401.
	Authenticate func(*http.Request) (service.Caller, error)
	Challenge    string // WWW-Authenticate of a 401; zero: Bearer

	// Origins are those of web pages that may call, as "https://app.example.com"
	// or "*"; nil for none.
	Origins []string
	// Hosts are the names that requests may be addressed to beside addresses, in
	// lower case; nil for any. Where callers are not authenticated, it keeps out
	// pages whose own name resolves to this server.
	Hosts []string
	// LenientVersion accepts A2A 1.0 method names without an A2A-Version header.
	// The specification calls such a request one of 0.3, which has no method by
	// that name.
	LenientVersion bool

	NoREST bool // serve JSON-RPC only, not plain HTTP too

	Heartbeat    time.Duration // between comments on an idle stream; zero: 15 s
	WriteTimeout time.Duration // of one answer, or one event of a stream; zero: 30 s
	ReadTimeout  time.Duration // of one request's body; zero: 60 s
	MaxBody      int64         // bytes of one request; zero: 16 MiB

	Log *zap.Logger      // nil discards logs
	Now func() time.Time // nil: time.Now
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
