package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/identity"
	"longhaul/api/quota"
	"longhaul/internal/process"
	"longhaul/opt"
	"longhaul/opt/access"
)

// The values of --auth.
const (
	authNone  = "none"
	authKeys  = "keys"
	authOIDC  = "oidc"
	authMTLS  = "mtls"
	authKinds = "none, or a list of keys, oidc and mtls"
)

// authSettings say who may call, and how callers prove who they are.
type authSettings struct {
	Auth        []string `help:"How callers prove who they are: none, or any of keys (see the command keys), oidc and mtls." default:"none" env:"LONGHAUL_AUTH" placeholder:"KIND" common:""`
	AllowAnyone bool     `help:"With --auth none: allow unauthenticated access on a non-loopback address." env:"LONGHAUL_ALLOW_ANYONE"`

	OIDCIssuer          string `name:"oidc-issuer" help:"URL of the OpenID Connect provider whose tokens are accepted." env:"LONGHAUL_OIDC_ISSUER" placeholder:"URL"`
	OIDCAudience        string `name:"oidc-audience" help:"Audience that tokens must be for." env:"LONGHAUL_OIDC_AUDIENCE"`
	OIDCTenantClaim     string `name:"oidc-tenant-claim" help:"Claim with the tenant; tokens without it are refused. Empty: all callers are in the tenant of --oidc-tenant." env:"LONGHAUL_OIDC_TENANT_CLAIM" placeholder:"CLAIM"`
	OIDCTenant          string `name:"oidc-tenant" help:"Tenant of callers with a token, without --oidc-tenant-claim." default:"default" env:"LONGHAUL_OIDC_TENANT"`
	OIDCPrincipalClaim  string `name:"oidc-principal-claim" help:"Claim with the principal." default:"sub" env:"LONGHAUL_OIDC_PRINCIPAL_CLAIM" placeholder:"CLAIM"`
	OIDCPrincipalPrefix string `name:"oidc-principal-prefix" help:"Put before the principal of a token, so that no token can name the principal of an API key or a certificate." default:"oidc:" env:"LONGHAUL_OIDC_PRINCIPAL_PREFIX" placeholder:"TEXT"`
	OIDCGroupsClaim     string `name:"oidc-groups-claim" help:"Claim with the groups." default:"groups" env:"LONGHAUL_OIDC_GROUPS_CLAIM" placeholder:"CLAIM"`
	OIDCScopesClaim     string `name:"oidc-scopes-claim" help:"Claim with the scopes." default:"scope" env:"LONGHAUL_OIDC_SCOPES_CLAIM" placeholder:"CLAIM"`

	OIDCClientID     string         `name:"oidc-client-id" help:"Id of this server as a client of the OpenID Connect provider, so that people can sign in to the console there. Without it they cannot." env:"LONGHAUL_OIDC_CLIENT_ID" placeholder:"ID"`
	OIDCClientSecret process.Secret `name:"oidc-client-secret" help:"Secret of --oidc-client-id; empty for a public client." env:"LONGHAUL_OIDC_CLIENT_SECRET" placeholder:"SECRET"`
	OIDCClientScopes []string       `name:"oidc-client-scopes" help:"Scopes to ask the provider for when people sign in, beside openid and, if the provider has it, offline_access." env:"LONGHAUL_OIDC_CLIENT_SCOPES" placeholder:"SCOPE"`

	TLSCert      string   `name:"tls-cert" help:"File with the certificate of the server and its chain (PEM), for HTTP and gRPC. It is read again when it changes." env:"LONGHAUL_TLS_CERT" placeholder:"FILE"`
	TLSKey       string   `name:"tls-key" help:"File with the key of --tls-cert (PEM)." env:"LONGHAUL_TLS_KEY" placeholder:"FILE"`
	ClientCA     string   `name:"client-ca" help:"File with the authorities of client certificates (PEM), for --auth mtls." env:"LONGHAUL_CLIENT_CA" placeholder:"FILE"`
	ClientTenant string   `help:"Tenant of callers with a certificate." default:"default" env:"LONGHAUL_CLIENT_TENANT"`
	ClientPrefix string   `name:"client-principal-prefix" help:"Put before the principal of a certificate, so that no certificate can name the principal of an API key or a token." default:"cert:" env:"LONGHAUL_CLIENT_PRINCIPAL_PREFIX" placeholder:"TEXT"`
	ClientScopes []string `help:"Scopes of callers with a certificate." default:"all" env:"LONGHAUL_CLIENT_SCOPES" placeholder:"SCOPE"`

	TrustedProxies []string `help:"Networks of reverse proxies, such as 10.0.0.0/8, whose X-Forwarded-For names the client. Too many wrong credentials are then counted by client." env:"LONGHAUL_TRUSTED_PROXIES" placeholder:"CIDR"`

	RateLimit  float64 `help:"Calls per second of one authenticated caller; 0 for no limit." default:"100" env:"LONGHAUL_RATE_LIMIT"`
	RateBurst  int     `help:"Calls of one caller at once, above --rate-limit." default:"200" env:"LONGHAUL_RATE_BURST"`
	MaxCalls   int     `help:"Calls of one authenticated caller in progress, not counting streams; 0 for no limit." default:"100" env:"LONGHAUL_MAX_CALLS"`
	MaxStreams int     `help:"Open streams of one authenticated caller; 0 for no limit." default:"100" env:"LONGHAUL_MAX_STREAMS"`

	PrivateSkills bool `help:"Show the skills only to callers who are authenticated, on the extended card." env:"LONGHAUL_PRIVATE_SKILLS"`
}

