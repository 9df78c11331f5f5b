package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/operation"
	"longhaul/api/service"
	"longhaul/api/wire"
)

// Path is where the door is; metadataPath is the path of its description for OAuth clients (RFC 9728).
const (
	Path         = "/mcp"
	metadataPath = "/.well-known/oauth-protected-resource" + Path
)

type object = map[string]any

// A Config has the parts and settings of a Door.
type Config struct {
	Service      *service.Service
	Authenticate func(*http.Request) (call.Caller, error)
	Challenge    string        // WWW-Authenticate of a 401
	URL          string        // of this server, without a slash at the end
	Objectives   string        // path of objectives in the console, before an id; "" without a console
	Gates        string        // likewise of gates
	Issuer       string        // URL of the OpenID Connect provider whose tokens callers may have; "" for none
	Wait         time.Duration // that a call waits for the work
	MaxBody      int64         // bytes of one request
}

// A Door serves MCP. It is safe for concurrent use.
type Door struct {
	cfg        Config
	operations *operation.Table
	handler    http.Handler
	required   []string // extensions that calls must name
}

// New returns a door.
func New(cfg Config) *Door {
	d := &Door{cfg: cfg, operations: operation.Of(cfg.Service)}
	for _, x := range cfg.Service.Cards.Card().Capabilities.Extensions {
		if x.Required {
			d.required = append(d.required, x.URI)
		}
	}
	d.handler = sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		s, _ := r.Context().Value(serverKey{}).(*sdk.Server)
		return s
	}, &sdk.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: cfg.MaxBody,
		DisableLocalhostProtection: true, // the server has checked the host and the origin
	})
	return d
}

type serverKey struct{}

// A visit is one request to the door.
type visit struct {
	*Door
	requestID    string
	authenticate func() (call.Caller, error)
}

// Serve serves a request to [Path], or any other for the description for OAuth clients.
func (d *Door) Serve(c *call.Call, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if r.URL.Path != Path {
		d.serveMetadata(w)
		return
	}
	c.Binding, c.Method = "mcp", "mcp"
	v := &visit{d, c.RequestID, func() (call.Caller, error) { return d.cfg.Authenticate(r) }}
	var skills []card.Skill
	fault := d.cfg.Service.Serve(c, call.Steps{
		Authenticate: v.authenticate,
		Read:         func() (call.Right, error) { return operation.Right("GetExtendedAgentCard"), nil }, // any scope
		Handle:       func() error { skills = d.cfg.Service.Cards.Skills(c); return nil },
	})
	if fault != nil {
		d.refuse(w, fault)
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(2*d.cfg.Wait + time.Minute)) // the recorder of a test has none
	d.handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), serverKey{}, v.server(skills))))
}

// refuse answers a request of a caller who may not call at all.
func (d *Door) refuse(w http.ResponseWriter, f *call.Fault) {
	status, _ := wire.Status(f)
	if f.Kind == call.Unauthenticated {
		challenge := d.cfg.Challenge
		if d.cfg.Issuer != "" {
			challenge += `, resource_metadata="` + d.cfg.URL + metadataPath + `"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
	}
	if f.Retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((f.Retry+time.Second-1)/time.Second)))
	}
	write(w, status, wire.Flat(f, status))
}

// serveMetadata tells OAuth clients where they get tokens.
func (d *Door) serveMetadata(w http.ResponseWriter) {
	if d.cfg.Issuer == "" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Access-Control-Allow-Origin", "*") // it is for everyone
	write(w, http.StatusOK, object{
		"resource": d.cfg.URL + Path, "authorization_servers": []string{d.cfg.Issuer}, "bearer_methods_supported": []string{"header"}, "scopes_supported": call.Scopes(),
	})
}

func write(w http.ResponseWriter, status int, value any) {
	body, _ := wire.Marshal(value) // texts alone
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only if the client has disconnected
}

// run calls an operation as the caller of the request, with params as A2A 1.0 has them.
func (v *visit) run(ctx context.Context, id string, params any) (result any, err error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	o, s := v.operations.ByID(id), v.cfg.Service
	c := s.NewCall(v.requestID)
	c.Binding, c.Method, c.OfOPT = "mcp", o.ID, o.Family == operation.OPT
	c.Rules, c.Named = wire.Rules(wire.V10), v.required
	fault := s.Serve(c, call.Steps{
		Authenticate: v.authenticate,
		Read:         func() (call.Right, error) { return o.Right(), nil },
		Handle: func() (err error) {
			result, err = o.Run(ctx, s, c, wire.NewReader(wire.V10, raw))
			return err
		},
	})
	s.Log(c)
	if fault != nil {
		return nil, fault
	}
	return result, nil
}
