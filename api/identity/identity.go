// Package identity finds out who calls: from an API key, from a token of an
// OpenID Connect provider, or from the certificate of a TLS client. Identity comes
// from the transport alone, never from the content of a request.
//
// [Authenticator.Authenticate] serves all bindings. A refusal does not say why:
// an unknown, a wrong, a revoked and an expired credential give the same answer.
// [Sessions] keeps browsers signed in, with credentials that [SignIn] gets and renews.
package identity

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"longhaul/api/call"
	"longhaul/api/card"
)

// A Config says which credentials an Authenticator accepts. At least one of Keys,
// Tokens and Certificates is set.
type Config struct {
	Keys         KeyReader     // nil: no API keys
	Tokens       *Tokens       // nil: no tokens
	Certificates *Certificates // nil: no client certificates
	Proxies      call.Proxies
	Now          func() time.Time // nil: time.Now
}

// How long an accepted credential is not checked again. A revocation takes effect
// after that.
const (
	trustKey   = 2 * time.Second
	trustToken = 10 * time.Second
)

const recentMost = 10_000 // accepted credentials that are remembered

// An Authenticator authenticates callers. It is safe for concurrent use.
type Authenticator struct {
	keys         *keys
	tokens       *tokens
	certificates *Certificates
	now          func() time.Time
	recent       *lru.Cache[[sha256.Size]byte, accepted] // by the digest of the credential
	wrong        *wrongCredentials
	proxies      call.Proxies
}

// accepted is a caller whose credential was checked.
type accepted struct {
	caller call.Caller
	until  time.Time // when it has to be checked again
}

// New returns an authenticator.
func New(cfg Config) *Authenticator {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	recent, _ := lru.New[[sha256.Size]byte, accepted](recentMost) // fails only for a size below 1
	a := &Authenticator{certificates: cfg.Certificates, now: cfg.Now, recent: recent, wrong: newWrongCredentials(cfg.Now), proxies: cfg.Proxies}
	if cfg.Keys != nil {
		a.keys = &keys{cfg.Keys, cfg.Now}
	}
	if cfg.Tokens != nil {
		a.tokens = newTokens(*cfg.Tokens, cfg.Now)
	}
	return a
}

// Reasons for the log. Callers see none of them.
var (
	errNone   = errors.New("no credentials")
	errMany   = errors.New("more than one credential")
	errScheme = errors.New("credentials of a kind that is not accepted")
)

// Authenticate returns the caller of a request. The error wraps
// opt.ErrUnavailable if the credential cannot be checked now. It is a
// [call.Fault] if the credential is wrong like too many others from the same address.
// A credential in a header takes precedence over a certificate.
func (a *Authenticator) Authenticate(r *http.Request) (call.Caller, error) {
	text, err := credential(r.Header)
	switch {
	case err != nil:
		return call.Caller{}, err
	case text == "":
		return a.certificates.caller(r.TLS, a.now())
	}
	digest := sha256.Sum256([]byte(text))
	known, before := a.recent.Get(digest)
	if before && a.now().Before(known.until) {
		return known.caller, nil
	}
	from := a.proxies.Client(r)
	many := !before && a.wrong.tooMany(from)
	if many {
		done, err := a.wrong.queue(r.Context())
		if err != nil {
			return call.Caller{}, err
		}
		defer done()
	}
	found, err := a.check(r.Context(), text)
	switch {
	case err == nil:
		a.recent.Add(digest, found)
	case !unavailable(err):
		a.recent.Remove(digest)
		a.wrong.note(from)
		if many {
			err = call.TooMany(time.Second)
		}
	}
	return found.caller, err
}

// check returns the caller with a credential.
func (a *Authenticator) check(ctx context.Context, text string) (accepted, error) {
	switch isKey := strings.HasPrefix(text, keyPrefix); {
	case isKey && a.keys != nil:
		return a.keys.check(ctx, text)
	case !isKey && a.tokens != nil:
		return a.tokens.check(ctx, text)
	}
	return accepted{}, errScheme
}

// credential returns the credential in a header, "" for none.
func credential(h http.Header) (string, error) {
	auth, keys := h.Values("Authorization"), h.Values(keyHeader)
	switch {
	case len(auth)+len(keys) == 0:
		return "", nil
	case len(auth)+len(keys) > 1:
		return "", errMany
	case len(keys) == 1 && strings.HasPrefix(keys[0], keyPrefix):
		return keys[0], nil
	case len(keys) == 1:
		return "", errScheme
	}
	scheme, text, _ := strings.Cut(auth[0], " ")
	text = strings.TrimSpace(text)
	if !strings.EqualFold(scheme, "Bearer") || text == "" {
		return "", errScheme
	}
	return text, nil
}

// Challenge returns the WWW-Authenticate header of a refusal.
func (a *Authenticator) Challenge() string {
	if a.keys == nil && a.tokens == nil {
		return `Certificate realm="longhaul"`
	}
	return `Bearer realm="longhaul"`
}

// Describe puts the accepted credentials on a card: any one of them is enough.
func (a *Authenticator) Describe(info *card.Info) {
	info.Schemes, info.Requirements = map[string]card.SecurityScheme{}, nil
	add := func(name string, s card.SecurityScheme) {
		info.Schemes[name] = s
		info.Requirements = append(info.Requirements, map[string][]string{name: nil})
	}
	if a.keys != nil {
		add("bearer", card.SecurityScheme{Type: "http", Scheme: "Bearer", Description: "An API key, as a bearer token"})
		add("key", card.SecurityScheme{Type: "apiKey", In: "header", Name: keyHeader, Description: "An API key"})
	}
	if a.tokens != nil {
		add("oidc", card.SecurityScheme{Type: "openIdConnect", OpenIDConnectURL: a.tokens.discoveryURL(),
			Description: fmt.Sprintf("A token for the audience %q, as a bearer token", a.tokens.Audience)})
	}
	if a.certificates != nil {
		add("certificate", card.SecurityScheme{Type: "mutualTLS", Description: "A certificate of a TLS client"})
	}
}