// authenticates reports whether callers have to prove who they are.
func (s authSettings) authenticates() bool {
	return len(s.Auth) > 0 && !slices.Contains(s.Auth, authNone)
}

func (s authSettings) accepts(kind string) bool { return slices.Contains(s.Auth, kind) }

// A conflict is one of settings, if bad is set.
type conflict struct {
	bad  bool
	text string
}

// checkAuth refuses settings that contradict each other.
func (s authSettings) checkAuth() error {
	var wrong []error
	for _, kind := range s.Auth {
		if !slices.Contains([]string{authNone, authKeys, authOIDC, authMTLS}, kind) {
			wrong = append(wrong, process.Usagef("--auth %q is not one of the kinds: use %s", kind, authKinds))
		}
	}
	for _, c := range slices.Concat(s.callerConflicts(), s.oidcConflicts(), s.tlsConflicts()) {
		if c.bad {
			wrong = append(wrong, process.Usagef("%s", c.text))
		}
	}
	if _, err := s.proxies(); err != nil {
		wrong = append(wrong, process.Usagef("--trusted-proxies: %v", err))
	}
	if _, err := call.ParseScopes(s.ClientScopes); err != nil {
		wrong = append(wrong, process.Usagef("--client-scopes: %v", err))
	}
	return errors.Join(wrong...)
}

func (s authSettings) callerConflicts() []conflict {
	return []conflict{
		{s.accepts(authNone) && len(s.Auth) > 1, "--auth none excludes the other kinds: use " + authKinds},
		{s.AllowAnyone && s.authenticates(), fmt.Sprintf("--allow-anyone contradicts --auth %s: remove one of them", strings.Join(s.Auth, ","))},
		{s.PrivateSkills && !s.authenticates(), "--private-skills needs callers who are authenticated: set --auth to a list of keys, oidc and mtls"},
		{min(s.RateLimit, float64(min(s.RateBurst, s.MaxCalls, s.MaxStreams))) < 0, "--rate-limit, --rate-burst, --max-calls and --max-streams must be above 0, or 0 for no limit"},
	}
}

