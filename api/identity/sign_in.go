package identity

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/access"
)

// A Client is this server as the provider knows it: the client with which people sign
// in. A field is required unless its comment says what the zero value means.
type Client struct {
	ID           string
	Secret       string // "" for a public client
	RedirectURL  string // to which the provider sends browsers with a code
	SignedOutURL string // to which it sends them after they have signed out
	Scopes       []string
}

// A SignIn signs people in with the provider of the tokens that an Authenticator
// accepts, by the authorization code flow with PKCE. It is safe for concurrent use.
type SignIn struct {
	tokens *tokens
	client Client
	sealer Sealer
	http   *http.Client
}

// A Sealer encrypts what browsers keep. What Seal returns can be opened only with the same
// context, by every process that serves the pages.
type Sealer interface {
	Seal(plain []byte, context string) ([]byte, error)
	Open(sealed []byte, context string) ([]byte, error)
}

// SignIn returns the SignIn for the provider. The configuration of a has
// Tokens.
func (a *Authenticator) SignIn(c Client, s Sealer) *SignIn {
	return &SignIn{a.tokens, c, s, &http.Client{Timeout: providerTimeout, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a redirect would get the secret and the code
	}}}
}

const (
	scopeID      = "openid"
	scopeOffline = "offline_access" // gives a refresh token, at many providers
	renewBefore  = time.Minute      // of the end of a credential
)

// AttemptAge is how long people may take at the provider.
const AttemptAge = 15 * time.Minute

// An attempt to sign in with the provider. Its first texts are random, and known to the browser and
// the server alone. Only the browser keeps it, encrypted.
type attempt struct {
	State     string // ties the answer of the provider to this attempt
	Nonce     string // ties the ID token to this attempt
	Verifier  string // with which the code can be exchanged (PKCE)
	Next      string // the page that follows
	ExpiresAt a2a.Time
}

const attemptContext = "console sign-in"

// Begin returns the URL at which a browser signs in before it opens the page next, and what the browser
// keeps meanwhile. Its error wraps opt.ErrUnavailable if the provider does not answer.
func (s *SignIn) Begin(ctx context.Context, next string) (to, kept string, err error) {
	p, err := s.tokens.provider(ctx)
	if err != nil {
		return "", "", err
	}
	in := attempt{newSecret(), newSecret(), newSecret(), next, a2a.At(s.tokens.now().Add(AttemptAge))}
	plain, _ := json.Marshal(in) // texts and a time
	sealed, err := s.sealer.Seal(plain, attemptContext)
	if err != nil {
		return "", "", fmt.Errorf("seal an attempt to sign in: %w", err)
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(in.Nonce), oauth2.S256ChallengeOption(in.Verifier)}
	if s.tokens.Audience != s.client.ID {
		options = append(options, oauth2.SetAuthURLParam("audience", s.tokens.Audience)) // some providers make no access token for it otherwise
	}
	return s.oauth(p).AuthCodeURL(in.State, options...), base64.RawURLEncoding.EncodeToString(sealed), nil
}

// A ProviderError is an error that an OpenID Connect provider answered with.
type ProviderError struct {
	Code        string // of OAuth 2.0 or OpenID Connect, such as access_denied
	Description string // by the provider, for people; may be empty
}

func (e *ProviderError) Error() string {
	if e.Description == "" {
		return "the provider answered " + e.Code
	}
	return fmt.Sprintf("the provider answered %s: %s", e.Code, e.Description)
}

// ErrNotBegun says that an answer of the provider belongs to no attempt to sign in of the browser that has
// brought it, or comes too late.
var ErrNotBegun = errors.New("the sign-in was not begun here, or is over")

// Finish returns the session of a browser that has come back from the provider with an answer, and the page
// that follows. The session has no id yet, and no time of expiry. The error is ErrNotBegun or a
// [ProviderError], or wraps opt.ErrUnavailable; any other one means that the answer cannot be used.
func (s *SignIn) Finish(ctx context.Context, kept string, answer url.Values) (of access.Session, next string, err error) {
	in, ok := s.attempt(kept)
	switch {
	case !ok, subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(in.State)) != 1:
		return of, "", ErrNotBegun
	case answer.Get("error") != "":
		return of, in.Next, &ProviderError{Code: answer.Get("error"), Description: answer.Get("error_description")}
	}
	of, err = s.exchange(ctx, in, answer.Get("code"))
	return of, in.Next, err
}

// attempt returns the attempt that a browser has kept; ok is false if it is not valid.
func (s *SignIn) attempt(kept string) (in attempt, ok bool) {
	sealed, err := base64.RawURLEncoding.DecodeString(kept)
	if err != nil || len(sealed) == 0 {
		return in, false
	}
	plain, err := s.sealer.Open(sealed, attemptContext)
	if err != nil || json.Unmarshal(plain, &in) != nil {
		return attempt{}, false
	}
	return in, s.tokens.now().Before(in.ExpiresAt.Time())
}

// exchange exchanges the code of an attempt for a session.
func (s *SignIn) exchange(ctx context.Context, in attempt, code string) (access.Session, error) {
	p, err := s.tokens.provider(ctx)
	if err != nil {
		return access.Session{}, err
	}
	got, err := s.oauth(p).Exchange(s.context(ctx), code, oauth2.VerifierOption(in.Verifier))
	if err != nil {
		return access.Session{}, exchangeError("exchange the code", err)
	}
	id, _ := got.Extra("id_token").(string)
	token, _, err := s.tokens.verify(ctx, id, s.client.ID)
	switch {
	case err != nil:
		return access.Session{}, fmt.Errorf("the ID token: %w", err)
	case subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(in.Nonce)) != 1:
		return access.Session{}, errors.New("the ID token has the nonce of another attempt to sign in")
	case token.AccessTokenHash != "":
		if err := token.VerifyAccessToken(got.AccessToken); err != nil {
			return access.Session{}, err
		}
	}
	return s.session(ctx, access.Session{IDToken: id}, got)
}

