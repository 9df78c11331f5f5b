package identity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/time/rate"

	"longhaul/api/call"
	"longhaul/opt"
)

// Tokens says which tokens of an OpenID Connect provider are accepted, and which
// of their claims say who the caller is. A field is required unless its comment
// says what the zero value means.
type Tokens struct {
	Issuer, Audience string
	TenantClaim      string // "" puts all callers into Tenant; with a claim, tokens without it are refused
	Tenant           string // used only without TenantClaim
	PrincipalClaim   string
	PrincipalPrefix  string // before the claim, so that no token can name the principal of another credential
	GroupsClaim      string // a list, or one name; "" for none
	ScopesClaim      string // a list, or names with spaces between; names that are not scopes are ignored
}

const (
	clockSkew       = time.Minute
	providerTimeout = 5 * time.Second
	discoverEvery   = 2 * time.Second  // after a failure
	keysFor         = 10 * time.Minute // after which the provider's keys are read again, so that one it has withdrawn is not accepted
	keysRetry       = time.Minute      // after that has failed
	refreshEvery    = 2 * time.Second  // of the provider's keys, which any unknown key causes
	refreshAtOnce   = 5
)

// algorithms are the accepted ones. Keys of the provider are public, so algorithms with a
// shared secret are not among them. Tokens without a signature are refused.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA,
}

// tokens checks tokens. The provider is asked for its addresses when they are
// first needed, and again after a failure; for its keys when a token is signed
// with an unknown one, and now and then.
type tokens struct {
	Tokens
	now  func() time.Time
	http *http.Client

	mu     sync.Mutex
	known  *provider // nil until the provider has answered
	failed time.Time // the last request that failed
	err    error
}

// A provider is the description that a provider publishes of itself, and its keys.
type provider struct {
	keys     oidc.KeySet
	endpoint oauth2.Endpoint
	about    discovered
}

// discovered are further members of the document for discovery.
type discovered struct {
	KeysURL       string   `json:"jwks_uri"`
	EndURL        string   `json:"end_session_endpoint"`
	Scopes        []string `json:"scopes_supported"`
	SecretMethods []string `json:"token_endpoint_auth_methods_supported"`
}

// newTokens returns the check of tokens. The provider is named by the operator and may be in a
// private network, so requests to it do not go through internal/egress.
func newTokens(cfg Tokens, now func() time.Time) *tokens {
	transport := &providerTransport{refresh: rate.NewLimiter(rate.Every(refreshEvery), refreshAtOnce)}
	return &tokens{Tokens: cfg, now: now, http: &http.Client{Timeout: providerTimeout, Transport: transport}}
}

func (t *tokens) discoveryURL() string {
	return strings.TrimSuffix(t.Issuer, "/") + "/.well-known/openid-configuration"
}

// check returns the caller with a token.
func (t *tokens) check(ctx context.Context, text string) (accepted, error) {
	_, claims, err := t.verify(ctx, text, t.Audience)
	if err != nil {
		return accepted{}, err
	}
	caller, err := t.caller(claims)
	until := t.now().Add(trustToken)
	if expires := claims.time("exp").Add(clockSkew); expires.Before(until) {
		until = expires
	}
	return accepted{caller, until}, err
}

// verify returns a token of the provider for an audience, and its claims.
func (t *tokens) verify(ctx context.Context, text, audience string) (*oidc.IDToken, claims, error) {
	p, err := t.provider(ctx)
	if err != nil {
		return nil, nil, err
	}
	noted := &notedKeys{KeySet: p.keys}
	token, err := oidc.NewVerifier(t.Issuer, noted, &oidc.Config{
		ClientID: audience, SupportedSigningAlgs: algorithms,
		SkipExpiryCheck: true, // times are checked below, all with the same skew
	}).Verify(ctx, text)
	switch {
	case noted.err != nil:
		return nil, nil, fmt.Errorf("%w: get the keys of the provider: %w", opt.ErrUnavailable, noted.err)
	case err != nil:
		return nil, nil, err
	}
	var claims claims
	if err := token.Claims(&claims); err != nil {
		return nil, nil, fmt.Errorf("read the claims: %w", err)
	}
	return token, claims, claims.checkTimes(t.now())
}