func (s authSettings) oidcConflicts() []conflict {
	issuer, oidc, client := s.OIDCIssuer, s.accepts(authOIDC), s.OIDCClientID != ""
	return []conflict{
		{oidc && (issuer == "" || s.OIDCAudience == ""), "--auth oidc needs --oidc-issuer and --oidc-audience"},
		{issuer != "" && !oidc, "--oidc-issuer has no effect: add oidc to --auth"},
		{issuer != "" && !secureIssuer(issuer), fmt.Sprintf("--oidc-issuer %q is not an https URL", issuer)},
		{client && !oidc, "--oidc-client-id has no effect: add oidc to --auth"},
		{!client && (s.OIDCClientSecret != "" || len(s.OIDCClientScopes) > 0), "--oidc-client-secret and --oidc-client-scopes have no effect without --oidc-client-id"},
	}
}

func (s authSettings) tlsConflicts() []conflict {
	mtls := s.accepts(authMTLS)
	return []conflict{
		{(s.TLSCert == "") != (s.TLSKey == ""), "--tls-cert and --tls-key belong together: set both or none"},
		{mtls && (s.TLSCert == "" || s.ClientCA == ""), "--auth mtls needs --tls-cert, --tls-key and --client-ca"},
		{s.ClientCA != "" && !mtls, "--client-ca has no effect: add mtls to --auth"},
	}
}

// proxies returns the networks of trusted proxies.
func (s authSettings) proxies() (all call.Proxies, err error) {
	for _, text := range s.TrustedProxies {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a network, such as 10.0.0.0/8", text)
		}
		all = append(all, p)
	}
	return all, nil
}

// secureIssuer reports whether the answers of a provider cannot be forged on the
// way: it has an https URL, or is on this machine.
func secureIssuer(issuer string) bool {
	u, err := url.Parse(issuer)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && process.IsLocal(net.JoinHostPort(u.Hostname(), "0")))
}

// checkListen refuses an address outside loopback where callers are not authenticated,
// unless --allow-anyone is set.
func (s authSettings) checkListen(flag, addr string) error {
	_, _, err := net.SplitHostPort(addr)
	if err != nil {
		return process.Usagef("%s %q is not an address, such as 127.0.0.1:7420", flag, addr)
	}
	if !s.authenticates() && !s.AllowAnyone && !process.IsLocal(addr) {
		return process.Usagef("%s %q can be reached from other machines without authentication: "+
			"use 127.0.0.1, or have callers authenticated (the command keys create, then --auth keys), or --allow-anyone if the network is protected", flag, addr)
	}
	return nil
}

// An authority authenticates callers.
type authority interface {
	Authenticate(r *http.Request) (call.Caller, error)
	Challenge() string // WWW-Authenticate of a refusal
	Describe(card *card.Info)
}

// authority returns the authority that the settings ask for. keys reads the API keys in the
// journal.
func (s authSettings) authority(keys identity.KeyReader) authority {
	if !s.authenticates() {
		return anonymousAuthority{}
	}
	var cfg identity.Config
	if s.accepts(authKeys) {
		cfg.Keys = keys
	}
	if s.accepts(authOIDC) {
		cfg.Tokens = &identity.Tokens{
			Issuer: s.OIDCIssuer, Audience: s.OIDCAudience, TenantClaim: s.OIDCTenantClaim, Tenant: s.OIDCTenant,
			PrincipalClaim: s.OIDCPrincipalClaim, PrincipalPrefix: s.OIDCPrincipalPrefix, GroupsClaim: s.OIDCGroupsClaim, ScopesClaim: s.OIDCScopesClaim,
		}
	}
	if s.accepts(authMTLS) {
		scopes, _ := call.ParseScopes(s.ClientScopes) // checkAuth has refused others
		cfg.Certificates = &identity.Certificates{Tenant: s.ClientTenant, Scopes: scopes, Prefix: s.ClientPrefix}
	}
	cfg.Proxies, _ = s.proxies() // checkAuth has refused others
	return identity.New(cfg)
}