// renew returns a session with a new credential, for which it uses the refresh token. The
// errors are as for Finish.
func (s *SignIn) renew(ctx context.Context, of access.Session) (access.Session, error) {
	p, err := s.tokens.provider(ctx)
	if err != nil {
		return of, err
	}
	got, err := s.oauth(p).TokenSource(s.context(ctx), &oauth2.Token{RefreshToken: of.Refresh}).Token()
	if err != nil {
		return of, exchangeError("renew a token", err)
	}
	next, err := s.session(ctx, of, got)
	if err == nil && !s.sameCaller(of.Credential, next.Credential) {
		err = errors.New("the renewed token names another caller")
	}
	if err != nil {
		return of, err
	}
	return next, nil
}

// end returns the URL at which the provider ends its own session, "" if there is none.
func (s *SignIn) end(ctx context.Context, of access.Session) string {
	p, err := s.tokens.provider(ctx)
	if err != nil || p.about.EndURL == "" {
		return ""
	}
	u, err := url.Parse(p.about.EndURL)
	if err != nil || u.Scheme != "https" && !isLocal(u) {
		return ""
	}
	q := u.Query()
	q.Set("client_id", s.client.ID)
	q.Set("post_logout_redirect_uri", s.client.SignedOutURL)
	if of.IDToken != "" {
		q.Set("id_token_hint", of.IDToken)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// isLocal reports whether a URL names a server on this machine.
func isLocal(u *url.URL) bool {
	return u.Scheme == "http" && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
}

// oauth returns the client for a provider.
func (s *SignIn) oauth(p *provider) *oauth2.Config {
	endpoint := p.endpoint
	endpoint.AuthStyle = oauth2.AuthStyleInHeader // of clients with a secret, unless the provider says otherwise
	if methods := p.about.SecretMethods; s.client.Secret == "" || len(methods) > 0 && !slices.Contains(methods, "client_secret_basic") {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	scopes := append([]string{scopeID}, s.client.Scopes...)
	if slices.Contains(p.about.Scopes, scopeOffline) {
		scopes = append(scopes, scopeOffline)
	}
	slices.Sort(scopes)
	return &oauth2.Config{ClientID: s.client.ID, ClientSecret: s.client.Secret, Endpoint: endpoint, RedirectURL: s.client.RedirectURL, Scopes: slices.Compact(scopes)}
}

// context returns the context of a request to the provider. The answer counts even if
// the browser has left: it ends the validity of the refresh token that was sent.
func (s *SignIn) context(ctx context.Context) context.Context {
	return oidc.ClientContext(context.WithoutCancel(ctx), s.http)
}

// session returns a session with the answer of the provider. Its credential is the
// access token if callers may use that, else the ID token.
func (s *SignIn) session(ctx context.Context, before access.Session, got *oauth2.Token) (access.Session, error) {
	next := before
	if id, _ := got.Extra("id_token").(string); id != "" {
		next.IDToken = id
	}
	if got.RefreshToken != "" {
		next.Refresh = got.RefreshToken
	}
	var reasons []error
	for _, candidate := range []struct{ name, text string }{{"access token", got.AccessToken}, {"ID token", next.IDToken}} {
		_, claims, err := s.tokens.verify(ctx, candidate.text, s.tokens.Audience)
		if err == nil {
			_, err = s.tokens.caller(claims)
		}
		switch {
		case err == nil:
			next.Credential = candidate.text
			s.setTimes(&next, claims.time("exp"))
			return next, nil
		case unavailable(err):
			return before, err
		}
		reasons = append(reasons, fmt.Errorf("the %s is not accepted: %w", candidate.name, err))
	}
	return before, errors.Join(reasons...)
}

// setTimes sets until when the credential of a session is valid, and when it is renewed.
func (s *SignIn) setTimes(of *access.Session, expires time.Time) {
	of.ValidUntil, of.RenewAt = a2a.At(expires), a2a.Time{}
	if of.Refresh == "" {
		return
	}
	left := expires.Sub(s.tokens.now())
	of.RenewAt = a2a.At(expires.Add(-min(renewBefore, left/2)))
}

// sameCaller reports whether two tokens of the provider, which were verified before, name
// the same caller.
func (s *SignIn) sameCaller(one, other string) bool {
	a, err := s.tokens.caller(unverified(one))
	b, wrong := s.tokens.caller(unverified(other))
	return err == nil && wrong == nil && a.Tenant == b.Tenant && a.Principal == b.Principal
}

// unverified returns the claims of a token, none if it has none.
func unverified(token string) (c claims) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(data, &c) != nil {
		return nil
	}
	return c
}

// exchangeError turns an error of an exchange with the provider into one of ours.
func exchangeError(doing string, err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case !ok:
		return fmt.Errorf("%w: %s: %w", opt.ErrUnavailable, doing, err)
	case refused.Response.StatusCode >= http.StatusInternalServerError, refused.Response.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("%w: %s: the provider answered %s", opt.ErrUnavailable, doing, refused.Response.Status)
	case refused.ErrorCode == "":
		return &ProviderError{Code: fmt.Sprintf("status %d", refused.Response.StatusCode)}
	}
	return &ProviderError{Code: refused.ErrorCode, Description: refused.ErrorDescription}
}