// caller returns the caller that claims name.
func (t *tokens) caller(c claims) (call.Caller, error) {
	caller := call.Caller{
		Tenant: t.Tenant, Principal: prefixed(t.PrincipalPrefix, c.text(t.PrincipalClaim)), Groups: c.list(t.GroupsClaim), Scopes: knownScopes(c.names(t.ScopesClaim)),
	}
	if t.TenantClaim != "" {
		caller.Tenant = c.text(t.TenantClaim)
	}
	return withValidNames(caller)
}

// provider returns the provider. Its error wraps opt.ErrUnavailable.
func (t *tokens) provider(ctx context.Context) (*provider, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known != nil {
		return t.known, nil
	}
	if t.err != nil && t.now().Sub(t.failed) < discoverEvery {
		return nil, t.err
	}
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), t.http) // the answer is also for other calls
	var about discovered
	p, err := oidc.NewProvider(ctx, t.Issuer)
	if err == nil {
		err = p.Claims(&about)
	}
	if err == nil && about.KeysURL == "" {
		err = errors.New("it names no jwks_uri")
	}
	if err != nil {
		t.failed, t.err = t.now(), fmt.Errorf("%w: discover the OpenID Connect provider %s: %w", opt.ErrUnavailable, t.Issuer, err)
		return nil, t.err
	}
	read := func() oidc.KeySet {
		return oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), t.http), about.KeysURL)
	}
	keys := &currentKeys{read: read, now: t.now, keys: read(), due: t.now().Add(keysFor)}
	t.known, t.err = &provider{keys, p.Endpoint(), about}, nil
	return t.known, nil
}

// currentKeys are the provider's keys. They are read again now and then: a key set
// of the library keeps its keys until a token names another one. While that fails,
// those from before hold.
type currentKeys struct {
	read func() oidc.KeySet // returns a key set that knows no keys yet
	now  func() time.Time

	mu   sync.Mutex
	keys oidc.KeySet
	due  time.Time // when they are to be read again
}

// VerifySignature implements [oidc.KeySet].
func (k *currentKeys) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	keys, isDue := k.current()
	if !isDue {
		return keys.VerifySignature(ctx, token)
	}
	renewed := k.read()
	payload, err := renewed.VerifySignature(ctx, token)
	if failed := new(url.Error); errors.As(err, &failed) {
		return keys.VerifySignature(ctx, token)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys, k.due = renewed, k.now().Add(keysFor)
	return payload, err
}

// current returns the keys. isDue is set for one caller each time that they are to be read
// again.
func (k *currentKeys) current() (keys oidc.KeySet, isDue bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if now.Before(k.due) {
		return k.keys, false
	}
	k.due = now.Add(keysRetry)
	return k.keys, true
}

// notedKeys notes the error of getting the keys, which the verifier does not
// return in a form that can be recognized.
type notedKeys struct {
	oidc.KeySet
	err error // nil if the keys could be read
}

func (k *notedKeys) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := k.KeySet.VerifySignature(ctx, token)
	var failed *url.Error
	if errors.As(err, &failed) && !errors.Is(err, errFresh) {
		k.err = err
	}
	return payload, err
}

// errFresh says that the keys were read so recently that another key is no new
// one.
var errFresh = errors.New("the keys were read a moment ago")

// providerTransport gets documents of the provider. It makes every status but 200
// an error, and limits how often they are read: anyone can send tokens with unknown
// keys.
type providerTransport struct {
	refresh *rate.Limiter

	mu   sync.Mutex
	last error // of the latest attempt
}

func (t *providerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.refresh.Allow() {
		return nil, cmp.Or(t.last, errFresh)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		res, err = nil, fmt.Errorf("the provider answered %s", res.Status)
	}
	t.last = err
	return res, err
}