// anonymousAuthority accepts every request as the same caller. It is for servers that only
// this machine, or a protected network, can reach.
type anonymousAuthority struct{}

func (anonymousAuthority) Authenticate(*http.Request) (call.Caller, error) {
	return call.Caller{Tenant: opt.DefaultTenant, Principal: opt.Anonymous, Scopes: call.Scopes(), Anonymous: true}, nil
}

func (anonymousAuthority) Challenge() string { return "" }

func (anonymousAuthority) Describe(*card.Info) {}

// warn logs a warning for each setting with which anyone, or no one, can call.
func (s apiSettings) warn(log *zap.Logger, keys keyLister) {
	s.warnAuth(log)
	s.warnCard(log)
	s.warnNoKeys(log, keys)
}

// A keyLister lists all API keys.
type keyLister interface {
	APIKeys(ctx context.Context) ([]access.APIKey, error)
}

// warnAuth logs a warning for each setting with which anyone can call.
func (s apiSettings) warnAuth(log *zap.Logger) {
	exposed := !process.IsLocal(s.Addr) || s.GRPCAddr != "" && !process.IsLocal(s.GRPCAddr)
	switch at := zap.String("addr", cmp.Or(s.Addr, s.GRPCAddr)); {
	case exposed && !s.authenticates():
		log.Warn("ANYONE WHO CAN REACH THIS ADDRESS MAY READ, START AND CANCEL ALL WORK: set --auth unless the network is protected", at)
	case exposed && s.TLSCert == "":
		log.Warn("Credentials and content cross the network unencrypted: set --tls-cert and --tls-key, unless a proxy in front does TLS", at)
	}
}

// warnCard logs a warning if the agent card has an address that means every interface: clients
// on other machines cannot use it.
func (s apiSettings) warnCard(log *zap.Logger) {
	if s.PublicURL != "" {
		return
	}
	if allInterfaces(s.Addr) {
		log.Warn("The agent card has no URL that clients on other machines can use: set --public-url", zap.String("addr", s.Addr))
	}
	if s.GRPCAddr != "" && s.PublicGRPCAddr == "" && allInterfaces(s.GRPCAddr) {
		log.Warn("The agent card has no address of gRPC that clients on other machines can use: set --public-grpc-addr", zap.String("addr", s.GRPCAddr))
	}
}

// allInterfaces reports whether addr means all interfaces of the machine.
func allInterfaces(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return err == nil && (host == "" || ip != nil && ip.IsUnspecified())
}

// quota returns the limits of authenticated callers.
func (s authSettings) quota() call.Quota {
	return quota.New(quota.Config{Rate: s.RateLimit, Burst: s.RateBurst, Calls: s.MaxCalls, Streams: s.MaxStreams})
}

// scheme returns the scheme of the URL at which the server is reached directly.
func (s authSettings) scheme() string {
	if s.TLSCert != "" {
		return "https"
	}
	return "http"
}

// warnNoKeys warns if no call can succeed yet: there is no valid API key, and no other
// credential is accepted.
func (s authSettings) warnNoKeys(log *zap.Logger, keys keyLister) {
	if !s.accepts(authKeys) || len(s.Auth) > 1 {
		return
	}
	list, err := keys.APIKeys(context.Background())
	now := a2a.At(time.Now())
	if err == nil && !slices.ContainsFunc(list, func(k access.APIKey) bool { return k.Valid(now) }) {
		log.Warn("No caller is admitted yet: there is no valid API key in the journal. Create one with the command keys create")
	}
}

// extendedCard returns the content of the card for authenticated callers: that of the
// card, with all skills. It is nil without authentication.
func (s authSettings) extendedCard(info card.Info) *card.Info {
	if !s.authenticates() {
		return nil
	}
	info.Skills = nil // those of the card, also after they have changed
	return &info
}
